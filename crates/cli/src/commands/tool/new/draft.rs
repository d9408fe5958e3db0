//! A tool's first version as text: small code that really runs, and a test that says what it gives.
//!
//! The code does what was asked for and no more: it gives back its parameters, and uses each power once.

use bailiwick_types::ToolName;
use serde_json::{Map, Value, json};

use super::param::Param;
use crate::typed::tool::Written;

/// What is known of a tool that is to be written.
pub(super) struct Draft {
    pub(super) name: ToolName,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) category: Option<String>,
    pub(super) params: Vec<Param>,
    pub(super) hosts: Vec<String>,
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) command: bool,
}

/// What the canned answer and the files of the test hold.
const TEXT: &str = "hello\n";

/// The example's code, what it gives, and what its test needs.
struct Example {
    lines: Vec<String>,
    /// What is returned, as fields of an object literal.
    fields: Vec<String>,
    gives: Map<String, Value>,
    /// What it does, for the description.
    does: Vec<String>,
    test: Vec<(&'static str, Value)>,
}

impl Draft {
    /// The whole file.
    pub(super) fn write(&self, written: Written) -> String {
        if self.command {
            let (example, command) = self.command_example();
            return format!("{}{command}", self.fields(&example));
        }
        let example = self.example();
        let fields = self.fields(&example);
        let code = example.lines.join("\n");
        match written {
            Written::Yaml => {
                let indented: Vec<String> =
                    code.lines().map(|line| format!("  {line}").trim_end().to_owned()).collect();
                format!("{fields}code: |\n{}\n", indented.join("\n"))
            }
            // A text must not end the comment; within quotes the stroke means the same.
            Written::Js | Written::Ts => {
                format!("/*---\n{}---*/\n{code}\n", fields.replace("*/", "*\\/"))
            }
        }
    }

    /// The arguments of a first call, as they are typed.
    pub(super) fn typed_arguments(&self) -> String {
        let arguments = self.arguments();
        if arguments.is_empty() {
            return String::new();
        }
        format!(" --args '{}'", Value::Object(arguments).to_string().replace('\'', "'\\''"))
    }

    fn arguments(&self) -> Map<String, Value> {
        let valued =
            self.params.iter().filter_map(|param| Some((param.name.clone(), param.test_value.clone()?)));
        valued.collect()
    }

    fn fields(&self, example: &Example) -> String {
        let title = self.title.clone().unwrap_or_else(|| titled(self.name.as_str()));
        let description = self.description.clone().unwrap_or_else(|| example.description());
        let category = self.category.as_deref().unwrap_or("CUSTOM");
        let mut lines = vec![
            format!("name: {}", self.name),
            format!("title: {}", json!(title)),
            format!("description: {}", json!(description)),
            format!("category: {}", plain(&json!(category))),
        ];
        if !self.params.is_empty() {
            lines.push("params:".to_owned());
            lines.extend(self.params.iter().map(|param| format!("  - {}", flow(&of_param(param)))));
        }
        let overrides = self.overrides();
        if !overrides.is_empty() {
            lines.push(format!("overrides: {}", flow(&overrides)));
        }
        lines.push("tests:".to_owned());
        lines.push("  - name: gives what it should".to_owned());
        for (key, value) in &example.test {
            lines.push(format!("    {key}: {value}"));
        }
        lines.join("\n") + "\n"
    }

    fn overrides(&self) -> Vec<(&'static str, Value)> {
        let mut overrides = Vec::new();
        if !self.hosts.is_empty() {
            overrides.push(("network", json!("allowlist")));
            overrides.push(("hosts", json!(self.hosts)));
        }
        if self.read {
            overrides.push(("fileRead", json!(true)));
        }
        if self.write {
            overrides.push(("fileWrite", json!(true)));
        }
        overrides
    }

    fn example(&self) -> Example {
        let mut example = Example {
            lines: vec!["// What it returns is what its caller gets.".to_owned()],
            fields: Vec::new(),
            gives: Map::new(),
            does: Vec::new(),
            test: Vec::new(),
        };
        let arguments = self.arguments();
        if !self.params.is_empty() {
            example.does.push("gives back what it was given".to_owned());
            example.test.push(("input", Value::Object(arguments.clone())));
        }
        example.fields.extend(self.params.iter().map(|param| param.name.clone()));
        example.gives.extend(arguments);
        if let Some(host) = self.hosts.first() {
            self.add_request(&mut example, host);
        }
        if self.read {
            self.add_reading(&mut example);
        }
        if self.write {
            self.add_writing(&mut example);
        }
        if example.fields.is_empty() {
            example.does.push("says hello".to_owned());
            example.lines.push("return \"hello\";".to_owned());
            example.test.push(("equals", json!("hello")));
        } else {
            example.lines.push(format!("return {{{}}};", example.fields.join(", ")));
            example.test.push(("equals", Value::Object(example.gives.clone())));
        }
        example
    }

