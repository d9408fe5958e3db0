//! The backend `process`: our own jail around commands, without a daemon and, where user namespaces are allowed, without root.
