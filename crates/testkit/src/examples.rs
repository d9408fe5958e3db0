//! Documents whose examples are run: every `console` block of a Markdown file, in order, on one machine.
//!
//! In such a block a line that begins with `$ ` is a command for the shell; the lines up to the next command are
//! what it must print (stdout, then stderr). A fenced block with a name behind its language (` ```yaml o.yaml `) is
//! put into the working folder first.

use std::path::Path;

use crate::Program;

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
    let mut stage = Program::new("/bin/sh");
    if let Some(folder) = program.parent() {
        stage = stage.with_variable("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    for block in blocks(document) {
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
    wrong
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
