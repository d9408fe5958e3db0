//! How an agent ends, as exit codes: whoever started it can tell a host that went away from a mistake.

/// The host closed the socket.
pub const CLOSED: u8 = 0;
/// The host sent what is no message, or used a number twice, or more than the credit it had.
pub const BROKEN: u8 = 71;
/// The agent could not be set up, or cannot wait any more.
pub const OUR_FAULT: u8 = 70;
