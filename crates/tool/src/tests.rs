//! Tests of the tool's document, by concern.

mod canonical;
mod command_words;
mod commands;
mod content;
mod expectations;
mod front_matter;
mod hashes;
mod input;
mod lifecycle;
mod reading;
mod reference;
mod round_trip;
mod schema;
mod spring;
mod texts;

use bailiwick_document::Problems;

use crate::{Read, Syntax, Tool};

/// The document of the specification, with every field that it shows.
const STARS: &str = r#"name: repo_stars
description: Star count of a GitHub repository.
category: WEB
params:
  - {name: repo, type: STRING, required: true, description: "owner/name", testValue: "rust-lang/rust"}
output: {type: object, required: [stars], properties: {stars: {type: integer}}}
statics:
  - {name: token, value: "${GITHUB_TOKEN}", sealed: {hosts: ["api.github.com"], in: "header:Authorization"}}
entry: body
overrides: {network: allowlist, hosts: ["api.github.com"]}
limits: {wall: 10s}
approval: {mode: AUTO}
tests:
  - name: counts stars
    input: {repo: "a/b"}
    http: [{request: {method: GET, url: "https://api.github.com/repos/a/b"}, response: {status: 200, json: {stargazers_count: 7}}}]
    equals: {stars: 7}
code: |
  const r = await fetch(`https://api.github.com/repos/${repo}`, {headers: {authorization: token}});
  return {stars: (await r.json()).stargazers_count};
"#;

fn read(text: &str) -> Result<Read, Problems> {
    Tool::read("a.tool.yaml", text, Syntax::Yaml)
}

#[track_caller]
fn tool(text: &str) -> Tool {
    match read(text) {
        Ok(read) => read.tool,
        Err(problems) => panic!("{problems}\nin\n{text}"),
    }
}
