//! Slots: what fills them, and what never gets out of its word.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{read, tool};
use crate::{Filled, Tool, Unfit};

const PARAMS: &str = "params:
  - {name: text, type: STRING, required: true}
  - {name: n, type: INTEGER}
  - {name: kind, type: STRING, enum: [-a, -b]}
  - {name: deep, type: BOOLEAN}
  - {name: files, type: ARRAY}
  - {name: shape, type: OBJECT}
  - {name: width, type: INTEGER, default: 80}
";

/// A command with these fields, in a tool with parameters of each type.
fn with(command: &str) -> String {
    format!("name: a\ndescription: d\n{PARAMS}command: {command}\n")
}

fn fill(one: &Tool, arguments: &Value) -> Result<Filled, Unfit> {
    one.command().unwrap().fill(one.params(), arguments.as_object().unwrap())
}

/// The command with these arguments has these words.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "rows of a table read better without a reference")]
fn check(argv: &str, arguments: Value, expected: &[&str]) {
    let filled = fill(&tool(&with(&format!("{{argv: {argv}}}"))), &arguments);
    assert_eq!(filled.map(|filled| filled.argv), Ok(expected.iter().map(ToString::to_string).collect()));
}

/// The arguments do not fit the command.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "rows of a table read better without a reference")]
fn check_unfit(argv: &str, arguments: Value, param: &str) {
    let unfit = fill(&tool(&with(&format!("{{argv: {argv}}}"))), &arguments).unwrap_err();
    assert_eq!(unfit.param, param, "{unfit:?}");
}

/// The document is refused: the path, a part of the message, a part of the hint.
#[track_caller]
fn check_refused(argv: &str, path: &str, message: &str, hint: &str) {
    let problems = read(&with(&format!("{{argv: {argv}}}"))).unwrap_err().list;
    let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
    assert_eq!(problem.path.as_str(), format!("command.{path}"), "{problem:?}");
    assert!(problem.message.contains(message), "{problem:?}");
    assert!(problem.hint.as_deref().unwrap_or_default().contains(hint), "{problem:?}");
}

#[test]
fn a_slot_is_filled_inside_of_its_word() {
    check(
        "[echo, 'a{text}b']",
        json!({"text": "x y; rm -rf / $(id) `id` 'q' \"q\"\n*"}),
        &["echo", "ax y; rm -rf / $(id) `id` 'q' \"q\"\n*b"],
    );
    check("[echo, '{text}']", json!({"text": ""}), &["echo", ""]);
    check("[echo, '{{text}}', '{{{text}}}']", json!({"text": "x"}), &["echo", "{text}", "{x}"]);
    check("[echo, '{width}']", json!({"text": "x", "width": 80.0}), &["echo", "80"]);
    check(
        "[echo, 's={shape}']",
        json!({"text": "x", "shape": {"b": 1, "a": [true]}}),
        &["echo", "s={\"a\":[true],\"b\":1}"],
    );
    // What an argument says is never read as a slot.
    check("[echo, '{text}', 'n={n}']", json!({"text": "{n}", "n": 7}), &["echo", "{n}", "n=7"]);
}

#[test]
fn a_word_whose_argument_is_not_given_is_left_out() {
    check("[seq, '--w={n}', '{text}']", json!({"text": "3"}), &["seq", "3"]);
    check("[seq, '{n}x{text}']", json!({"text": "3"}), &["seq"]);
    check(
        "[ls, {when: deep, words: [-R]}, {when: n, words: [-w, '{n}']}, '{text}']",
        json!({"text": "x"}),
        &["ls", "x"],
    );
    let given = json!({"text": "x", "deep": true, "n": 3});
    check(
        "[ls, {when: deep, words: [-R]}, {when: n, words: [-w, '+{n}']}, '{text}']",
        given,
        &["ls", "-R", "-w", "+3", "x"],
    );
    check("[ls, {when: deep, words: [-R]}]", json!({"text": "x", "deep": false}), &["ls"]);
}

