//! Diffs, and patches that git takes.

use std::process::{Command, Stdio};
use std::time::Duration;

use bailiwick_overlay::{Body, DiffBounds};
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, Tree, changes, shell};

tests!(
    git_applies_what_a_diff_says,
    what_is_no_text_is_told_by_name_and_size,
    a_diff_is_bounded,
    a_diff_has_a_shape_for_programs,
);

fn git_applies_what_a_diff_says() {
    requires!("overlayfs", place::is_possible());
    requires!("git", Command::new("git").arg("--version").output().is_ok());
    let lines = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo line $i; done";
    let mut place = Place::new(&format!(
        "{lines} > long; printf 'no end' > short; mkdir -p d/e; printf 'x\\n' > d/x; printf 'y\\n' > 'd/e/with blank'
         printf 'r\\n' > run; chmod 755 run; ln -s long l; printf 'g\\n' > gone; : > empty; printf 'cr\\r\\rmid\\n' > cr"
    ));
    place.inside(
        "sed -i -e 's/line 2$/zwei/' -e '19d' long; printf ' now' >> short; printf 'z\\n' > d/e/z; rm d/x
         printf 'more\\n' >> 'd/e/with blank'; chmod 644 run; rm l; ln -s d l; rm gone; mkdir gone; printf '1\\n' > gone/1
         rm empty; : > 'new \"empty\"'; printf '#!/bin/sh\\n' > tool; chmod 755 tool; printf 'é\\n' > 'tab	é'
         printf 'cr\\r\\rend\\n' > cr; mv d/e d/f",
    );
    let view = place.view();
    let patch = view.diff(&changes(&view), DiffBounds::default()).expect("a diff").patch();
    let copy = tempfile::tempdir().expect("a folder");
    shell(copy.path(), &format!("cp -a {}/. .", place.lower().display()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), &patch).expect("written");
    let mut git = Command::new("git");
    git.args(["apply", "--whitespace=nowarn"]).arg(file.path()).current_dir(copy.path());
    git.env("GIT_CEILING_DIRECTORIES", "/").stdin(Stdio::null());
    let output = git.output().expect("git runs");
    assert!(output.status.success(), "{}\n{patch}", String::from_utf8_lossy(&output.stderr));
    // Git keeps no empty folders.
    let content = |tree: Tree| -> Tree { tree.into_iter().filter(|(_, entry)| entry.0 != 'd').collect() };
    assert_eq!(content(place::tree(copy.path())), content(place.seen()), "{patch}");
}

fn what_is_no_text_is_told_by_name_and_size() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::new("printf 'a\\0b' > bin; printf 'text\\n' > t");
    place.inside("printf 'a\\0bc' > bin; printf '\\377\\n' > latin; chmod 600 t; mkdir m; ln -s t l; printf 'ok\\n' > ok");
    let view = place.view();
    let diff = view.diff(&changes(&view), DiffBounds::default()).expect("a diff");
    let patch = diff.patch();
    let expected = "# binary, 3 -> 4 bytes: bin\n\
        diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1,1 @@\n+t\n\\ No newline at end of file\n\
        # binary, 0 -> 2 bytes: latin\n\
        # folder added: m\n\
        diff --git a/ok b/ok\nnew file mode 100644\n--- /dev/null\n+++ b/ok\n@@ -0,0 +1,1 @@\n+ok\n\
        # mode 0644 -> 0600: t\n";
    assert_eq!(patch, expected);
}

fn a_diff_is_bounded() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::new("true");
    place.inside("for i in 1 2 3 4 5; do yes line | head -n 100 > n$i; done; yes | head -c 5000 > big");
    let view = place.view();
    let bounds = DiffBounds { file: 4000, output: 1300, time: Duration::from_secs(5) };
    let diff = view.diff(&changes(&view), bounds).expect("a diff");
    assert!(matches!(diff.files[0].parts[0].body, Body::TooLarge));
    assert_eq!(diff.without_lines, 3, "two of six hundred bytes fit");
    let patch = diff.patch();
    assert!(patch.len() < 3000 && patch.contains("# 3 files are without their lines"), "{patch}");
    // Two texts that have nothing in common, of many lines, are the worst there is to compare.
    let mut place = Place::new("seq 1 40000 > worst");
    place.inside("seq 40001 80000 | sort -R > worst");
    let view = place.view();
    let bounds = DiffBounds { time: Duration::ZERO, ..DiffBounds::default() };
    let diff = view.diff(&changes(&view), bounds).expect("a diff");
    let Body::Text { added, removed, .. } = diff.files[0].parts[0].body else { panic!("text") };
    assert_eq!((added, removed), (40000, 40000));
}

fn a_diff_has_a_shape_for_programs() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::new("printf 'one\\n' > a");
    place.inside("printf 'two\\n' > a; mkdir -p .git/hooks; printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit");
    let view = place.view();
    let diff = view.diff(&changes(&view), DiffBounds::default()).expect("a diff");
    let json = serde_json::to_value(&diff).expect("it is one");
    let hook = &json["files"][2];
    assert_eq!(hook["path"], ".git/hooks/pre-commit");
    assert_eq!(hook["sensitive"], serde_json::json!(["git", "executable"]));
    let file = &json["files"][3];
    let expected = serde_json::json!({
        "path": "a", "what": "changed",
        "before": {"kind": "file", "mode": 0o644, "size": 4},
        "after": {"kind": "file", "mode": 0o644, "size": 4,
            "sha256": "27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a"},
        "parts": [{"does": "modify",
            "body": {"form": "text", "hunks": "@@ -1,1 +1,1 @@\n-one\n+two\n", "added": 1, "removed": 1}}]
    });
    assert_eq!(*file, expected);
}
