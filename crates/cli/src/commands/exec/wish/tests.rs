use std::path::Path;

use super::{variables, whole};

#[track_caller]
fn check(typed: &str, path: &str) {
    assert_eq!(whole(Path::new("/home/u/work"), Path::new(typed)), Path::new(path));
}

#[test]
fn paths_of_this_machine_are_made_whole() {
    check("/srv/x", "/srv/x");
    check("src", "/home/u/work/src");
    check("./src/./a", "/home/u/work/src/a");
    check("../data", "/home/u/data");
    check("../../..", "/");
    // What goes up behind a name may go through a link: whoever looks at the path refuses it.
    check("src/../..", "/home/u/work/src/../..");
}

#[test]
fn variables_are_a_name_and_a_value_each_once() {
    let all = variables(&["A=1".to_owned(), "B=x=y".to_owned(), "C=".to_owned()]).unwrap();
    assert_eq!(
        all.into_iter().collect::<Vec<_>>(),
        [
            ("A".to_owned(), "1".to_owned()),
            ("B".to_owned(), "x=y".to_owned()),
            ("C".to_owned(), String::new()),
        ]
    );
    assert!(variables(&["A".to_owned()]).is_err());
    assert!(variables(&["A=1".to_owned(), "A=2".to_owned()]).is_err());
}
