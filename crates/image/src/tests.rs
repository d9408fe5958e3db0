//! Names, digests and documents.

use crate::manifest::{Document, chain, pick, read_config};
use crate::{Digest, Reference};

#[track_caller]
fn check(text: &str, shown: &str, registry: &str, asked: &str) {
    let reference: Reference = text.parse().expect(text);
    assert_eq!(reference.to_string(), shown, "{text}");
    assert_eq!(reference.registry(), registry, "{text}");
    assert_eq!(format!("{}:{}", reference.repository(), reference.wanted()), asked, "{text}");
    assert_eq!(shown.parse::<Reference>().expect(shown), reference, "{text} does not read back");
}

#[test]
fn a_name_is_as_short_as_it_can_be_and_asked_for_in_full() {
    const HUB: &str = "registry-1.docker.io";
    check("debian", "debian:latest", HUB, "library/debian:latest");
    check("debian:12", "debian:12", HUB, "library/debian:12");
    check("docker.io/library/debian:12", "debian:12", HUB, "library/debian:12");
    check("index.docker.io/team/tool", "team/tool:latest", HUB, "team/tool:latest");
    check("ghcr.io/a/b/c:v1.0", "ghcr.io/a/b/c:v1.0", "ghcr.io", "a/b/c:v1.0");
    check("localhost/x", "localhost/x:latest", "localhost", "x:latest");
    check("LOCALHOST:5000/x", "localhost:5000/x:latest", "localhost:5000", "x:latest");
    check("127.0.0.1:80/x:y", "127.0.0.1:80/x:y", "127.0.0.1:80", "x:y");
    check("[::1]:5000/x:y", "[::1]:5000/x:y", "[::1]:5000", "x:y");
    let digest = Digest::of(b"x");
    let pinned = format!("debian@{digest}");
    check(&pinned, &pinned, HUB, &format!("library/debian:{digest}"));
    let both = format!("debian:12@{digest}");
    check(&both, &both, HUB, &format!("library/debian:{digest}"));
}

#[test]
fn what_could_be_something_else_than_a_name_is_none() {
    let long = "a".repeat(256);
    let names = [
        "",
        "/",
        "a/",
        "/a",
        "..",
        "../a",
        "a/../b",
        "a//b",
        ".a",
        "a.",
        "a..b",
        "a___b",
        "A",
        "a b",
        "a\n",
        "a:",
        "a:-x",
        "a:b:c",
        "a:b/c",
        "a@sha256:00",
        "a@md5:0",
        "registry.example:0/a",
        "registry.example:99999/a",
        "registry.example:+80/a",
        "registry..example/a",
        "-x.example/a",
        "[::1/a",
        "[x]:1/a",
        "host:/a",
        "a%2e/b",
        "user@host.example/a",
        "http://host.example/a",
        "host.example/a?b",
        "host.example/a#b",
        &long,
    ];
    for name in names {
        assert!(name.parse::<Reference>().is_err(), "`{name}` was taken for a name");
    }
}

#[test]
fn a_digest_is_written_in_one_way_only() {
    let digest = Digest::of(b"");
    assert_eq!(digest.to_string(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(digest.to_string().parse::<Digest>().expect("reads back"), digest);
    let upper = digest.to_string().to_uppercase();
    for wrong in ["sha256:", "sha512:00", &upper, "sha256:../../etc/passwd", &format!("{digest}0")] {
        assert!(wrong.parse::<Digest>().is_err(), "`{wrong}`");
    }
}

#[test]
fn a_document_that_could_be_two_kinds_is_neither() {
    let part = format!(r#"{{"digest": "{}", "size": 1}}"#, Digest::of(b"x"));
    let refused = [
        format!(r#"{{"schemaVersion": 2, "manifests": [], "config": {part}, "layers": []}}"#),
        format!(r#"{{"schemaVersion": 2, "manifests": [], "layers": [{part}]}}"#),
        format!(r#"{{"schemaVersion": 1, "config": {part}, "layers": []}}"#),
        r#"{"schemaVersion": 2}"#.to_owned(),
        format!(r#"{{"schemaVersion": 2, "config": {part}, "config": {part}, "layers": []}}"#),
    ];
    for text in refused {
        assert!(Document::read("it", text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn of_an_index_the_one_that_runs_here_is_picked() {
    let entry = |os: &str, architecture: &str, content: &str| {
        let digest = Digest::of(content.as_bytes());
        format!(
            r#"{{"digest": "{digest}", "size": 1, "platform": {{"os": "{os}", "architecture": "{architecture}"}}}}"#
        )
    };
    let here = crate::manifest::ARCHITECTURE;
    let all = [
        entry("windows", here, "a"),
        entry("linux", "s390x", "b"),
        entry("linux", here, "c"),
        entry("linux", here, "d"),
    ];
    let text = format!(r#"{{"schemaVersion": 2, "manifests": [{}]}}"#, all.join(","));
    let Ok(Document::Index(manifests)) = Document::read("it", text.as_bytes()) else { panic!("no index") };
    assert_eq!(pick(&manifests).expect("one fits").digest, Digest::of(b"c"));
    let others = manifests.get(..2).expect("two");
    let said = pick(others).expect_err("none fits").to_string();
    assert!(said.contains("windows/") && said.contains("linux/s390x"), "{said}");
}

#[test]
fn the_name_of_a_tree_follows_from_its_layers_in_order() {
    let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
    assert_eq!(chain(&[a]), a);
    assert_eq!(chain(&[a, b]), Digest::of(format!("{a} {b}").as_bytes()));
    assert_ne!(chain(&[a, b]), chain(&[b, a]));
}

#[test]
fn a_config_is_read_and_its_oddities_refused() {
    let here = crate::manifest::ARCHITECTURE;
    let config = |inner: &str| {
        format!(
            r#"{{"os": "linux", "architecture": "{here}", "config": {inner}, "rootfs": {{"type": "layers", "diff_ids": []}}}}"#
        )
    };
    let (read, _) = read_config(config(r#"{"Env": ["A=b=c"], "Cmd": null, "WorkingDir": ""}"#).as_bytes())
        .expect("reads");
    assert_eq!(read.env, [("A".to_owned(), "b=c".to_owned())]);
    assert_eq!(read.workdir, None);
    for inner in [
        r#"{"Env": ["novalue"]}"#,
        r#"{"Env": ["=x"]}"#,
        "{\"Env\": [\"A=\\u0000\"]}",
        "{\"User\": \"\\u0000\"}",
    ] {
        assert!(read_config(config(inner).as_bytes()).is_err(), "{inner}");
    }
    let many: Vec<_> = (0..2000).map(|number| format!("\"A{number}=x\"")).collect();
    assert!(read_config(config(&format!(r#"{{"Env": [{}]}}"#, many.join(","))).as_bytes()).is_err());
}
