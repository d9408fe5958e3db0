//! The MCP server as other people's programs find it: the official conformance suite against a server of fixture tools,
//! and real clients against the real program, over HTTP and over a pipe, in both eras of the protocol.
//!
//! `make test-deps` installs those programs. Without them the tests are skipped, and say so. Start reading at `suite`
//! for the first, at `clients` for the second.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this binary is a test, and so is what its tests share"
)]

mod agents;
mod clients;
mod driver;
mod fixture;
mod inspector;
mod stage;
mod suite;

use std::path::{Path, PathBuf};

/// Where `make test-deps` puts what comes from npm.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp")
}

/// The Node.js that those need.
fn node() -> PathBuf {
    programs().join("node_modules/.bin/node")
}

/// The Python that has the official client.
fn python() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-python/bin/python")
}

/// Whether all of it is there: the list of what is installed is written last.
fn has_node() -> bool {
    programs().join("installed").is_file()
}

fn has_python() -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-python/installed").is_file()
}
