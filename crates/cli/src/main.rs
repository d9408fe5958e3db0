//! The `bailiwick` program: what was typed → resolved settings → a job → something to look at.
//!
//! Two stages, as in [`typed`] (what was typed, nothing more) and [`resolved`] (settings read, documents parsed,
//! ready to run). Logic lives in the crates below; this one only turns words into their types and results into
//! text. Everything a person sees is written by [`render`].

mod backends;
mod cells;
mod commands;
mod desk;
mod documents;
mod failure;
mod listeners;
mod logging;
mod offers;
mod outside;
mod places;
mod render;
mod resolved;
mod targets;
mod typed;

use std::process::ExitCode;

use clap::Parser;

use failure::Failure;
use render::Screen;
use resolved::Session;
use typed::{Command, Config, Policy, Typed};

/// In a cell, memory that cannot be had has an exit code of its own.
#[global_allocator]
static MEMORY: bailiwick::Telling = bailiwick::Telling;

fn main() -> ExitCode {
    bailiwick::enter();
    bailiwick_backends::enter();
    let typed = match Typed::try_parse() {
        Ok(typed) => typed,
        Err(usage) => return render::usage(&usage),
    };
    let mut screen = Screen::new(typed.global.json, typed.global.quiet);
    let code = run(&mut screen, &typed).unwrap_or_else(|failure| screen.failure(&failure));
    screen.finish(code)
}

fn run(screen: &mut Screen, typed: &Typed) -> Result<u8, Failure> {
    resolved::here(screen, &typed.global, &typed.command)?;
    let session = |screen: &mut Screen| -> Result<Session, Failure> {
        let session = Session::open(&typed.global, &typed.command)?;
        session.notes(screen);
        Ok(session)
    };
    match &typed.command {
        // These need no settings, and must work when the settings are broken.
        Command::Completions(what) => commands::generated::completions(screen, what),
        Command::Man(what) => commands::generated::man(screen, what),
        Command::Jsrun(what) => commands::jsrun::jsrun(screen, what),
        Command::Probe(what) => commands::probe::probe(screen, what),
        Command::Doctor(what) => {
            let session = Session::open(&typed.global, &typed.command);
            if let Err(failure) = &session {
                screen.note(&format!(
                    "the settings cannot be read, so the shipped ones are looked at: {failure}"
                ));
            }
            commands::doctor::doctor(screen, session.as_ref().ok(), what)
        }
        Command::Run(what) => {
            let session = session(screen)?;
            commands::run::run(screen, &session, what)
        }
        Command::Exec(what) => {
            let session = session(screen)?;
            Ok(commands::exec::exec(screen, &session, what))
        }
        Command::Sandbox(what) => {
            let session = session(screen)?;
            commands::sandbox::sandbox(screen, &session, what)
        }
        Command::Image(what) => {
            let session = session(screen)?;
            commands::image::image(screen, &session, what)
        }
        Command::Config(Config::Show(what)) if what.defaults => commands::config::defaults(screen),
        Command::Config(Config::Show(what)) => {
            let session = session(screen)?;
            commands::config::show(screen, &session, what)
        }
        Command::Policy(Policy::Show(what)) => {
            let session = session(screen)?;
            commands::policy::show(screen, &session, what)
        }
        Command::Policy(Policy::Explain(what)) => {
            let session = session(screen)?;
            commands::policy::explain(screen, &session, what)
        }
        Command::Policy(Policy::Diff(what)) => {
            let session = session(screen)?;
            commands::policy::diff(screen, &session, what)
        }
        Command::Policy(Policy::Learn(what)) => {
            let session = session(screen)?;
            commands::learn::learn(screen, &session, what)
        }
        Command::Tool(what) => {
            let session = session(screen)?;
            commands::tool::tool(screen, &session, what)
        }
        Command::Audit(what) => {
            let session = session(screen)?;
            commands::audit::audit(screen, &session, what)
        }
        Command::Serve(what) => {
            let session = session(screen)?;
            commands::serve::serve(screen, &session, what)
        }
        Command::Mcp(what) => {
            let session = session(screen)?;
            commands::mcp::mcp(screen, &session, &typed.global, what)
        }
        Command::Approvals(what) => {
            let session = session(screen)?;
            commands::approvals::approvals(screen, &session, what)
        }
        Command::Key(what) => {
            let session = session(screen)?;
            commands::key::key(screen, &session, what)
        }
        Command::Own(what) => {
            let session = session(screen)?;
            commands::own::own(screen, &session, what)
        }
        Command::Limits(what) => {
            let session = session(screen)?;
            commands::limits::limits(screen, &session, what)
        }
        Command::Secret(what) => {
            let session = session(screen)?;
            commands::secret::secret(screen, &session, what)
        }
        Command::Trust(what) => {
            let session = session(screen)?;
            commands::trust::trust(screen, &session, what)
        }
    }
}
