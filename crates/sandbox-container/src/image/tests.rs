use super::*;

#[track_caller]
fn check(name: &str, is_one: bool) {
    assert_eq!(is_name(name), is_one, "{name}");
}

#[test]
fn a_name_never_becomes_another_address_of_the_engine() {
    check("python:3.12-slim", true);
    check("registry.example:5000/team/app@sha256:0123456789abcdef", true);
    check("sha256:0123456789abcdef", true);
    for name in [
        "",
        "/etc",
        "a//b",
        "../containers/x",
        "a/../../b",
        "a/./b",
        "a?x=y",
        "a#b",
        "a b",
        "a%2fb",
        "-v",
        "ä",
    ] {
        check(name, false);
    }
}

#[test]
fn the_image_of_the_host_is_the_same_for_the_same_places() {
    let file = Place::File { at: "/etc/passwd".to_owned(), text: "x".to_owned() };
    let link = Place::Link { at: "/bin".to_owned(), to: "usr/bin".to_owned() };
    let first = pack(&[file.clone(), link.clone()]).expect("packed");
    assert_eq!(first, pack(&[file.clone(), link]).expect("packed"));
    assert_ne!(first, pack(&[file]).expect("packed"));
    let mut archive = tar::Archive::new(first.as_slice());
    let names: Vec<String> = archive
        .entries()
        .expect("entries")
        .map(|entry| entry.expect("an entry").path().expect("a path").display().to_string())
        .collect();
    assert_eq!(
        names,
        ["work", "tmp", "var", "var/tmp", "dev", "dev/shm", "proc", "sys", "etc", "etc/passwd", "bin"]
    );
}
