use super::*;

#[track_caller]
fn check(answer: &str, expected: Result<&[(&str, &str)], &str>) {
    match (read(answer.as_bytes()), expected) {
        (Ok(found), Ok(expected)) => {
            let found: Vec<_> = found.iter().map(|one| (one.id.as_str(), one.label("whose"))).collect();
            assert_eq!(found, expected);
        }
        (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{error}"),
        (found, _) => panic!("{answer}: {found:?}"),
    }
}

#[test]
fn a_list_is_read_whatever_state_a_container_is_in() {
    let answer = |body: &str| format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{body}");
    check(&answer("[]"), Ok(&[]));
    check(
        &answer(
            r#"[{"Id":"a","State":"stopped","Labels":{"whose":"ours"}},{"Id":"b","State":"?","Labels":null}]"#,
        ),
        Ok(&[("a", "ours"), ("b", "")]),
    );
    check(&answer("{}"), Err("it is no list"));
    check(&answer("[{\"Id\":"), Err("it is no list"));
    check("HTTP/1.0 500 Oh\r\n\r\nit is full\n", Err("it is full"));
    check("HTTP/1.0 200 OK\r\n", Err("no answer came"));
    check("", Err("no answer came"));
    check("nothing\r\n\r\n", Err("what came is no answer"));
}

#[test]
fn what_is_asked_for_is_no_more_than_a_part_of_an_address() {
    assert_eq!(escaped("a=b c&d\r\n\"ü"), "a%3Db%20c%26d%0D%0A%22%C3%BC");
}
