//! What can be said of a document only where several of its fields meet: what it runs, its variables, its tests.

use bailiwick_document::{Entry as Field, Record, Value as Written};
use bailiwick_types::shortened;
use bailiwick_wire::Entry;

use super::{Around, Reading};
use crate::command::{self, CommandBlock};
use crate::input::{ArgumentProblem, InputCheck};
use crate::json::json_of;
use crate::param::{Param, ParamType};
use crate::schema::{Cost, MOST_PARTS_IN_ALL, MOST_PATTERNS_IN_ALL, cost};
use crate::statics::Static;
use crate::test::{MOST_TESTS, Test};
use crate::tool::{Body, MOST_CODE};
use crate::variable;

impl Reading {
    /// Whether what is compiled when the document is read stays within bounds, all of it together. A schema that is
    /// refused by itself is told about later.
    pub(super) fn costs_little(&mut self, root: &Field<'_>) -> bool {
        let listed = |field: &str| match root.node.get(field).map(|node| &node.value) {
            Some(Written::List(items)) => items.as_slice(),
            _ => &[],
        };
        let tests = listed("tests");
        let schemas = listed("params").iter().chain(tests).filter_map(|item| item.get("schema"));
        let mut sum = Cost::default();
        sum.patterns += tests.iter().filter(|test| test.get("matches").is_some()).count();
        for schema in schemas.chain(root.node.get("output")) {
            let one = cost(&json_of(&schema.value)).unwrap_or_default();
            sum.parts += one.parts;
            sum.patterns += one.patterns;
        }
        let told = [
            ("parts of schemas, references followed", sum.parts, MOST_PARTS_IN_ALL),
            ("regular expressions", sum.patterns, MOST_PATTERNS_IN_ALL),
        ];
        let mut costs_little = true;
        for (what, count, most) in told {
            if count > most {
                costs_little = false;
                let message = format!("the document has {count} {what}; at most {most} are read");
                self.reader.wrong(root, message, Some("say less, or make two tools of it".to_owned()));
            }
        }
        costs_little
    }

    pub(super) fn body(
        &mut self,
        root: &Field<'_>,
        record: &mut Record<'_>,
        around: Option<Around>,
        named: &command::Around<'_>,
    ) -> Option<Body> {
        let (code, command) = (record.take("code"), record.take("command"));
        if let Some(Around { code: rest, .. }) = around {
            for field in [&code, &command].into_iter().flatten() {
                let hint = "in a file of code, the code is what stands below the comment".to_owned();
                self.reader.wrong(field, format!("`{}` stands in front of code", field.path), Some(hint));
            }
            self.check_size(root, &rest);
            return Some(Body::Code(rest));
        }
        match (code, command) {
            (Some(code), None) => {
                let text = self.text(&code)?;
                self.check_size(&code, &text);
                Some(Body::Code(text))
            }
            (None, Some(field)) => {
                let block = CommandBlock::read(&mut self.reader, &field, named)?;
                Some(Body::Command(Box::new(block)))
            }
            (Some(_), Some(command)) => {
                let hint = "keep one of the two".to_owned();
                self.reader.wrong(&command, "the document has `code` and `command`", Some(hint));
                None
            }
            (None, None) => {
                let hint = "add `code: |`, or `command:`".to_owned();
                self.reader.wrong(root, "the document has no `code`", Some(hint));
                None
            }
        }
    }

    pub(super) fn check_size(&mut self, field: &Field<'_>, code: &str) {
        if code.len() > MOST_CODE {
            let message = format!("the code has {} bytes; at most {MOST_CODE} are run", code.len());
            self.reader.wrong(field, message, Some("make two tools of it".to_owned()));
        }
    }

    /// The names that code sees are variables of one function: each can be one, and no two are the same.
    pub(super) fn variables(&mut self, root: &Field<'_>, entry: Entry, params: &[Param], statics: &[Static]) {
        if entry == Entry::Emit {
            let fits = match params {
                [] => true,
                [only] => only.name == "input" && only.kind == ParamType::String,
                _ => false,
            };
            if !fits {
                let hint =
                    "declare one parameter, {name: input, type: STRING}; read_input() gives it".to_owned();
                self.reader.wrong(root, "`entry: emit` takes no parameters but `input`", Some(hint));
            }
        }
        if entry != Entry::Body {
            return;
        }
        let wrong = |name: &str, why: &str| {
            let hint = format!("name it `{}`, say", variable::proposal(name));
            (format!("`{}` cannot be a variable: it {why}", shortened(name)), hint)
        };
        let mut told = Vec::new();
        for name in params.iter().map(|param| &param.name) {
            if variable::is_global(name) {
                told.push(("params", wrong(name, "is the name of a global")));
            }
        }
        for name in statics.iter().map(|one| &one.name) {
            let is_param = params.iter().any(|param| param.name == *name);
            let why = match variable::why_not(name) {
                Some(why) => why,
                None if variable::is_global(name) => "is the name of a global",
                None if is_param => "is there twice: parameters and statics share one set of names",
                None => continue,
            };
            told.push(("statics", wrong(name, why)));
        }
        for (list, (message, hint)) in told {
            let node = root.node.get(list).unwrap_or(root.node);
            let field = Field { node, path: root.path.field(list) };
            self.reader.wrong(&field, message, Some(hint));
        }
    }

    pub(super) fn tests(&mut self, field: &Field<'_>, params: &[Param], declared: usize) -> Vec<Test> {
        let inputs = InputCheck::of(params);
        // Where a parameter is wrong itself, what does not fit it would be told twice.
        let all_params = params.len() == declared;
        let mut tests: Vec<Test> = Vec::new();
        for (index, item) in self.reader.list_up_to(field, MOST_TESTS).iter().enumerate() {
            let Some(test) = Test::read(&mut self.reader, item, index) else { continue };
            if test.expects_nothing() {
                let message = format!("the test `{}` expects nothing but a result", shortened(&test.name));
                self.warn(item, message, "add `equals`, `contains`, `matches`, `schema` or `throws`");
            }
            if all_params
                && test.expect.throws.is_none()
                && let Err(problems) = inputs.check(test.input.clone())
            {
                for ArgumentProblem { message, hint, .. } in problems {
                    let path = item.path.field("input");
                    let node = item.node.get("input").unwrap_or(item.node);
                    self.reader.wrong(&Field { node, path }, format!("the test's input: {message}"), hint);
                }
            }
            tests.push(test);
        }
        tests
    }
}
