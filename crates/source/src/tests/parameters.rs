use crate::{SourceErrorKind, check_parameter_names};

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

const GLOBALS: &[&str] = &["console", "crypto.subtle.digest", "Math.random"];

#[test]
fn ordinary_names_are_variables() {
    for names in
        [&[][..], &["a", "b"], &["async", "of", "get", "type"], &["$x", "_y", "é", "ünï"], &["fetch"]]
    {
        assert_eq!(check_parameter_names(&owned(names), &owned(GLOBALS)), Ok(()));
    }
}

#[test]
fn a_name_that_cannot_be_a_variable_is_told_with_one_that_can() {
    #[track_caller]
    fn check(names: &[&str], message: &str) {
        let error = check_parameter_names(&owned(names), &owned(GLOBALS)).unwrap_err();
        assert_eq!(error.message, message);
        assert_eq!((error.kind, error.location), (SourceErrorKind::Rule, None));
    }
    let identifier = "cannot be a variable: it is not an identifier; name it";
    check(&["a-b"], &format!("`a-b` {identifier} `a_b`, say"));
    check(&["2x"], &format!("`2x` {identifier} `_2x`, say"));
    check(&[""], &format!("`` {identifier} `value`, say"));
    check(&["a b", "a_b"], &format!("`a b` {identifier} `a_b_`, say"));
    check(&["x\n"], &format!("`x\\n` {identifier} `x`, say"));
    check(&["a){"], &format!("`a){{` {identifier} `a`, say"));
    check(&["\\u0061"], &format!("`\\\\u0061` {identifier} `u0061`, say"));
    for word in ["class", "await", "arguments", "eval", "let", "static", "yield", "this", "null", "enum"] {
        let message = format!("`{word}` cannot be a variable: it is a reserved word; name it `{word}_`, say");
        check(&["ok", word], &message);
    }
    for global in ["Array", "undefined", "console", "crypto", "Math", "globalThis"] {
        let message =
            format!("`{global}` cannot be a variable: it is the name of a global; name it `{global}_`, say");
        check(&[global], &message);
    }
    check(
        &["a", "b", "a"],
        "`a` cannot be a variable: it is there twice: parameters and statics share one set of names; name it `a_`, say",
    );
}
