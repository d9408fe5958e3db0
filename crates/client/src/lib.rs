//! Asks a running server for actions, over HTTP: the same actions and the same replies as at the desk of a data folder.
