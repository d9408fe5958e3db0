//! Everything a guest does to the world is done here: requests behind the guard, files beneath held folders, sealed
//! secrets put in where their owner said.
//!
//! Each effect takes a `Checked` value that only the policy's decision makes, so skipping the check does not compile.
//! This crate must never run a guest's code, never decide by itself what policy should decide, and never hand a
//! guest more than the answer: no descriptor, no host path, no secret.
//!
//! Start reading at [`net`] (fetch), [`files`] (`safety.fs`), [`egress`] (the way out of command sandboxes) and
//! [`person`] (who is asked).

pub mod egress;
pub mod files;
pub mod net;
pub mod person;
