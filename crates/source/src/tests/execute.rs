use bailiwick_types::Location;
use bailiwick_wire::{Entry, Language};

use super::assert_parses;
use crate::{How, SourceErrorKind, execute_form, prepare};

#[track_caller]
fn check(source: &str, how: How, name: &str, code: &str) {
    let form = execute_form(source, Language::Either).unwrap();
    assert_eq!(form.code, code.replace('·', " "));
    assert_eq!((form.definition.how, form.definition.name.as_str()), (how, name));
    assert_eq!(form.code.chars().count(), source.chars().count());
    assert_parses(&form.code);
    let prepared = prepare(source, Entry::Execute, Language::Either, Some(&[])).unwrap();
    assert_eq!((prepared.code, prepared.execute), (form.code, Some(form.definition)));
    assert_eq!(prepared.findings, []);
}

#[test]
fn definitions_stay_as_they_are() {
    for source in [
        "function execute(p) {}",
        "async function execute() {}",
        "const execute = async p => p",
        "let execute; execute = f",
        "var [execute] = [f]",
    ] {
        check(source, How::Declared, "execute", source);
    }
    for source in [
        "execute = p => p",
        "globalThis.execute = f",
        "a = execute = f",
        "if (a) { execute = b }",
        "this.execute = f",
        "{ var execute = f }",
    ] {
        check(source, How::Assigned, "execute", source);
    }
    check("function execute(p: P): Q {}", How::Declared, "execute", "function execute(p···)··· {}");
}

#[test]
fn exports_become_a_script_without_moving() {
    let default = How::ExportedDefault;
    check(
        "export default function execute(p) {}",
        default,
        "execute",
        "··············· function execute(p) {}".replacen(' ', "", 1).as_str(),
    );
    check("export default function run(p) {}", default, "run", "···············function run(p) {}");
    check("export default async function (p) {}", default, "execute", "async function execute        (p) {}");
    check("export default function*(p) {}", default, "execute", "function* execute       (p) {}");
    check(
        "export default function<T>(p: T) {}\n(1)",
        default,
        "execute",
        "function execute··········(p···) {}\n(1)",
    );
    check("export default async (p) => 1", default, "execute", "var execute =  async (p) => 1");
    check("export default(p) => 1", default, "execute", "var execute = (p) => 1");
    check(
        "export default p => execute(p); function execute() {}",
        default,
        "$0",
        "var $0 =       p => execute(p); function execute() {}",
    );
    check("const run = 1; export default run;", default, "run", "const run = 1; ···············run;");
    check(
        "function execute() {} export default execute",
        default,
        "execute",
        "function execute() {} ···············execute",
    );
    check("export default wrap(p => p)", default, "execute", "var execute =  wrap(p => p)");
    check("export default (p => p) as Tool", default, "execute", "var execute =  (p => p) ;······");
    check("export /* é */ default p => p", default, "execute", "var execute =          p => p");
}

#[test]
fn named_exports_become_a_script_too() {
    check("export function execute() {}", How::Exported, "execute", "·······function execute() {}");
    check("export const execute = f, b = 1", How::Exported, "execute", "·······const execute = f, b = 1");
    check(
        "export const a = 1; function execute() {}",
        How::Declared,
        "execute",
        "·······const a = 1; function execute() {}",
    );
    check(
        "function run() {} export { run as execute }",
        How::Exported,
        "run",
        "function run() {} ;························",
    );
    check(
        "function run() {} export { run as default };",
        How::ExportedDefault,
        "run",
        "function run() {} ;·························",
    );
    check(
        "export type A = 1\nexport function execute(a: A) {}",
        How::Exported,
        "execute",
        ";················\n·······function execute(a···) {}",
    );
}

#[test]
fn code_with_modules_is_validated_and_not_shaped() {
    let source = "import a from 'b'; a()";
    let prepared = prepare(source, Entry::Execute, Language::Either, Some(&[])).unwrap();
    assert_eq!((prepared.findings.len(), prepared.execute), (1, None));
    assert!(prepare(source, Entry::Execute, Language::Either, None).is_err());
}

#[test]
fn code_without_execute_is_told_so() {
    #[track_caller]
    fn check(source: &str, words: &str, place: Option<(u32, u32)>) {
        let error = execute_form(source, Language::Either).unwrap_err();
        assert!(error.message.contains(words), "{}", error.message);
        assert_eq!(error.kind, SourceErrorKind::Rule);
        assert_eq!(error.location, place.map(|(line, column)| Location { line, column }));
    }
    check("", "defines no `execute`", None);
    check("function run() {}", "defines no `execute`", None);
    check("declare function execute(): void", "defines no `execute`", None);
    check("const o = {execute() {}}", "defines no `execute`", None);
    check("o.execute = f", "defines no `execute`", None);
    check("export default class {}", "this is a class", Some((1, 1)));
    check("export\ndefault(p) => p", "on one line", Some((1, 1)));
    check("import a from 'b'; function execute() {}", "there are no modules", Some((1, 1)));
    check("1\nexport * from 'b'", "there are no modules", Some((2, 1)));
}
