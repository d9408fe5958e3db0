use crate::{Syntax, Tool, has_front_matter};

/// The file is a tool `a` whose code is this, at the line it is at in the file.
#[track_caller]
fn check(text: &str, code: &str, line: usize) {
    let one = match Tool::read("a.js", text, Syntax::JavaScript) {
        Ok(read) => read.tool,
        Err(problems) => panic!("{problems}\nin\n{text}"),
    };
    assert_eq!((one.name().as_str(), one.description()), ("a", Some("Does a.")), "{text}");
    let read = one.code().unwrap();
    assert_eq!(read.trim(), code, "{text}");
    let at = |text: &str| text.split('\n').position(|line| line.contains(code)).unwrap() + 1;
    assert_eq!((at(read), at(text)), (line, line), "{text}");
    let column = |text: &str| text.split('\n').nth(line - 1).unwrap().find(code).unwrap();
    assert_eq!(column(read), column(text), "{text}");
}

#[test]
fn the_fields_stand_in_a_comment_of_any_shape() {
    check("/*---\nname: a\ndescription: Does a.\n---*/\nreturn 1;\n", "return 1;", 5);
    check("/* ---\nname: a\ndescription: Does a.\n--- */ return 1;", "return 1;", 4);
    check("/*\n---\nname: a\ndescription: Does a.\n---\n*/\n\nreturn 1;", "return 1;", 8);
    check("/**\n * ---\n * name: a\n *\n * description: Does a.\n * ---\n */\nreturn 1;", "return 1;", 8);
    check(
        "#!/usr/bin/env bailiwick\n\n/*---\nname: a\ndescription: Does a.\n---*/\nreturn 1;",
        "return 1;",
        7,
    );
    check("\u{feff}/*---\r\nname: a\r\ndescription: Does a.\r\n---*/\r\nreturn 1;\r\n", "return 1;", 5);
    check("/*---\n  name: a\n  description: >-\n    Does\n    a.\n---*/\nreturn 1;", "return 1;", 7);
}

#[test]
fn code_without_fields_is_told_what_to_add() {
    for text in [
        "return 1;",
        "/* a comment */ return 1;",
        "/*--- name: a ---*/",
        "/*---\nname: a\n*/\nreturn 1;",
        "// ---\n",
        "/*---\nname: a\n---",
        "#!/bin/x",
        "/*---*/",
        "",
    ] {
        assert!(!has_front_matter(text), "{text}");
        let problems = Tool::read("a.js", text, Syntax::JavaScript).unwrap_err();
        assert!(problems.to_string().contains("`/*---`, `name: my_tool`, `---*/`"), "{problems}");
    }
}

#[test]
fn mistakes_are_told_at_the_lines_of_the_file() {
    let text = "#!x\n/**\n * ---\n * name: a\n * tags: [safe]\n * ---\n */\n";
    let problems = Tool::read("a.ts", text, Syntax::TypeScript).unwrap_err();
    assert!(problems.to_string().starts_with("a.ts:5:11: the tag `safe`"), "{problems}");
    let text = "/*---\nname: a\ncode: return 1\n---*/\nreturn 2";
    let problems = Tool::read("a.ts", text, Syntax::TypeScript).unwrap_err();
    assert!(problems.to_string().starts_with("a.ts:3:7: `code` stands in front of code"), "{problems}");
}

#[test]
fn the_language_is_that_of_the_file_unless_it_says_another() {
    use bailiwick_wire::Language;
    let read = |fields: &str, syntax| {
        Tool::read("a", &format!("/*---\nname: a\n{fields}\n---*/\nreturn 1"), syntax)
            .unwrap()
            .tool
            .language()
    };
    assert_eq!(read("", Syntax::JavaScript), Language::JavaScript);
    assert_eq!(read("", Syntax::TypeScript), Language::TypeScript);
    assert_eq!(read("language: ts", Syntax::JavaScript), Language::TypeScript);
}
