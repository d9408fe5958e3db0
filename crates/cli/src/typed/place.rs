//! Where each command does its work: at the server that was named, or on this machine whatever was named. It reads
//! nothing and asks nobody; a command that is not told apart here does not compile.

#[cfg(test)]
mod tests;

use super::{Command, Config, Policy, mcp, tool};

/// Where a command works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the server, where one was named.
    Server,
    /// On this machine only: a server that was typed is refused, one in the environment is noted.
    Here,
    /// On this machine only, and nobody would think otherwise: a server in the environment is not worth a word.
    HereOfCourse,
    /// On this machine only: it refuses a server by itself, also one in the environment.
    HereOrNot,
}

/// Where this command works, and what it is called.
pub(crate) fn place(command: &Command) -> (Place, &'static str) {
    match command {
        Command::Serve(_) => (Place::HereOrNot, "serve"),
        Command::Mcp(mcp::Mcp { command: None, .. }) => (Place::HereOrNot, "mcp"),
        Command::Own(_) => (Place::HereOrNot, "own"),
        Command::Secret(_) => (Place::HereOrNot, "secret"),
        Command::Jsrun(_) => (Place::Here, "jsrun"),
        Command::Doctor(_) => (Place::Here, "doctor"),
        Command::Probe(_) => (Place::Here, "probe"),
        Command::Policy(Policy::Show(_)) => (Place::Here, "policy show"),
        Command::Policy(Policy::Explain(_)) => (Place::Here, "policy explain"),
        Command::Policy(Policy::Diff(_)) => (Place::Here, "policy diff"),
        Command::Policy(Policy::Learn(_)) => (Place::Here, "policy learn"),
        Command::Config(Config::Show(_)) => (Place::Here, "config show"),
        Command::Trust(_) => (Place::Here, "trust"),
        Command::Mcp(mcp::Mcp { command: Some(mcp::McpCommand::Config(_)), .. }) => {
            (Place::Here, "mcp config")
        }
        Command::Mcp(mcp::Mcp { command: Some(mcp::McpCommand::Install(_)), .. }) => {
            (Place::Here, "mcp install")
        }
        Command::Tool(tool::Tool::New(_)) => (Place::HereOfCourse, "tool new"),
        Command::Completions(_) => (Place::HereOfCourse, "completions"),
        Command::Man(_) => (Place::HereOfCourse, "man"),
        Command::Run(_) => (Place::Server, "run"),
        Command::Exec(_) => (Place::Server, "exec"),
        Command::Sandbox(_) => (Place::Server, "sandbox"),
        Command::Image(_) => (Place::Server, "image"),
        Command::Tool(_) => (Place::Server, "tool"),
        Command::Approvals(_) => (Place::Server, "approvals"),
        Command::Key(_) => (Place::Server, "key"),
        Command::Audit(_) => (Place::Server, "audit"),
        Command::Limits(_) => (Place::Server, "limits"),
    }
}
