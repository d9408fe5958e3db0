use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::layers::LAYERS;
use super::{Report, over, rules};
use crate::disk;

#[expect(clippy::disallowed_methods, reason = "a test lays out its own temporary folder")]
fn write(root: &Path, path: &str, text: &[u8]) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// What was found, each as `path:line: [rule]`.
fn places(report: &Report) -> Vec<String> {
    report.findings.iter().map(|found| format!("{}:{}: [{}]", found.path, found.line, found.rule)).collect()
}

#[test]
fn a_bad_workspace_is_told_everything_that_is_wrong_with_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let long = format!("//! Long.\n{}", "fn f() {}\n".repeat(600));
    let files: &[(&str, &str)] = &[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        (
            "crates/types/Cargo.toml",
            "[package]\nname = \"bailiwick-types\"\n\n[dependencies]\nbailiwick-policy.workspace = true\ntokio = \"1\"\n",
        ),
        ("crates/types/src/lib.rs", "pub mod clock;\n"),
        ("crates/types/src/clock.rs", "use std::time::Instant;\n"),
        ("crates/types/src/long.rs", &long),
        ("crates/types/src/utils.rs", "//! Vague.\n"),
        (
            "crates/types/src/habits.rs",
            "//! Bad ones.\n\nfn f() {\n    unsafe { g() }\n    println!(\"a\");\n    todo!() // FIXME\n}\n\n\
             #[allow(dead_code)]\nfn h() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    fn a() {}\n}\n",
        ),
        ("fuzz/fuzz_targets/frame.rs", "//! Half.\nfn f( {\n"),
        // Nothing of this is ours.
        ("target/debug/build/out.rs", "todo!()"),
        ("fuzz/Cargo.toml", "[package]\nname = \"fuzz\"\n"),
        ("fuzz/target/out.rs", "todo!()"),
        ("studio/node_modules/a/build.rs", "todo!()"),
        (".git/hooks/a.rs", "todo!()"),
        ("README.md", "TODO"),
    ];
    for (path, text) in files {
        write(root, path, text.as_bytes());
    }
    write(root, "crates/types/src/bytes.rs", b"//! \xff\n");
    // A module of that name is not a build folder.
    write(root, "crates/types/src/target/a.rs", b"fn f() {}\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("habits.rs", root.join("crates/types/src/link.rs")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", root.join("crates/types/src/up")).unwrap();

    let report = over(root).unwrap();
    assert_eq!(
        places(&report),
        [
            "crates/types/Cargo.toml:5: [layering]",
            "crates/types/Cargo.toml:6: [purity]",
            "crates/types/src/bytes.rs:1: [unreadable]",
            "crates/types/src/clock.rs:1: [module-doc]",
            "crates/types/src/clock.rs:1: [purity]",
            "crates/types/src/habits.rs:4: [unsafe]",
            "crates/types/src/habits.rs:5: [print]",
            "crates/types/src/habits.rs:6: [unfinished]",
            "crates/types/src/habits.rs:6: [unfinished]",
            "crates/types/src/habits.rs:9: [allow-reason]",
            "crates/types/src/habits.rs:13: [inline-tests]",
            "crates/types/src/habits.rs:15: [ignored-test]",
            "crates/types/src/lib.rs:1: [crate-doc]",
            "crates/types/src/long.rs:601: [long-file]",
            "crates/types/src/target/a.rs:1: [module-doc]",
            "crates/types/src/utils.rs:1: [vague-name]",
            "fuzz/fuzz_targets/frame.rs:2: [unreadable]",
        ]
    );
    let reported: BTreeSet<&str> = report.findings.iter().map(|found| found.rule).collect();
    assert_eq!(reported, rules::ids(), "a rule that this workspace does not break is not tested here");
    assert_eq!(report.lines().last().unwrap(), "tidy: 11 files, 17 findings");
    assert_eq!(
        report.lines().next().unwrap(),
        "crates/types/Cargo.toml:5: [layering] `types` may not know `policy` (the words everybody shares stand on \
         nothing); turn the edge around with a trait or a type further down, or change the table of layers",
    );
}

#[test]
fn this_workspace_is_tidy() {
    let report = over(&disk::own_workspace()).unwrap();
    assert!(report.findings.is_empty(), "{}", report.lines().collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_layers_have_an_order() {
    let mut settled: Vec<&str> = Vec::new();
    while settled.len() < LAYERS.len() {
        let next = LAYERS.iter().find(|layer| {
            let below = LAYERS.iter().filter(|other| layer.allows(other.name));
            !settled.contains(&layer.name)
                && below.map(|other| other.name).all(|name| settled.contains(&name))
        });
        settled.push(next.expect("the table allows a circle").name);
    }
}

#[test]
fn the_table_of_layers_names_each_crate_once_and_no_crate_that_has_no_row() {
    use super::layers::{CONFINED, MayKnow, PURE, layer};
    let names: BTreeSet<&str> = LAYERS.iter().map(|layer| layer.name).collect();
    assert_eq!(names.len(), LAYERS.len());
    for row in LAYERS {
        let (MayKnow::Only(others) | MayKnow::AllBut(others)) = row.may_know;
        assert!(others.iter().all(|name| layer(name).is_some()), "in the row of {}", row.name);
    }
    assert!(PURE.iter().chain(CONFINED.iter().flat_map(|one| one.to)).all(|name| layer(name).is_some()));
}
