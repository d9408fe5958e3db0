//! `bailiwick mcp`: agents that speak MCP, and how they find us.
//!
//! A client is told to start this program, or to ask a server of ours. A key never gets into its file: the client is
//! told where to find one.

mod clients;
mod config;
mod edit;
mod install;
mod json;
mod pipe;
mod snippet;
mod toml;
mod wanted;

use crate::failure::Failure;
use crate::render::Screen;
use crate::resolved::Session;
use crate::typed::Global;
use crate::typed::mcp::{Mcp, McpCommand};

pub(crate) use edit::EditError;

/// `bailiwick mcp …`
pub(crate) fn mcp(
    screen: &mut Screen,
    session: &Session,
    global: &Global,
    what: &Mcp,
) -> Result<u8, Failure> {
    match &what.command {
        None => pipe::pipe(screen, session, &what.cells),
        Some(McpCommand::Config(what)) => config::config(screen, session, global, what),
        Some(McpCommand::Install(what)) => install::install(screen, session, global, what),
    }
}
