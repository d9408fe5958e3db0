//! `xtask gen`: the documents that are made from the tables in the code and in `specs`, so that they cannot disagree.

use std::ffi::OsString;
use std::fmt::Write as _;

use bailiwick_config::{DEFAULT_FILE, KEYS, Narrowing, Used, files};
use bailiwick_policy::reference;
use bailiwick_tool::reference as tool_reference;

use crate::{Fault, Verdict, disk, output};

mod backends;
mod limits;

/// A generated document: where it goes, and what makes it.
struct Document {
    path: &'static str,
    make: fn() -> Result<String, Fault>,
}

const DOCUMENTS: &[Document] = &[
    Document { path: "docs/policy-reference.md", make: || Ok(policy_reference()) },
    Document { path: "docs/configuration.md", make: || Ok(configuration()) },
    Document { path: "docs/tool-reference.md", make: || Ok(tools()) },
    Document { path: "docs/backends.md", make: backends::page },
    Document { path: "docs/limits.md", make: limits::page },
];

/// Writes every document, or with `--check` says which are not current.
pub(crate) fn run(arguments: &[OsString]) -> Result<Verdict, Fault> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(Fault::Usage { complaint: "gen takes only --check".to_owned() }),
    };
    let mut lines = Vec::new();
    for Document { path, make } in DOCUMENTS {
        let whole = disk::own_workspace().join(path);
        let wanted = make()?;
        if files::read_config(&whole)?.as_deref() == Some(wanted.as_str()) {
            continue;
        }
        if check {
            lines.push(format!("{path}: not current; run `make gen`"));
        } else {
            files::replace(&whole, &wanted, files::Readers::Everybody)?;
            lines.push(format!("{path}: written"));
        }
    }
    let stale = check && !lines.is_empty();
    lines.push(format!("gen: {} documents", DOCUMENTS.len()));
    output::lines(lines).map_err(Fault::Print)?;
    Ok(if stale { Verdict::Findings } else { Verdict::Clean })
}

const NOTICE: &str = "<!-- Made by `make gen` from the tables in the code. Edit those. -->\n";

fn policy_reference() -> String {
    format!(
        "{NOTICE}# Policy reference\n\nEvery table here is the one the program decides by. The guide is in \
         [policy.md](policy.md).\n{}",
        reference::markdown()
    )
}

fn tools() -> String {
    format!(
        "{NOTICE}# Tool reference\n\nA tool is one document: `*.tool.yaml`, `*.tool.json`, or a file of code \
         (`.js`, `.mjs`, `.ts`, `.mts`) with the same fields in YAML, in a block comment at its top whose first and last \
         words are `---`:\n\n```js\n/*---\nname: add\ndescription: Adds two numbers.\nparams: [{{name: a, type: NUMBER}}, \
         {{name: b, type: NUMBER}}]\n---*/\nreturn a + b;\n```\n\nA `#!` line may stand before it, and each of its lines \
         may begin with `*`. Every table here is held to the reader by tests.\n{}",
        tool_reference::markdown()
    )
}

fn configuration() -> String {
    let mut page = format!(
        "{NOTICE}# Configuration\n\nThe operator's file is `~/.config/bailiwick/bailiwick.toml`, or \
         `/etc/bailiwick/bailiwick.toml` for every user of a machine, or the file after `--config`. The later wins: \
         built-in, `/etc`, `~/.config`, `./bailiwick.toml`, `BAILIWICK_*`, `--set`. `bailiwick config show --origin` \
         says where each value came from; an unknown key is an error.\n\nA `./bailiwick.toml` in the working folder \
         comes from whoever wrote the folder, so it may only narrow (last column) until `bailiwick trust \
         ./bailiwick.toml` recorded its hash. Lists in variables and flags are separated by commas.\n\n## Keys\n\n\
         | key | meaning | variable | a folder's file may |\n| --- | --- | --- | --- |\n"
    );
    for key in KEYS.iter() {
        let narrowing = match key.narrowing {
            Narrowing::Fixed => "not change it",
            Narrowing::Smaller => "make it smaller or stricter",
            Narrowing::Fewer => "name fewer",
            Narrowing::More => "add to it",
        };
        let waits = match key.used {
            Used::Now => String::new(),
            Used::WaitsFor(part) => format!(" (no effect before {part} exists)"),
        };
        let _ =
            writeln!(page, "| `{}` | {}{waits} | `{}` | {narrowing} |", key.path, key.doc, key.variable());
    }
    let _ = write!(
        page,
        "| `profiles.NAME` | a named layer: the keys of an overrides block, `limits`, `extends` | | not change it |\n\n\
         ## The shipped file\n\n```toml\n{DEFAULT_FILE}```\n"
    );
    page
}
