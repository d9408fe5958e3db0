//! Names that are taken for other names.

use crate::{Likeness, shadowing};

#[track_caller]
fn check(name: &str, published: &[&str], expected: Option<(&str, Likeness)>) {
    let found = shadowing(name, published);
    let found = found.as_ref().map(|found| (found.published.as_str(), found.likeness));
    assert_eq!(found, expected, "{name} among {published:?}");
}

#[test]
fn one_edit_is_near_and_two_are_not() {
    let tools = &["read_file", "send_email"];
    check("read_file", tools, Some(("read_file", Likeness::Same)));
    check("read_files", tools, Some(("read_file", Likeness::OneEdit)));
    check("read_fle", tools, Some(("read_file", Likeness::OneEdit)));
    check("raed_file", tools, Some(("read_file", Likeness::OneEdit)));
    check("reed_file", tools, Some(("read_file", Likeness::OneEdit)));
    check("xread_file", tools, Some(("read_file", Likeness::OneEdit)));
    check("read_fi", tools, None);
    check("raed_fiel", tools, None);
    check("file_read", tools, None);
    check("", tools, None);
    check("a", &[""], Some(("", Likeness::OneEdit)));
}

#[test]
fn case_separators_and_look_alikes_do_not_tell_names_apart() {
    let tools = &["send_email", "read_file1"];
    check("Send-Email", tools, Some(("send_email", Likeness::LooksAlike)));
    check("ѕend_emаil", tools, Some(("send_email", Likeness::LooksAlike)));
    check("s3nd_email", tools, Some(("send_email", Likeness::LooksAlike)));
    check("send\u{200b}_email", tools, Some(("send_email", Likeness::LooksAlike)));
    check("read_filel", tools, Some(("read_file1", Likeness::LooksAlike)));
}

#[test]
fn the_nearest_name_is_told() {
    check("get", &["set", "got", "get"], Some(("get", Likeness::Same)));
    check("GET", &["set", "get"], Some(("get", Likeness::LooksAlike)));
    check("bet", &["set", "get"], Some(("set", Likeness::OneEdit)));
}