    /// A program that says what it was given, a line each.
    fn command_example(&self) -> (Example, String) {
        let arguments = self.arguments();
        let mut example = Example {
            lines: Vec::new(),
            fields: Vec::new(),
            gives: Map::new(),
            does: vec!["says hello".to_owned()],
            test: vec![("equals", json!(["hello"]))],
        };
        let mut words = vec![json!("echo"), json!("hello")];
        if !self.params.is_empty() {
            example.does = vec!["says what it was given, a line each".to_owned()];
            let said: Vec<String> = arguments.values().map(|value| said(value) + "\n").collect();
            let lines: Vec<&str> = said.iter().flat_map(|text| text.lines()).collect();
            example.test = vec![("input", Value::Object(arguments.clone())), ("equals", json!(lines))];
            words = vec![json!("printf"), json!("--"), json!("%s\n")];
            words.extend(self.params.iter().map(|param| json!(format!("{{{}}}", param.name))));
        }
        let command = format!(
            "command:\n  # One word each, whatever is in it; behind `--` none is taken for an option.\n  argv: {}\n  output: lines\n",
            Value::Array(words)
        );
        (example, command)
    }

    fn add_request(&self, example: &mut Example, host: &str) {
        let url = format!("https://{}/", host.replace('*', "www"));
        let (response, page) = (self.free("response"), self.free("page"));
        example.lines.push(format!("const {response} = await fetch({});", json!(url)));
        example.lines.push(format!(
            "if (!{response}.ok) throw new Error(`the server answered with ${{{response}.status}}`);"
        ));
        example.lines.push(format!("const {page} = await {response}.text();"));
        example.does.push(format!("gets {url}"));
        example.gives.insert(page.clone(), json!(TEXT));
        example.fields.push(page);
        let canned = json!([{
            "request": {"method": "GET", "url": url}, "response": {"status": 200, "text": TEXT},
        }]);
        example.test.push(("http", canned));
    }

    fn add_reading(&self, example: &mut Example) {
        let notes = self.free("notes");
        example.lines.push(format!(
            "const {notes} = safety.fs.exists(\"notes.txt\") ? safety.fs.readText(\"notes.txt\") : \"\";"
        ));
        example.does.push("reads notes.txt".to_owned());
        example.gives.insert(notes.clone(), json!(TEXT));
        example.fields.push(notes);
        example.test.push(("files", json!({"notes.txt": TEXT})));
    }

    fn add_writing(&self, example: &mut Example) {
        let wrote = self.free("wrote");
        example.lines.push(format!("const {wrote} = \"result.txt\";"));
        example.lines.push(format!("safety.fs.writeText({wrote}, {});", json!(TEXT)));
        example.does.push("writes result.txt".to_owned());
        example.gives.insert(wrote.clone(), json!("result.txt"));
        example.fields.push(wrote);
        example.test.push(("leaves", json!({"result.txt": TEXT})));
    }

    /// A name for a variable that no parameter has.
    fn free(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.params.iter().any(|param| param.name == name) {
            name.push('_');
        }
        name
    }
}

impl Example {
    /// What it does, in one sentence.
    fn description(&self) -> String {
        let mut text = self.does.join(", ");
        if let Some(first) = text.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        text + "."
    }
}

fn of_param(param: &Param) -> Vec<(&'static str, Value)> {
    let mut fields = vec![("name", json!(param.name)), ("type", json!(param.kind.word()))];
    if param.required {
        fields.push(("required", json!(true)));
    }
    fields.push(("description", json!(format!("The {}.", param.name))));
    fields.extend(param.test_value.clone().map(|value| ("testValue", value)));
    fields
}

/// A value as a program is given it.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => bailiwick_tool::canonical(other),
    }
}

/// A map on one line; JSON values are YAML.
fn flow(fields: &[(&str, Value)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key}: {}", plain(value))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// A value with quotes only where a person would write them.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Whether a text is a text without quotes, in every reading of YAML.
fn is_word(text: &str) -> bool {
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !reserved.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// `repo_stars` as `Repo stars`.
fn titled(name: &str) -> String {
    let mut title = name.replace(['_', '-'], " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title
}
