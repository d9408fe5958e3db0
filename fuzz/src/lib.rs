//! Functions over hostile bytes that must neither panic nor take more than their bounds.
//!
//! Each is run by `cargo fuzz run NAME --features libfuzzer` for as long as one likes, and for a bounded number of
//! inputs by the tests of this crate, on the ordinary compiler.

use std::sync::{Arc, LazyLock};

use bailiwick_document::{Bounds, Format, parse};
use bailiwick_gateway::egress::{EgressBuilder, Hello, read_hello};
use bailiwick_gateway::net::Net;
use bailiwick_parser::csv::{Header, ReadOptions, WriteOptions};
use bailiwick_parser::html::TableRows;
use bailiwick_parser::{csv, html, xml, yaml};
use bailiwick_policy::ToolPolicy;
use bailiwick_sandbox::{Egress as _, Outlet, SandboxSpec};
use bailiwick_scan::{Context, Kind, MAX_FINDINGS, scan_with, shadowing};
use bailiwick_tool::{InputCheck, Syntax, Tool};
use bailiwick_wire::{Decoder, FromCell, FromNursery, ToCell, ToNursery, decode, encode};

/// The reader's bound in [`wire_frames`].
const BOUND: usize = 4096;

/// A stream as a hostile cell might send it, cut into pieces by its own first byte; and packets of a nursery.
///
/// # Panics
/// When a message that was read does not read the same again: then two readers would see two messages.
pub fn wire_frames(bytes: &[u8]) {
    let step = bytes.first().map_or(1, |first| usize::from(*first) + 1);
    let mut decoder = Decoder::new(BOUND);
    'stream: for piece in bytes.chunks(step) {
        decoder.push(piece);
        loop {
            match decoder.take::<FromCell>() {
                Ok(Some(message)) => {
                    let again = encode(&message).ok().and_then(|frame| decode(frame.get(4..)?).ok());
                    assert_eq!(again.as_ref(), Some(&message), "it reads as something else");
                }
                Ok(None) => break,
                Err(_) => break 'stream,
            }
        }
    }
    let _ = decode::<FromNursery>(bytes);
    let _ = decode::<ToNursery>(bytes);
    let _ = decode::<ToCell>(bytes);
}

/// A document about policy, in each of its formats.
pub fn policy_documents(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for format in [Format::Yaml, Format::Toml] {
        if let Ok(tree) = parse("fuzz", text, format, Bounds::WRITTEN_BY_HAND) {
            let _ = ToolPolicy::read("fuzz", &tree);
        }
    }
}

/// A tool's document in each of its syntaxes.
///
/// # Panics
/// When a tool that was read is another one after it was written and read again: then a pass could be for one tool, and
/// the call of another.
pub fn tool_documents(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for syntax in [Syntax::Yaml, Syntax::Json, Syntax::JavaScript] {
        let Ok(read) = Tool::read("fuzz", text, syntax) else { continue };
        let tool = read.tool;
        let yaml = Tool::read("fuzz", &tool.to_yaml(), Syntax::Yaml).map(|read| read.tool);
        let json = Tool::read("fuzz", &tool.to_json().to_string(), Syntax::Json).map(|read| read.tool);
        for again in [yaml, json, Tool::from_json(&tool.to_json())] {
            let hashes = again.as_ref().map(|again| (again.covered_hash(), again.texts_hash()));
            assert_eq!(hashes, Ok((tool.covered_hash(), tool.texts_hash())), "the hashes are others");
            assert_eq!(again.as_ref(), Ok(&tool), "it reads as something else");
        }
        for test in tool.tests() {
            let _ = InputCheck::new(&tool).check(test.input.clone());
        }
        let _ = (tool.definition(), tool.model_texts(), tool.trial());
    }
}

/// What guests may have parsed. The first line is a selector, the rest a text in all four formats.
///
/// # Panics
/// When rows that were read are not the same after they were written and read again.
pub fn parsers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (selector, rest) = text.split_once('\n').unwrap_or(("p", &text));
    let _ = html::select(rest, selector, Some(9));
    let _ = html::text(rest, Some(selector));
    let _ = html::tables(rest, None, TableRows::Objects);
    let _ = html::main(rest);
    let _ = html::links(rest, Some("http://h/"));
    let _ = xml::parse(rest);
    if let Ok(data) = yaml::parse_all(rest) {
        let _ = yaml::stringify(&data);
    }
    let lists = ReadOptions { header: Header::None, ..ReadOptions::default() };
    if let Ok(rows) = csv::parse(rest, &lists) {
        let again =
            csv::stringify(&rows, &WriteOptions::default()).and_then(|text| csv::parse(&text, &lists));
        assert_eq!(again, Ok(rows), "the rows read as something else");
    }
}

/// A text that a model will read, as each kind of text; its first line is also another server's tool.
///
/// # Panics
/// When a finding does not stand where it says, or when there are too many.
pub fn scan_texts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let name = text.lines().next().unwrap_or_default();
    for kind in [Kind::Name, Kind::Description, Kind::Result] {
        let findings = scan_with(&text, &Context { kind, other_tools: &[name], other_servers: &["server"] });
        assert!(findings.len() <= MAX_FINDINGS + 1, "too many");
        for finding in findings {
            let end = finding.offset + finding.matched.len();
            assert_eq!(text.get(finding.offset..end), Some(finding.matched.as_str()), "it stands elsewhere");
        }
    }
    let _ = shadowing(name, &[&text]);
}

/// A way out of a sandbox that may reach one name and what is below another.
static OUTLET: LazyLock<Option<Arc<dyn Outlet>>> = LazyLock::new(|| {
    let net = Net::builder().only_extra_roots().build().ok()?;
    let network = "allow:a.test,*.b.test".parse().ok()?;
    let spec = SandboxSpec { network, ..SandboxSpec::default() };
    EgressBuilder::new(Arc::new(net)).build().outlet(&spec).ok()
});

/// What a program in a sandbox could say: the greeting of TLS, and a question about a name.
///
/// # Panics
/// When a whole greeting is another one with more behind it, or when an answer is not one to what was asked.
pub fn egress_words(bytes: &[u8]) {
    let hello = read_hello(bytes);
    if let Hello::Whole { .. } = &hello {
        assert_eq!(read_hello(&[bytes, b"more"].concat()), hello, "it depends on what follows");
    }
    if let Some(answer) = OUTLET.as_ref().and_then(|outlet| outlet.answer(bytes)) {
        assert_eq!(answer.get(..2), bytes.get(..2), "it answers something else");
        assert!(answer.get(2).is_some_and(|flags| flags & 0x80 != 0), "it asks");
    }
}

#[cfg(test)]
mod tests;
