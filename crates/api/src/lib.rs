//! The shapes of the HTTP interface: what a request holds and what an answer holds, with their schemas.
//!
//! Apart from what is behind it: an inner type may change, a shape here only gains fields. Each shape is made from the
//! inner type and back by one conversion, so that the server and whoever asks it agree by construction. It must never
//! decide anything.
