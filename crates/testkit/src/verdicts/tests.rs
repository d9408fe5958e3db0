use super::{Hollow, Verdicts};

const HEAD: &str = "tier = \"PROCESS\"\nabout = \"A wall.\"\n";
const FILE: &str = "tier = \"PROCESS\"
about = \"A wall.\"
words = [\"ENOSYS\"]
[[except]]
cases = [\"fs/one\", \"fs/two\"]
verdict = \"does not apply\"
says = [\"no such thing\"]
why = \"there are none\"
";

fn result(wrong: Option<&str>) -> Result<(), String> {
    wrong.map_or(Ok(()), |wrong| Err(wrong.to_owned()))
}

#[track_caller]
fn check(area: &str, name: &str, wrong: Option<&str>, surprise: Option<&str>) {
    let verdicts = Verdicts::parse("file.toml", FILE).expect("verdicts");
    let judged = verdicts.judge(area, name, result(wrong));
    match surprise {
        None => assert_eq!(judged, Ok(())),
        Some(text) => assert!(judged.as_ref().is_err_and(|error| error.contains(text)), "{judged:?}"),
    }
}

#[test]
fn a_case_holds_unless_it_is_excepted() {
    check("fs", "three", None, None);
    check("fs", "three", Some("broken"), Some("broken"));
    // Another area's case of that name is another case.
    check("egress", "one", Some("no such thing"), Some("no such thing"));
}

#[test]
fn an_exception_covers_its_own_reason_and_is_wrong_when_it_is_not_needed() {
    check("fs", "one", Some("there is no such thing"), None);
    check("fs", "one", Some("something else"), Some("it fails otherwise than by"));
    check("fs", "one", Some("check.sh: no such thing"), Some("it fails otherwise than by"));
    check("fs", "two", None, Some("take it out of file.toml"));
}

#[test]
fn quick_cases_are_those_of_the_list_and_all_where_there_is_none() {
    let verdicts = Verdicts::parse("file.toml", FILE).expect("verdicts");
    assert_eq!((verdicts.words.as_slice(), verdicts.quick("fs")), (["ENOSYS".to_owned()].as_slice(), None));
    let text = format!("{HEAD}quick = [\"fs/one\", \"escape/two\"]\n");
    let verdicts = Verdicts::parse("file.toml", &text).expect("verdicts");
    assert_eq!(verdicts.quick("fs"), Some(vec!["one".to_owned()]));
    assert_eq!(verdicts.quick("limits"), Some(Vec::new()));
}

#[test]
fn a_file_of_verdicts_says_everything_and_nothing_else() {
    let refused = |text: &str| {
        let text = if text.starts_with(HEAD) { text.to_owned() } else { format!("{HEAD}{text}") };
        Verdicts::parse("file.toml", &text).expect_err("it is refused")
    };
    assert!(Verdicts::parse("file.toml", "words = []").expect_err("it is refused").contains("lacks `tier`"));
    assert!(
        refused("[[except]]\ncases = [\"a/b\"]\nverdict = \"does not apply\"\nsays = [\"x\"]")
            .contains("lacks `why`")
    );
    assert!(
        refused("[[except]]\ncases = [\"a/b\"]\nverdict = \"does not apply\"\nwhy = \"x\"")
            .contains("lacks `says`")
    );
    assert!(
        refused("[[except]]\ncases = [\"a/b\"]\nverdict = \"no\"\nsays = [\"x\"]\nwhy = \"y\"")
            .contains("a verdict is one of")
    );
    assert!(
        refused(&format!(
            "{FILE}[[except]]\ncases = [\"fs/one\"]\nverdict = \"does not hold\"\nsays = [\"x\"]\nwhy = \"y\""
        ))
        .contains("twice")
    );
    assert!(refused("exceptions = []").contains("exceptions"));
}

#[test]
fn what_holds_without_a_backend_is_listed_and_nothing_else_is() {
    let hollow = Hollow::parse("none.toml", "cases = [\"fs/one\"]").expect("a list");
    assert_eq!(hollow.of("fs").collect::<Vec<_>>(), ["one"]);
    let judge = |case, wrong| hollow.judge("fs", case, result(wrong));
    assert_eq!((judge("one", None), judge("two", Some("no"))), (Ok(()), Ok(())));
    assert!(judge("one", Some("no")).is_err_and(|error| error.contains("it needs a backend: no")));
    assert!(judge("two", None).is_err_and(|error| error.contains("it holds without a backend")));
}
