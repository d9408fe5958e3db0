use std::path::Path;

use super::read;

/// A tree of specs with two areas' cases and one backend.
#[expect(clippy::disallowed_methods, reason = "files of a test's own")]
fn tree(verdicts: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (area, _) in super::AREAS {
        for case in ["one", "two", "three"] {
            write(&format!("commands/{area}/{case}/case.toml"), "");
        }
    }
    write("backends/none.toml", "cases = [\"fs/one\"]");
    write("backends/strong.toml", &format!("tier = \"MICRO_VM\"\nabout = \"A wall.\"\n{verdicts}"));
    write("backends/weak.toml", "tier = \"PROCESS\"\nabout = \"A fence.\"");
    folder
}

#[track_caller]
fn check_refused(verdicts: &str, why: &str) {
    let told = read(tree(verdicts).path()).unwrap_err().to_string();
    assert!(told.contains(why) && told.contains("specs/backends/strong.toml"), "{told}");
}

fn written(specs: &Path) -> String {
    read(specs).unwrap().written()
}

#[test]
fn what_holds_is_what_is_neither_decided_before_nor_excepted() {
    let verdicts = "[[except]]\ncases = [\"fs/two\", \"escape/one\", \"escape/two\"]\nverdict = \"does not apply\"\nwhy = \"so\"\n";
    let page = written(tree(verdicts).path());
    for line in [
        "| cases | | all | before a backend | `weak` | `strong` |",
        "| 3 | 1 | 2 hold | 1 hold, 1 does not apply |",
        "| 3 | 0 | 3 hold | 1 hold, 2 do not apply |",
        "| does not apply | so | `fs/two`, `escape/one`, `escape/two` |",
        "## `weak` (PROCESS)\n\nA fence.\n\nEvery case holds.",
    ] {
        assert!(page.contains(line), "{line} is not in {page}");
    }
}

#[test]
fn all_of_an_area_are_excepted_by_one_name() {
    let verdicts = "[[except]]\ncases = [\"fs/*\"]\nverdict = \"does not apply\"\nwhy = \"so\"\n";
    let page = written(tree(verdicts).path());
    for line in ["| 3 | 1 | 2 hold | 2 do not apply |", "| does not apply | so | `fs/*` |"] {
        assert!(page.contains(line), "{line} is not in {page}");
    }
    let apart =
        format!("{verdicts}[[except]]\ncases = [\"fs/two\"]\nverdict = \"does not hold\"\nwhy = \"so\"\n");
    let page = written(tree(&apart).path());
    assert!(page.contains("| 3 | 1 | 2 hold | 1 does not apply, 1 does not hold |"), "{page}");
}

#[test]
fn a_file_that_names_what_is_not_there_makes_no_page() {
    let except =
        |case: &str| format!("[[except]]\ncases = [\"{case}\"]\nverdict = \"does not hold\"\nwhy = \"so\"\n");
    check_refused(&except("fs/four"), "there is no case `fs/four`");
    check_refused(&except("fs/one"), "`fs/one` is decided before a backend is asked");
    check_refused(&format!("{0}{0}", except("fs/two")), "`fs/two` is named twice");
    check_refused("[[except]]\ncases = []\nverdict = \"does not hold\"\n", "it lacks `why`");
    check_refused("[[except", "specs/backends/strong.toml");
}
