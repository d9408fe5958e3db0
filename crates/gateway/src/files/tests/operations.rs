//! Each operation: what it gives, and its own refusals.

use bailiwick_types::{FileRequest, Matching};

use super::*;

#[test]
fn what_is_written_is_read_back() {
    let stage = Stage::new();
    stage.check(write("a.txt", "one\ntwo\n"), r#"{"size":8}"#);
    stage.check(read("a.txt"), "one\ntwo\n");
    stage.check(append("a.txt", "three"), r#"{"size":13}"#);
    stage.check(append("new", "x"), r#"{"size":1}"#);
    let part = |offset, length| FileRequest::ReadBytes { path: "a.txt".to_owned(), offset, length };
    stage.check(part(1, Some(2)), "[110, 101]");
    stage.check(part(100, None), "[]");
    stage.check(FileRequest::LineCount { path: "a.txt".to_owned() }, "3");
    let slice = |from, to| FileRequest::Slice { path: "a.txt".to_owned(), from, to };
    stage.check(slice(2, Some(2)), r#"{"text":"two","from":2,"to":2,"more":true}"#);
    stage.check(slice(2, None), r#"{"text":"two\nthree","from":2,"to":3,"more":false}"#);
    stage.check(slice(9, None), r#"{"text":"","from":9,"to":8,"more":false}"#);
    stage.check(slice(0, None), "FS_FAILED bad-argument");
    stage.check(exists("a.txt"), "true");
    stage.check(exists("b.txt"), "false");
    stage.check(read("b.txt"), "FS_FAILED not-found");
    stage.check(write("no/such", "x"), "FS_FAILED not-found");
    stage.check(FileRequest::Workspace, r#"{"path":".","used":14,"quota":268435456}"#);
}

#[test]
fn an_edit_needs_its_text_once() {
    let stage = Stage::new();
    stage.check(write("a", "x y x"), r#"{"size":5}"#);
    stage.check(edit("a", "x", "z", false), "FS_FAILED not-unique");
    stage.check(edit("a", "q", "z", false), "FS_FAILED no-match");
    stage.check(edit("a", "", "z", false), "FS_FAILED bad-argument");
    stage.check(edit("a", "x", "zz", true), r#"{"replaced":2}"#);
    stage.check(read("a"), "zz y zz");
    std::fs::write(stage.workspace().join("b"), [0xff]).unwrap();
    stage.check(edit("b", "x", "y", false), "FS_FAILED not-utf8");
    stage.check(read("b"), "FS_FAILED not-utf8");
}

#[test]
fn folders_are_made_listed_moved_and_removed() {
    let stage = Stage::new();
    stage.check(mkdir("d/e"), "null");
    stage.check(mkdir("d/e"), "null");
    stage.check(write("d/e/f", "12"), r#"{"size":2}"#);
    stage.check(mkdir("d/e/f"), "FS_FAILED not-a-folder");
    stage.check(
        list("d", true),
        r#"{"entries":[{"name":"e","path":"d/e","kind":"dir","size":0},{"name":"f","path":"d/e/f","kind":"file","size":2}],"truncated":false}"#,
    );
    stage.check(list("d/e/f", false), "FS_FAILED not-a-folder");
    stage.check(read("d"), "FS_FAILED is-a-folder");
    stage.check(write("d", "x"), "FS_FAILED is-a-folder");
    stage.check(write(".", "x"), "FS_FAILED is-a-folder");
    stage.check(copy("d/e/f", "g"), r#"{"size":2}"#);
    stage.check(rename("d", "d/e/x"), "FS_FAILED into-itself");
    stage.check(rename("d/e", "h"), "null");
    stage.check(rename("g", "h/f"), "null");
    stage.check(rename("h", "d"), "FS_FAILED exists");
    stage.check(delete("h"), "FS_FAILED is-a-folder");
    stage.check(delete_dir("h", false), "FS_FAILED not-empty");
    stage.check(delete_dir("h", true), r#"{"removed":2}"#);
    stage.check(delete_dir(".", true), "FS_FAILED is-the-root");
    stage.check(delete_dir("d", false), r#"{"removed":1}"#);
    stage.check(list(".", true), r#"{"entries":[],"truncated":false}"#);
    stage.check(FileRequest::Workspace, r#"{"path":".","used":0,"quota":268435456}"#);
}

#[test]
fn text_is_found_cut_and_sorted() {
    let stage = Stage::new();
    stage.check(mkdir("s/t"), "null");
    stage.check(write("s/a.csv", "b,10\nä,9\nb,10\n"), r#"{"size":15}"#);
    stage.check(write("s/t/b.txt", "bb"), r#"{"size":2}"#);
    std::fs::write(stage.workspace().join("s/bin"), [0xff, b'b']).unwrap();
    stage.check(
        grep("s/a.csv", "9$"),
        r#"{"matches":[{"line":2,"column":3,"text":"ä,9"}],"truncated":false}"#,
    );
    stage.check(grep("s/a.csv", "("), "FS_FAILED bad-pattern");
    stage.check(grep("s/a.csv", "((((a{100}){100}){100}){100})"), "FS_FAILED bad-pattern");
    let find = |glob: &str| FileRequest::Find { path: "s".to_owned(), glob: glob.to_owned(), kind: None };
    stage.check(find("*.txt"), r#"{"paths":["s/t/b.txt"],"truncated":false}"#);
    stage.check(find("t/*"), r#"{"paths":["s/t/b.txt"],"truncated":false}"#);
    let search = |limit| FileRequest::Search {
        path: "s".to_owned(),
        pattern: "B".to_owned(),
        glob: None,
        how: Matching { ignore_case: true, invert: false, limit },
    };
    stage.check(
        search(Some(1)),
        r#"{"matches":[{"path":"s/a.csv","line":1,"column":1,"text":"b,10"}],"truncated":true,"skipped":0}"#,
    );
    assert!(stage.ask(search(None)).unwrap().ends_with(r#""truncated":false,"skipped":1}"#));
    let cut = |fields| FileRequest::Cut { path: "s/a.csv".to_owned(), delimiter: ",".to_owned(), fields };
    stage.check(cut(vec![2, 3]), r#"{"rows":[["10",""],["9",""],["10",""]],"truncated":false}"#);
    stage.check(cut(vec![0]), "FS_FAILED bad-argument");
    // A field asked for a thousand times is not copied a thousand times before anybody looks.
    stage.check(write("s/long.csv", &"x".repeat(1 << 20)), r#"{"size":1048576}"#);
    let often =
        FileRequest::Cut { path: "s/long.csv".to_owned(), delimiter: ",".to_owned(), fields: vec![1; 1000] };
    stage.check(often, "FS_FAILED too-large");
    stage.check(delete("s/long.csv"), "null");
    let sort = FileRequest::Sort {
        path: "s/a.csv".to_owned(),
        numeric: true,
        reverse: false,
        unique: true,
        field: Some((2, ",".to_owned())),
    };
    stage.check(sort, r#"{"lines":["ä,9","b,10"],"truncated":false}"#);
}

#[test]
fn policy_is_asked_first() {
    let stage = Stage::with("fileRead: true\nfileWrite: true\nbasePath: in", Quota::USUAL);
    stage.check(mkdir("in"), "null");
    stage.check(write("in/a", "1"), r#"{"size":1}"#);
    stage.check(write("in/b", "2"), r#"{"size":1}"#);
    stage.check(write("out", "x"), "FS_DENIED outside-base-path");
    stage.check(copy("in/a", "out"), "FS_DENIED outside-base-path");
    assert!(stage.ask(delete("in/a")).unwrap_err().starts_with("FS_DENIED"));
    assert!(stage.ask(rename("in/a", "in/b")).unwrap_err().starts_with("FS_DENIED"));
    stage.check(read("in/b"), "2");
    std::fs::write(stage.workspace().join("hidden"), "h").unwrap();
    std::os::unix::fs::symlink("../hidden", stage.workspace().join("in/link")).unwrap();
    stage.check(read("in/link"), "FS_FAILED leads-out");
    stage.check(FileRequest::Roots, r#"[{"path":"in","writable":true}]"#);
}

#[test]
fn listings_and_files_have_their_caps() {
    let stage = Stage::new();
    for number in 0..=10_000 {
        std::fs::write(stage.workspace().join(number.to_string()), "").unwrap();
    }
    let listed: serde_json::Value = serde_json::from_str(&stage.ask(list(".", false)).unwrap()).unwrap();
    assert_eq!((listed["entries"].as_array().unwrap().len(), &listed["truncated"]), (10_000, &true.into()));
    stage.check(write("big", &"x".repeat((10 << 20) + 1)), "FS_FAILED too-large");
    std::fs::File::create(stage.workspace().join("big")).unwrap().set_len((10 << 20) + 1).unwrap();
    stage.check(read("big"), "FS_FAILED too-large");
    stage.check(mkdir(&vec!["d"; 64].join("/")), "null");
    stage.check(mkdir(&vec!["d"; 65].join("/")), "FS_FAILED too-deep");
    stage.check(mkdir("e/f"), "null");
    stage.check(rename("d", "e/f/d"), "FS_FAILED too-deep");
}
