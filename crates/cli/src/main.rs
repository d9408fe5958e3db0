//! The `bailiwick` program: what was typed → resolved settings → a job → something to look at.
//!
//! Two stages, as in [`typed`] (what was typed, nothing more) and [`resolved`] (settings read, documents parsed,
//! ready to run). Logic lives in the crates below; this one only turns words into their types and results into
//! text. Everything a person sees is written by [`render`].

mod commands;
mod documents;
mod failure;
mod render;
mod resolved;
mod typed;

use std::process::ExitCode;

use clap::Parser;

use failure::Failure;
use render::Screen;
use resolved::Session;
use typed::Typed;

fn main() -> ExitCode {
    let typed = match Typed::try_parse() {
        Ok(typed) => typed,
        Err(usage) => return render::usage(&usage),
    };
    let mut screen = Screen::new(typed.global.json, typed.global.quiet);
    let code = run(&mut screen, typed).unwrap_or_else(|failure| screen.failure(&failure));
    screen.finish(code)
}

fn run(screen: &mut Screen, typed: Typed) -> Result<u8, Failure> {
    let Typed { global, command } = typed;
    // These need no settings, and must work when the settings are broken.
    match command {
        typed::Command::Completions(what) => return commands::generated::completions(screen, &what),
        typed::Command::Man(what) => return commands::generated::man(screen, &what),
        _ => {}
    }
    let session = Session::open(&global, &command)?;
    session.notes(screen);
    match command {
        typed::Command::Policy(typed::Policy::Show(what)) => commands::policy::show(screen, &session, &what),
        typed::Command::Policy(typed::Policy::Explain(what)) => {
            commands::policy::explain(screen, &session, &what)
        }
        typed::Command::Policy(typed::Policy::Diff(what)) => commands::policy::diff(screen, &session, &what),
        typed::Command::Config(typed::Config::Show(what)) => commands::config::show(screen, &session, &what),
        typed::Command::Limits(what) => commands::limits::limits(screen, &session, &what),
        typed::Command::Trust(what) => commands::trust::trust(screen, &session, &what),
        typed::Command::Completions(_) | typed::Command::Man(_) => Ok(0),
    }
}
