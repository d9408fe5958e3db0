//! Every hand-written `unsafe` block and system call.
