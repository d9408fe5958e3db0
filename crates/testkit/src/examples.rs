//! Documents whose examples are run: every `console` block of a Markdown file, in order, on one machine.
//!
//! In such a block a line that begins with `$ ` is a command for the shell; the lines up to the next command are
//! what it must print (stdout, then stderr). A fenced block with a name behind its language (` ```yaml o.yaml `) is
//! put into the working folder first.
//!
//! The command of a block ` ```console background ` runs beside those that follow, to the end of the document; its lines
//! are waited for, wherever in its output they come. Where it serves, it does so on a port of its own: the documents'
//! address is replaced in what is run and in what is expected.

use std::path::Path;

use crate::{Program, Running};

/// Where a server listens in the documents.
const ADDRESS: &str = "127.0.0.1:8282";
/// What stands behind `console` where a command runs beside the others.
const BACKGROUND: &str = "background";

/// One example: the line it stands on, the command, and what it must print.
struct Example {
    line: usize,
    command: String,
    expected: String,
}

/// Runs every example of a document; gives what was wrong, one text per example.
///
/// # Panics
/// When the document has no example: then it is not worth listing.
pub fn run_examples(program: &Path, document: &str) -> Vec<String> {
    let address = free_address();
    let document = &document.replace(ADDRESS, &address);
    let mut stage = Program::new("/bin/sh");
    if document.contains(&format!("console {BACKGROUND}")) {
        stage = stage.with_variable("BAILIWICK_SERVER_LISTEN", &address);
    }
    let mut beside: Vec<Running> = Vec::new();
    if let Some(folder) = program.parent() {
        stage = stage.with_variable("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    for block in blocks(document) {
        if block.language == "console" && block.file == Some(BACKGROUND) {
            beside.extend(examples(&block).iter().map(|example| started(&stage, example)));
            count += 1;
            continue;
        }
        if let Some(name) = block.file {
            stage = stage.with_file(name, &format!("{}\n", block.lines.join("\n")));
        }
        if block.language != "console" {
            continue;
        }
        for Example { line, command, expected } in examples(&block) {
            count += 1;
            let run = stage.run(&["-c", &command]);
            let printed = format!("{}{}", run.stdout, run.stderr);
            if printed.trim_end() != expected.trim_end() {
                wrong.push(format!(
                    "line {line}: $ {command}\n--- expected\n{expected}\n--- printed\n{printed}"
                ));
            }
        }
    }
    assert!(count > 0, "the document has no example");
    for running in beside {
        running.terminate();
        let (code, text) = running.end();
        if code != Some(0) {
            wrong.push(format!("what ran beside the others ended with {code:?}:\n{text}"));
        }
    }
    wrong
}

/// Starts a command that goes on, and waits for the lines that it must print.
fn started(stage: &Program, example: &Example) -> Running {
    // In place of the shell, so that a signal reaches it.
    let running = stage.start(&["-c", &format!("exec {}", example.command)]);
    for line in example.expected.lines().filter(|line| !line.trim().is_empty()) {
        running.wait_for(line.trim_end());
    }
    running
}

/// An address of this machine that nobody listens on.
#[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
#[expect(
    clippy::disallowed_types,
    reason = "asks the system for a port that is free; nothing is served or dialled"
)]
fn free_address() -> String {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").to_string()
}

struct Block<'a> {
    language: &'a str,
    file: Option<&'a str>,
    first_line: usize,
    lines: Vec<&'a str>,
}

fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (index, line) in document.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                let mut words = info.split_whitespace();
                let language = words.next().unwrap_or("");
                open = Some(Block { language, file: words.next(), first_line: index + 2, lines: Vec::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    blocks
}

fn examples(block: &Block<'_>) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for (index, line) in block.lines.iter().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            let line = block.first_line + index;
            examples.push(Example { line, command: command.to_owned(), expected: String::new() });
        } else if let Some(example) = examples.last_mut() {
            example.expected.push_str(line);
            example.expected.push('\n');
        }
    }
    examples
}
