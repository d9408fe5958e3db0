//! Run code of AI agents behind walls.