#[test]
fn a_list_is_one_word_for_each_element() {
    check(
        "[cat, --, '{files...}']",
        json!({"text": "x", "files": ["-a", "b c", 7, true]}),
        &["cat", "--", "-a", "b c", "7", "true"],
    );
    check("[cat, '{files...}']", json!({"text": "x", "files": []}), &["cat"]);
    check("[cat, '{files...}']", json!({"text": "x"}), &["cat"]);
    check("[echo, '{files}']", json!({"text": "x", "files": ["a", 1]}), &["echo", "[\"a\",1]"]);
    check_unfit("[cat, '{files...}']", json!({"text": "x", "files": ["a", "-n"]}), "files");
    check_unfit("[cat, --, '{files...}']", json!({"text": "x", "files": [["a"]]}), "files");
    check_unfit("[cat, --, '{files...}']", json!({"text": "x", "files": [null]}), "files");
    check_refused("[cat, '{text...}']", "argv[1]", "only a list has several words", "ARRAY");
    check_refused("[cat, 'x{files...}']", "argv[1]", "does not stand alone", "alone in an item");
}

#[test]
fn no_argument_becomes_an_option() {
    for value in ["-", "-x", "--output=/etc/passwd", "-5"] {
        check_unfit("[sort, '{text}']", json!({"text": value}), "text");
        check_unfit("[sort, '{text}.txt']", json!({"text": value}), "text");
        check("[sort, --, '{text}']", json!({"text": value}), &["sort", "--", value]);
        check("[sort, '--key={text}']", json!({"text": value}), &["sort", &format!("--key={value}")]);
        check("[sort, './{text}']", json!({"text": value}), &["sort", &format!("./{value}")]);
    }
    check_unfit("[seq, '{n}']", json!({"text": "x", "n": -3}), "n");
    check_unfit("[seq, '{text}{n}']", json!({"text": "", "n": -3}), "text");
    // An option that its author listed is one that they wrote.
    check("[ls, '{kind}']", json!({"text": "x", "kind": "-a"}), &["ls", "-a"]);
    // `--` counts only where it stands.
    check_unfit("[ls, {when: deep, words: [--]}, '{text}']", json!({"text": "-x"}), "text");
    check(
        "[ls, {when: deep, words: [--]}, '{text}']",
        json!({"text": "-x", "deep": true}),
        &["ls", "--", "-x"],
    );
    // A value that says `--` ends nothing.
    check_unfit("[ls, './{text}', '{files...}']", json!({"text": "--", "files": ["-x"]}), "files");
    check_unfit("[ls, '{text}', '{files...}']", json!({"text": "--", "files": ["-x"]}), "text");
}

#[test]
fn the_name_of_an_option_is_its_authors() {
    for word in ["-{text}", "--{text}", "--{text}=1", "--ke{text}", "-k{text}"] {
        check_refused(&format!("[sort, '{word}']"), "argv[1]", "which option it is", "--option={text}");
    }
    check("[head, '-n{width}']", json!({"text": "x", "width": -3}), &["head", "-n-3"]);
    check("[ls, '-{kind}']", json!({"text": "x", "kind": "-a"}), &["ls", "--a"]);
}

#[test]
fn an_option_never_takes_the_word_of_another() {
    check_refused("[head, -n, '{n}', '{text}']", "argv[2]", "`-n` stays", "when: n");
    check_refused("[cat, -f, '{files...}']", "argv[2]", "`-f` stays", "when: files");
    check_refused("[a, {when: deep, words: [-n, '{n}']}]", "argv[1]", "`-n` stays", "when: n");
    check("[head, -n, '{width}', '{text}']", json!({"text": "x", "width": 1}), &["head", "-n", "1", "x"]);
    check("[head, -q, '--lines={n}']", json!({"text": "x"}), &["head", "-q"]);
    check("[head, --, '{n}']", json!({"text": "x"}), &["head", "--"]);
}

#[test]
fn the_program_is_its_authors() {
    check_refused("['{text}']", "argv[0]", "cannot depend on an argument", "first item");
    check_refused("['/bin/{text}', x]", "argv[0]", "cannot depend on an argument", "");
    check_refused("[{when: deep, words: [ls]}]", "argv[0]", "cannot depend on an argument", "");
    check_refused("['']", "argv[0]", "is empty", "");
    check_refused("[]", "argv", "`argv` is empty", "");
}

