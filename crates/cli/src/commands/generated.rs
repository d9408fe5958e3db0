//! Completions and manual pages, generated from the same definition that parses the command line.

use clap::CommandFactory as _;

use bailiwick_config::files;

use crate::failure::Failure;
use crate::render::{Screen, plain};
use crate::typed::{Completions, Man, Typed};

/// `bailiwick completions SHELL`
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn completions(screen: &mut Screen, what: &Completions) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(what.shell, &mut Typed::command(), "bailiwick", &mut script);
    screen.raw(&String::from_utf8_lossy(&script));
    Ok(0)
}

/// `bailiwick man`
pub(crate) fn man(screen: &mut Screen, what: &Man) -> Result<u8, Failure> {
    let mut root = Typed::command();
    root.build();
    let Some(folder) = &what.out else {
        screen.raw(&page(root)?);
        return Ok(0);
    };
    // A stack of commands instead of recursion.
    let mut open = vec![root];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|sub| sub.get_name() != "help").cloned());
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let path = folder.join(format!("{name}.1"));
        files::replace(&path, &page(command)?, files::Readers::Everybody)?;
        screen.line(&[plain(&path.display().to_string())]);
    }
    Ok(0)
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(Failure::Manual)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
