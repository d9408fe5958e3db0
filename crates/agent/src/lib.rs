//! The first process of a sandbox: it starts commands, carries their streams, keeps files and reaps what ended.
//!
//! It lives inside the wall, with no more rights than the guest beside it. It decides nothing, and nobody outside believes
//! it: a host bounds and checks whatever it says. It must never panic on what a guest does, nor wait for one of them while
//! another is ready.