#[test]
fn what_is_read_as_code_has_no_slots() {
    for argv in [
        "[sh, -c, 'echo {text}']",
        "[/bin/bash, -lc, 'echo {text}']",
        "[env, X=1, sh, -ec, '{text}']",
        "[timeout, '5', dash, -c, 'a {text}']",
        "[python3, -I, -c, 'print({text})']",
        "[python3.11, -c, 'print({text})']",
        "[perl, -ne, 'print if /{text}/']",
        "[node, --eval, 'x({text})']",
        "[awk, -F, ',', '{{print {text}}}']",
        "[sed, -n, 's/{text}/x/']",
        "[sed, -e, '{text}']",
        "[sed, '--expression={text}']",
        "[php, -r, '{text}']",
    ] {
        let problems = read(&with(&format!("{{argv: {argv}}}"))).unwrap_err().list;
        assert!(
            problems.iter().any(|problem| problem.message.contains("read as code")),
            "{argv}: {problems:?}"
        );
    }
    for argv in [
        "[sh, -c, 'echo \"$1\"', sh, '{text}']",
        "[python3, -c, 'import sys; print(sys.argv[1])', '{text}']",
        "[awk, -v, 'n={text}', '{{print n}}']",
        "[awk, -f, /a.awk, './{text}']",
        "[sed, -n, '1p', --, '{text}']",
    ] {
        tool(&with(&format!("{{argv: {argv}}}")));
    }
}

#[test]
fn slots_name_parameters_and_braces_are_written_twice() {
    check_refused("[a, '{txt}']", "argv[1]", "`{txt}` names no parameter", "did you mean `text`?");
    check_refused("[a, '{']", "argv[1]", "a `{` has no `}`", "{{ and }}");
    check_refused("[a, '}']", "argv[1]", "a `}` stands alone", "");
    check_refused("[a, '{text']", "argv[1]", "a `{` has no `}`", "");
    check_refused("[a, '{}']", "argv[1]", "names no parameter", "");
    check_refused("[a, {when: dep, words: [b]}]", "argv[1].when", "names no parameter", "`deep`");
    check_refused("[a, {when: deep}]", "argv[1]", "needs `when` and `words`", "");
    check_refused("[a, {wen: deep, when: deep, words: [b]}]", "argv[1].wen", "unknown field", "`when`");
    check_refused("[a, 7]", "argv[1]", "must be a text", "\"7\"");
}

#[test]
fn input_and_variables_are_filled_alike() {
    let one = tool(&with("{argv: [cat], stdin: 'a{text}', env: {ONE: '{text}', TWO: 'x{n}', THREE: three}}"));
    let filled = fill(&one, &json!({"text": "-x\n"})).unwrap();
    assert_eq!(filled.stdin.as_deref(), Some("a-x\n"));
    let env: Vec<(&str, &str)> =
        filled.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("ONE", "-x\n"), ("THREE", "three")]);
    let absent = fill(&tool(&with("{argv: [cat], stdin: '{n}'}")), &json!({"text": "x"})).unwrap();
    assert_eq!(absent.stdin, None);
}

proptest! {
    /// Whatever is given: the words are the author's, in number and in what they begin with, and a value is one of them whole.
    #[test]
    fn any_text_stays_in_its_word(text in any::<String>(), more in proptest::collection::vec(any::<String>(), 0..4)) {
        let one = tool(&with("{argv: [p, --name, './{text}', '--k={text}', --, '{text}', '{files...}']}"));
        let filled = fill(&one, &json!({"text": text, "files": more})).unwrap();
        let mut expected = vec!["p".to_owned(), "--name".to_owned(), format!("./{text}"), format!("--k={text}"), "--".to_owned(), text];
        expected.extend(more);
        prop_assert_eq!(filled.argv, expected);
    }

    /// Without `--`, what begins with a value never begins with a dash.
    #[test]
    fn no_text_is_an_option(text in "-?.{0,6}", n in any::<i32>()) {
        let one = tool(&with("{argv: [p, '{text}', '{text}{n}']}"));
        if let Ok(filled) = fill(&one, &json!({"text": text, "n": n})) {
            prop_assert!(filled.argv.iter().skip(1).all(|word| !word.starts_with('-')), "{:?}", filled.argv);
        }
    }
}
