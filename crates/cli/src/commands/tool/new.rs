//! `bailiwick tool new`: a first version of a tool that passes as it is, so that there is something to change.

mod draft;
mod param;
mod questions;

use std::path::{Path, PathBuf};

use bailiwick_config::files::{self, Readers};
use bailiwick_tool::{Syntax, Tool};
use bailiwick_types::ToolName;
use serde_json::json;

use crate::commands::secret::terminal;
use crate::failure::Failure;
use crate::render::{Screen, good, plain, strong};
use crate::typed::tool::{New, Written};
use draft::Draft;
use param::Param;

/// `bailiwick tool new NAME`
pub(crate) fn new(screen: &mut Screen, what: &New) -> Result<u8, Failure> {
    let asks = terminal::is_there() && !what.yes && !screen.wants_json();
    let name = match &what.name {
        Some(name) => ToolName::parse(name)?,
        None if asks => questions::name(screen)?,
        None => {
            return Err(Failure::Argument {
                message: "the tool has no name".to_owned(),
                hint: "name it: bailiwick tool new NAME".to_owned(),
            });
        }
    };
    let (path, written) = place(&name, what)?;
    // Before a person answers questions for nothing.
    if path.exists() && !what.force {
        return Err(Failure::Argument {
            message: format!("{} is there already", path.display()),
            hint: "name another file with --file, or write over it with --force".to_owned(),
        });
    }
    let params = what.params.iter().map(|typed| Param::parse(typed)).collect::<Result<_, _>>()?;
    let mut draft = Draft {
        name,
        title: what.title.clone(),
        description: what.description.clone(),
        category: what.category.clone(),
        params,
        hosts: what.net.clone(),
        read: what.read,
        write: what.write,
        command: what.command,
    };
    if asks {
        questions::ask(screen, &mut draft)?;
    }
    let text = draft.write(written);
    // What was typed may be no name of a variable, no category, no host: told before anything is written.
    let syntax = match written {
        Written::Js => Syntax::JavaScript,
        Written::Ts => Syntax::TypeScript,
        Written::Yaml => Syntax::Yaml,
    };
    Tool::read(&path.display().to_string(), &text, syntax)?;
    if what.force {
        files::replace(&path, &text, Readers::Everybody)?;
    } else {
        files::create(&path, &text, Readers::Everybody)?;
    }
    tell(screen, &draft, &path);
    Ok(0)
}

/// Where it is written, and in what: as it was said, by the name of the file, or as YAML.
fn place(name: &ToolName, what: &New) -> Result<(PathBuf, Written), Failure> {
    let by_name = what.file.as_deref().map(|path| match path.extension().and_then(|end| end.to_str()) {
        Some("js" | "mjs") => Ok(Written::Js),
        Some("ts" | "mts") => Ok(Written::Ts),
        Some("yaml" | "yml" | "json") => Ok(Written::Yaml),
        _ => Err(Failure::Argument {
            message: format!("{} does not say what it is written in", path.display()),
            hint: "name it *.tool.yaml, *.js or *.ts".to_owned(),
        }),
    });
    let by_name = by_name.transpose()?;
    let written = match (what.language, by_name) {
        (Some(language), Some(by_name)) if language != by_name => {
            return Err(Failure::Argument {
                message: "--language and the name of --file say different things".to_owned(),
                hint: "leave out --language".to_owned(),
            });
        }
        (language, by_name) => language.or(by_name).unwrap_or(Written::Yaml),
    };
    if what.command && written != Written::Yaml {
        return Err(Failure::Argument {
            message: "a command tool is written in YAML: it has no code that its fields could stand in"
                .to_owned(),
            hint: "name the file *.tool.yaml".to_owned(),
        });
    }
    let end = match written {
        Written::Js => "js",
        Written::Ts => "ts",
        Written::Yaml => "tool.yaml",
    };
    Ok((what.file.clone().unwrap_or_else(|| format!("{name}.{end}").into()), written))
}

fn tell(screen: &mut Screen, draft: &Draft, path: &Path) {
    let file = path.display().to_string();
    if screen.wants_json() {
        screen.json(&json!({"file": file, "name": draft.name.as_str()}));
        return;
    }
    screen.line(&[good("wrote "), strong(&file)]);
    let steps = [
        ("check it", format!("bailiwick tool check {file}")),
        ("test it", format!("bailiwick tool test {file}")),
        ("publish it", format!("bailiwick tool publish {file}")),
        ("call it", format!("bailiwick tool call {}{}", draft.name, draft.typed_arguments())),
    ];
    for (step, command) in &steps {
        screen.field(step, &[plain(command)]);
    }
}
