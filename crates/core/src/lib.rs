//! What can be done, as one closed enum, and the one pipeline behind every caller.
//!
//! No HTTP, no MCP, no flags.
