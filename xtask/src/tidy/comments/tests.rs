use super::{Comment, all};

/// `expected` is each comment's line and text.
#[track_caller]
fn check(code: &str, expected: &[(usize, &str)]) {
    let expected: Vec<Comment> =
        expected.iter().map(|&(line, text)| Comment { line, text: text.to_owned() }).collect();
    assert_eq!(all(code), expected, "in {code:?}");
}

#[test]
fn a_line_comment_ends_with_its_line() {
    check("a // b\nc", &[(1, "// b")]);
    check("//! top\n/// doc\nfn f() {}", &[(1, "//! top"), (2, "/// doc")]);
    check("a //", &[(1, "//")]);
    check("a /  / b", &[]);
    check("// a /* b\nc", &[(1, "// a /* b")]);
}

#[test]
fn a_block_comment_ends_where_its_own_nesting_does() {
    check("a /* b */ c", &[(1, "/* b */")]);
    check("/* a /* b */ c */ d // e", &[(1, "/* a /* b */ c */"), (1, "// e")]);
    check("\n/* a\nb */\n// c", &[(2, "/* a\nb */"), (4, "// c")]);
    check("/*/ a */ // b", &[(1, "/*/ a */"), (1, "// b")]);
    check("/**/ a", &[(1, "/**/")]);
    check("/* // */ a", &[(1, "/* // */")]);
    check("/* \" */ // '", &[(1, "/* \" */"), (1, "// '")]);
}

#[test]
fn a_string_holds_no_comment() {
    check(r#" "// a" "#, &[]);
    check(r#" "\" // a" // b"#, &[(1, "// b")]);
    check(r#" "\\" // b"#, &[(1, "// b")]);
    check(r#" b"// a" c"/* b" // c"#, &[(1, "// c")]);
    check("\"a\n// b\n\" // c", &[(3, "// c")]);
}

#[test]
fn a_raw_string_ends_with_as_many_hashes_as_it_began() {
    check("r\"\\\" // a", &[(1, "// a")]);
    check("r#\" \" // a \"# // b", &[(1, "// b")]);
    check("br##\" \"# // a \"## // b", &[(1, "// b")]);
    check("cr#\"// a\"#", &[]);
    check("r#\"\"#// b", &[(1, "// b")]);
}

#[test]
fn a_raw_identifier_is_no_raw_string() {
    check("r#fn \"// a\" // b", &[(1, "// b")]);
    check("for \"// a\" // b", &[(1, "// b")]);
    check("bar \"\\\" // a\"", &[]);
}

#[test]
fn a_quote_is_a_character_or_a_lifetime() {
    check(r"'/' // a", &[(1, "// a")]);
    check(r#"'"' // a"#, &[(1, "// a")]);
    check(r"'\'' // a", &[(1, "// a")]);
    check(r"'\\' // a", &[(1, "// a")]);
    check(r"b'\'' // a", &[(1, "// a")]);
    check(r"'\u{2F}' // a", &[(1, "// a")]);
    check(r#"&'a str // "b"#, &[(1, "// \"b")]);
    check(r"<'a,'b> // c", &[(1, "// c")]);
    check("'ä' // a", &[(1, "// a")]);
    check("'_' '_ // a", &[(1, "// a")]);
    check("'a: loop { break 'a; } // b", &[(1, "// b")]);
}

#[test]
fn what_never_ends_ends_with_the_text() {
    check("/* a /* b */", &[(1, "/* a /* b */")]);
    check("\"// a", &[]);
    check("r#\"// a\"", &[]);
    check("'\\", &[]);
    check("", &[]);
}
