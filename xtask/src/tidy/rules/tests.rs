use crate::tidy;
use crate::tree::{Content, Tree};

/// Checks the files and expects the rule to be broken at exactly these places,
/// each as `path:line`. What other rules find is not looked at.
#[track_caller]
fn check_tree(rule: &str, files: &[(&str, &str)], expected: &[&str]) {
    let mut tree = Tree::default();
    for &(path, text) in files {
        tree.insert(path, Content::Text(text.to_owned()));
    }
    let report = tidy::check(&tree);
    let found: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| finding.rule == rule)
        .map(|finding| format!("{}:{}", finding.path, finding.line))
        .collect();
    assert_eq!(found, expected, "[{rule}] over {files:#?}, all in all {:#?}", report.findings);
}

/// The same for one file: the rule is broken on exactly these lines.
#[track_caller]
fn check_at(rule: &str, path: &str, text: &str, lines: &[usize]) {
    let expected: Vec<String> = lines.iter().map(|line| format!("{path}:{line}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check_tree(rule, &[(path, text)], &expected);
}

/// The same for a file of no particular place.
#[track_caller]
fn check(rule: &str, text: &str, lines: &[usize]) {
    check_at(rule, "crates/core/src/call.rs", text, lines);
}

const ROOT: &str = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n";

/// A workspace of one crate, whose manifest goes on from line 3.
#[track_caller]
fn check_manifest(rule: &str, package: &str, rest: &str, lines: &[usize]) {
    let manifest = format!("[package]\nname = \"{package}\"\n{rest}");
    let expected: Vec<String> = lines.iter().map(|line| format!("crates/one/Cargo.toml:{line}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check_tree(rule, &[("Cargo.toml", ROOT), ("crates/one/Cargo.toml", &manifest)], &expected);
}

#[test]
fn a_file_that_does_not_lex_is_a_finding_on_its_line() {
    check("unreadable", "fn f() {}\n", &[]);
    check("unreadable", "//! a\nfn f() {\n", &[2]);
    check("unreadable", "fn f() }\n", &[1]);
    check("unreadable", "//! a\n\nlet s = \"a;\n", &[3]);
    check("unreadable", "#!/usr/bin/env run\n//! a\nfn f() {}\n", &[]);
    check("unreadable", "\u{feff}//! a\n", &[]);
}

#[test]
fn a_manifest_that_is_no_toml_is_a_finding_on_its_line() {
    check_tree("unreadable", &[("Cargo.toml", "[workspace]\nmembers = [\n\n")], &["Cargo.toml:2"]);
    check_tree("unreadable", &[("Cargo.toml", "[workspace]\na b\n")], &["Cargo.toml:2"]);
    check_tree("unreadable", &[("Cargo.toml", ROOT)], &[]);
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding() {
    let mut tree = Tree::default();
    tree.insert("src/a.rs", Content::Unreadable { why: "not UTF-8".to_owned() });
    let report = tidy::check(&tree);
    let lines: Vec<String> = report.lines().collect();
    assert_eq!(
        lines,
        [
            "src/a.rs:1: [unreadable] it cannot be read: not UTF-8; make it a readable UTF-8 file, or remove it",
            "tidy: 1 files, 1 findings",
        ]
    );
}

#[test]
fn a_file_over_600_lines_is_long() {
    let line = "//! a\n";
    check("long-file", &line.repeat(600), &[]);
    check("long-file", &line.repeat(601), &[601]);
    check("long-file", &"\n".repeat(601), &[601]);
    check_at("long-file", "crates/core/src/call/tests.rs", &line.repeat(601), &[]);
    check_at("long-file", "crates/core/tests/it/call.rs", &line.repeat(601), &[]);
    check_at("long-file", "crates/core/benches/call.rs", &line.repeat(601), &[]);
    check_at("long-file", "crates/core/src/my_tests.rs", &line.repeat(601), &[601]);
}

#[test]
fn test_items_do_not_make_a_file_long() {
    let code = "fn f() {}\n".repeat(600);
    let tests = "#[cfg(test)]\nmod tests {\n    fn a() {}\n}\n";
    check("long-file", &format!("{code}{tests}"), &[]);
    check("long-file", &format!("{tests}{code}"), &[]);
    check("long-file", &format!("{tests}{code}fn g() {{}}\n"), &[605]);
    check("long-file", &format!("#[cfg(test)]\nuse a::{{\n    b,\n}};\n{code}"), &[]);
    check("long-file", &format!("#[cfg(all(unix, test))]\nfn g<A, B>() {{\n}}\n{code}"), &[]);
    check("long-file", &format!("#![cfg(test)]\n{code}"), &[]);
    check("long-file", &format!("#[cfg(not(test))]\nmod m {{\n}}\n{code}"), &[601]);
    check("long-file", &format!("#[cfg(any(test, unix))]\nmod m {{\n}}\n{code}"), &[601]);
    check("long-file", &format!("#[cfg(feature = \"test\")]\nmod m {{\n}}\n{code}"), &[601]);
}

#[test]
fn a_crate_starts_with_its_doc() {
    let crate_of = |manifest: &'static str, root: &'static str, text: &'static str| {
        [("Cargo.toml", ROOT), (manifest, "[package]\nname = \"bailiwick-types\"\n"), (root, text)]
    };
    let (manifest, lib, main) = ("crates/types/Cargo.toml", "crates/types/src/lib.rs", "xtask/src/main.rs");
    check_tree("crate-doc", &crate_of(manifest, lib, "pub fn f() {}\n"), &["crates/types/src/lib.rs:1"]);
    check_tree("crate-doc", &crate_of("xtask/Cargo.toml", main, "fn main() {}\n"), &["xtask/src/main.rs:1"]);
    check_tree("crate-doc", &crate_of(manifest, lib, "//! What it is.\npub fn f() {}\n"), &[]);
    check_tree(
        "crate-doc",
        &crate_of(manifest, lib, "#![no_std]\n//! Too late.\n"),
        &["crates/types/src/lib.rs:1"],
    );
    // Of no member, so a file like any other.
    check_tree("crate-doc", &crate_of("fuzz/Cargo.toml", "fuzz/src/lib.rs", "pub fn f() {}\n"), &[]);
    check_tree("module-doc", &crate_of(manifest, lib, "pub fn f() {}\n"), &[]);
}

#[test]
fn a_file_starts_with_its_doc() {
    check("module-doc", "fn f() {}\n", &[1]);
    check("module-doc", "", &[1]);
    check("module-doc", "// A comment.\nfn f() {}\n", &[1]);
    check("module-doc", "/// Of the function.\nfn f() {}\n", &[1]);
    check("module-doc", "//!\n//!   \nfn f() {}\n", &[1]);
    check("module-doc", "fn f() {}\nmod a {\n    //! Of the module.\n}\n", &[1]);
    check("module-doc", "//! What it is.\n", &[]);
    check("module-doc", "//!\n//! What it is.\n", &[]);
    check("module-doc", "// A licence.\n\n//! What it is.\n", &[]);
    check("module-doc", "/*! What it is. */\n", &[]);
    check("module-doc", "#![doc = include_str!(\"README.md\")]\n", &[]);
    check_at("module-doc", "fuzz/fuzz_targets/frame.rs", "fn f() {}\n", &[1]);
    check_at("module-doc", "crates/core/src/call/tests.rs", "fn f() {}\n", &[]);
    check_at("module-doc", "crates/core/tests/it/main.rs", "fn f() {}\n", &[]);
}

#[test]
fn an_edge_that_is_not_in_the_table_breaks_the_layering() {
    for (package, known, unknown) in [
        ("bailiwick-types", "serde", "bailiwick-document"),
        ("bailiwick-document", "bailiwick-types", "bailiwick-policy"),
        ("bailiwick-policy", "bailiwick-document", "bailiwick-redact"),
        ("bailiwick-redact", "bailiwick-types", "bailiwick-policy"),
        ("bailiwick-config", "bailiwick-policy", "bailiwick-redact"),
        ("bailiwick-sys", "bailiwick-types", "bailiwick-wire"),
        ("bailiwick-wire", "bailiwick-types", "bailiwick-sys"),
        ("bailiwick-cell", "bailiwick-wire", "bailiwick-policy"),
        ("bailiwick-gateway", "bailiwick-sandbox", "bailiwick-sandbox-process"),
        ("bailiwick-sandbox", "bailiwick-policy", "bailiwick-sandbox-process"),
        ("bailiwick-sandbox-gvisor", "bailiwick-sandbox", "bailiwick-sandbox-process"),
        ("bailiwick-sandbox-wasm", "bailiwick-wire", "bailiwick-policy"),
        ("bailiwick-core", "bailiwick-gateway", "bailiwick-sandbox-process"),
        ("bailiwick-mcp", "bailiwick-core", "bailiwick-http"),
        ("bailiwick-http", "bailiwick-core", "bailiwick-mcp"),
        ("bailiwick", "bailiwick-sandbox-process", "bailiwick-cli"),
        ("bailiwick", "bailiwick-mcp", "bailiwick-http"),
        ("bailiwick-cli", "bailiwick-http", "xtask"),
        ("bailiwick-cli", "bailiwick", "bailiwick-nonesuch"),
        ("bailiwick-testkit", "bailiwick-document", "bailiwick-policy"),
        ("xtask", "bailiwick-cli", "bailiwick-testkit"),
    ] {
        let rest = format!("[dependencies]\n{known}.workspace = true\n{unknown}.workspace = true\n");
        check_manifest("layering", package, &rest, &[5]);
        let rest = format!("[build-dependencies]\n{unknown} = {{ path = \"..\" }}\n");
        check_manifest("layering", package, &rest, &[4]);
    }
}

#[test]
fn an_edge_is_seen_however_it_is_written() {
    let package = "bailiwick-types";
    check_manifest("layering", package, "[dependencies.bailiwick-policy]\nworkspace = true\n", &[3]);
    check_manifest(
        "layering",
        package,
        "[dependencies]\np = { path = \"..\", package = \"bailiwick-policy\" }\n",
        &[4],
    );
    check_manifest(
        "layering",
        package,
        "[target.'cfg(unix)'.dependencies]\nbailiwick-sys.workspace = true\n",
        &[4],
    );
    check_manifest(
        "layering",
        package,
        "[dependencies]\nbailiwick-policy = { workspace = true, optional = true }\n",
        &[4],
    );
    // `package` here would be another crate's rename; the key is from outside.
    check_manifest(
        "layering",
        package,
        "[dependencies]\nbailiwick-policy = { package = \"serde\", version = \"1\" }\n",
        &[],
    );
    check_manifest("layering", package, "# [dependencies]\n# bailiwick-policy.workspace = true\n", &[]);
    check_manifest("layering", package, "[features]\nbailiwick-policy = []\n", &[]);
    let root = format!(
        "{ROOT}[workspace.dependencies]\np = {{ path = \"crates/policy\", package = \"bailiwick-policy\" }}\n"
    );
    let manifest = "[package]\nname = \"bailiwick-types\"\n[dependencies]\np.workspace = true\n";
    check_tree(
        "layering",
        &[("Cargo.toml", &root), ("crates/types/Cargo.toml", manifest)],
        &["crates/types/Cargo.toml:4"],
    );
}

#[test]
fn the_testkit_is_a_dev_dependency_of_anybody_and_nothing_more() {
    for package in ["bailiwick-types", "bailiwick-sandbox-wasm", "bailiwick-cli", "bailiwick", "xtask"] {
        check_manifest("layering", package, "[dev-dependencies]\nbailiwick-testkit.workspace = true\n", &[]);
        check_manifest("layering", package, "[dependencies]\nbailiwick-testkit.workspace = true\n", &[4]);
        check_manifest(
            "layering",
            package,
            "[build-dependencies]\nbailiwick-testkit.workspace = true\n",
            &[4],
        );
    }
    // So is that of backends, for them.
    let kit = "bailiwick-testkit-sandbox.workspace = true\n";
    let backend = "bailiwick-sandbox-gvisor";
    check_manifest("layering", backend, &format!("[dev-dependencies]\n{kit}"), &[]);
    check_manifest("layering", backend, &format!("[dependencies]\n{kit}"), &[4]);
    check_manifest("layering", "bailiwick-types", &format!("[dev-dependencies]\n{kit}"), &[4]);
    // So is what a backend stands behind, for its tests alone.
    let behind = "bailiwick-sandbox-process.workspace = true\n";
    let wasm = "bailiwick-sandbox-wasm";
    check_manifest("layering", wasm, &format!("[dev-dependencies]\n{behind}"), &[]);
    check_manifest("layering", wasm, &format!("[dependencies]\n{behind}"), &[4]);
    check_manifest("layering", "bailiwick-sandbox-gvisor", &format!("[dev-dependencies]\n{behind}"), &[4]);
    check_manifest(
        "layering",
        "bailiwick-policy",
        "[dev-dependencies]\nbailiwick-types.workspace = true\n",
        &[],
    );
    check_manifest(
        "layering",
        "bailiwick-policy",
        "[dev-dependencies]\nbailiwick-core.workspace = true\n",
        &[4],
    );
}

#[test]
fn a_crate_without_a_row_is_a_finding() {
    check_manifest("layering", "bailiwick-telemetry", "", &[1]);
    check_manifest("layering", "telemetry", "", &[1]);
    check_manifest("layering", "bailiwick-types", "", &[]);
}

#[test]
fn only_members_of_the_workspace_are_held_to_the_layering() {
    let stray = "[package]\nname = \"stray\"\n";
    for (members, expected) in [
        ("members = [\"crates/*\"]", true),
        ("members = [\"./crates/one/\"]", true),
        ("members = [\"crates/o*\"]", true),
        ("members = [\"crates/t*\"]", false),
        ("members = [\"*\"]", false),
        ("members = [\"crates/*/*\"]", false),
        ("members = [\"crates/*\"]\nexclude = [\"crates/one\"]", false),
    ] {
        let root = format!("[workspace]\n{members}\n");
        let expected: &[&str] = if expected { &["crates/one/Cargo.toml:1"] } else { &[] };
        check_tree("layering", &[("Cargo.toml", &root), ("crates/one/Cargo.toml", stray)], expected);
    }
    check_tree("layering", &[("Cargo.toml", stray)], &["Cargo.toml:1"]);
}

#[test]
fn a_pure_crate_depends_on_nothing_that_does_io() {
    let rest =
        "[dependencies]\nserde = \"1\"\ntokio = \"1\"\nasync-trait.workspace = true\nasynchronous = \"1\"\n";
    for package in ["bailiwick-types", "bailiwick-policy", "bailiwick-document"] {
        check_manifest("purity", package, rest, &[5, 6]);
    }
    check_manifest("purity", "bailiwick-gateway", rest, &[]);
    for dependency in
        ["reqwest", "hyper", "hyper-util", "tokio-util", "rusqlite", "socket2", "rustix", "nix", "libc"]
    {
        check_manifest(
            "purity",
            "bailiwick-policy",
            &format!("[dependencies]\n{dependency} = \"1\"\n"),
            &[4],
        );
        check_manifest(
            "purity",
            "bailiwick-policy",
            &format!("[dev-dependencies]\n{dependency} = \"1\"\n"),
            &[4],
        );
    }
    check_manifest(
        "purity",
        "bailiwick-policy",
        "[dependencies]\nt = { package = \"tokio\", version = \"1\" }\n",
        &[4],
    );
    check_manifest("purity", "bailiwick-policy", "[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n", &[4]);
    check_manifest(
        "purity",
        "bailiwick-policy",
        "[dependencies]\ntokio = { package = \"serde\", version = \"1\" }\n",
        &[],
    );
}

#[test]
fn a_heavy_crate_stays_in_its_home() {
    for (dependency, home) in [
        ("wasmtime", "bailiwick-sandbox-wasm"),
        ("wasmtime-wasi", "bailiwick-sandbox-wasm"),
        ("bollard", "bailiwick-sandbox-container"),
        ("kube", "bailiwick-sandbox-remote"),
        ("clap", "bailiwick-cli"),
        ("reqwest", "bailiwick-bench"),
        ("axum", "bailiwick-http"),
        ("rquickjs", "bailiwick-engine"),
        ("oxc_parser", "bailiwick-source"),
        ("seccompiler", "bailiwick-sys"),
    ] {
        let rest = format!("[dependencies]\n{dependency}.workspace = true\n");
        check_manifest("purity", home, &rest, &[]);
        check_manifest("purity", "bailiwick-core", &rest, &[4]);
        check_manifest("purity", "xtask", &rest, &[4]);
    }
    check_manifest(
        "purity",
        "bailiwick-core",
        "[dependencies]\nclap_complete = \"1\"\nkubelet = \"1\"\n",
        &[],
    );
}

#[track_caller]
fn check_pure_source(text: &str, lines: &[usize]) {
    for krate in ["types", "policy", "document"] {
        check_at("purity", &format!("crates/{krate}/src/a.rs"), text, lines);
    }
    check_at("purity", "crates/gateway/src/a.rs", text, &[]);
    check_at("purity", "crates/policy/src/a/tests.rs", text, &[]);
    check_at("purity", "crates/policy/tests/it/a.rs", text, &[]);
}

#[test]
fn a_pure_crate_names_nothing_that_looks_at_the_machine() {
    check_pure_source("fn f() {\n    std::fs::read(\"a\");\n}\n", &[2]);
    check_pure_source("use std::env;\nuse std::process::Command;\nuse ::std::thread::spawn;\n", &[1, 2, 3]);
    check_pure_source("use std::net::{IpAddr, TcpStream};\n", &[1]);
    check_pure_source(
        "use std::{\n    collections::BTreeMap,\n    net::{\n        Ipv4Addr,\n        UdpSocket as Socket,\n    },\n    fs,\n};\n",
        &[5, 7],
    );
    check_pure_source("type T = std::net::TcpListener;\ntype S = std::net::ToSocketAddrs;\n", &[1, 2]);
    check_pure_source("fn f(a: std::time::Instant) -> Option<std::time::SystemTime> {}\n", &[1, 1]);
    check_pure_source("macro_rules! m { () => { std::fs::read::<&str>(\"a\") } }\n", &[1]);
    check_pure_source("use std::os::unix::net::UnixStream;\n", &[1]);
    check_pure_source("const A: fn() = std\n    ::fs\n    ::read;\n", &[3]);
}

#[test]
fn a_pure_crate_imports_no_module_of_which_only_some_is_pure() {
    check_pure_source("use std::net;\n", &[1]);
    check_pure_source("use std::time::*;\n", &[1]);
    check_pure_source("use std::time::{self, Duration};\n", &[1]);
    check_pure_source("use std::*;\n", &[1]);
    check_pure_source("use std::{fmt, *};\n", &[1]);
}

#[test]
fn what_only_resembles_an_impure_path_is_fine() {
    check_pure_source("use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};\n", &[]);
    check_pure_source("use std::time::Duration;\nuse std::{fmt, time::Duration as D};\n", &[]);
    check_pure_source("//! std::fs\nconst A: &str = \"std::fs\"; // std::env\n", &[]);
    check_pure_source("use crate::fs;\nuse self::env::Instant;\nlet std = fs;\n", &[]);
    check_pure_source("const A: &str = env!(\"CARGO_PKG_VERSION\");\nuse core::net::IpAddr;\n", &[]);
    check_pure_source("use std::collections::*;\nuse std::fmt::{self, Write};\n", &[]);
    check_pure_source("#[cfg(test)]\nuse std::fs;\n#[cfg(test)]\nmod tests;\n", &[]);
    check_pure_source(
        "struct A {\n    #[cfg(test)]\n    at: std::time::Instant,\n    b: std::time::Instant,\n}\n",
        &[4],
    );
}

#[test]
fn the_unsafe_keyword_is_for_sys() {
    let text = "fn f() {\n    unsafe { g() }\n}\n#[unsafe(no_mangle)]\nunsafe impl Send for A {}\n";
    check("unsafe", text, &[2, 4, 5]);
    check_at("unsafe", "crates/core/src/call/tests.rs", text, &[2, 4, 5]);
    check_at("unsafe", "fuzz/fuzz_targets/frame.rs", text, &[2, 4, 5]);
    check_at("unsafe", "crates/system/src/lib.rs", text, &[2, 4, 5]);
    check_at("unsafe", "crates/sys/src/mount.rs", text, &[]);
    check_at("unsafe", "crates/sandbox-wasm/src/raw.rs", text, &[]);
    check_at("unsafe", "crates/sandbox-wasm/src/inside/run.rs", text, &[2, 4, 5]);
    check("unsafe", "macro_rules! m {\n    () => { unsafe {} };\n}\n", &[2]);
}

#[test]
fn what_only_resembles_the_unsafe_keyword_is_fine() {
    check("unsafe", "//! unsafe\nconst A: &str = \"unsafe\"; // unsafe { }\n/* unsafe */", &[]);
    check("unsafe", "#![forbid(unsafe_code)]\nfn r#unsafe(is_unsafe: u8, unsafe_: u8) {}\n", &[]);
    check("unsafe", "const A: &str = r#\"unsafe { }\"#;\n/// ```\n/// unsafe {}\n/// ```\nfn f() {}\n", &[]);
}

#[test]
fn no_test_is_ignored() {
    check("ignored-test", "#[test]\n#[ignore]\nfn f() {}\n", &[2]);
    check("ignored-test", "#[ignore = \"slow\"]\nfn f() {}\n", &[1]);
    check("ignored-test", "#[cfg_attr(miri, ignore)]\nfn f() {}\n", &[1]);
    check(
        "ignored-test",
        "#[cfg_attr(\n    all(unix, miri),\n    inline,\n    cfg_attr(foo, ignore = \"slow\"),\n)]\nfn f() {}\n",
        &[4],
    );
    check("ignored-test", "macro_rules! m {\n    () => { # [ ignore ] fn f() {} };\n}\n", &[2]);
    check_at("ignored-test", "crates/core/src/call/tests.rs", "#[test]\n#[ignore]\nfn f() {}\n", &[2]);
}

#[test]
fn what_only_resembles_an_ignored_test_is_fine() {
    check("ignored-test", "#[doc = \"ignore\"]\nfn ignore() { ignore() }\n", &[]);
    check("ignored-test", "#[doc(ignore)]\n#[serde(ignore)]\nfn f() {}\n", &[]);
    check("ignored-test", "/// #[ignore]\nfn f() {} // #[ignore]\nconst A: &str = \"#[ignore]\";\n", &[]);
    check("ignored-test", "#[cfg_attr(ignore, inline)]\nfn f() { [ignore]; }\n", &[]);
    check("ignored-test", "#[cfg_attr(unix, doc = \" ```ignore\")]\nfn f() {}\n", &[]);
    check("ignored-test", "#[ignore::me]\n#[r#ignore]\nfn f() {}\n", &[]);
}

#[test]
fn nothing_is_left_unfinished() {
    check("unfinished", "fn f() {\n    todo!()\n}\nfn g() { std::unimplemented!(\"a\") }\n", &[2, 4]);
    check("unfinished", "fn f() {} // TODO: more\n/* a\n FIXME(b) */\n/// XXX\nfn g() {}\n", &[1, 3, 4]);
    check("unfinished", "//! TODO\n", &[1]);
    check_at("unfinished", "crates/core/src/call/tests.rs", "// TODO\n", &[1]);
}

#[test]
fn what_only_resembles_unfinished_work_is_fine() {
    check("unfinished", "fn todo(todo: u8) -> bool { todo != (1) && unimplemented(todo) }\n", &[]);
    check("unfinished", "const A: &str = \"// TODO todo!()\"; // todo\n", &[]);
    check("unfinished", "// todo!() TODOS XXXL FIXME_LATER aTODO\nfn f() {}\n", &[]);
    check("unfinished", "const TODO: char = '\"'; const A: &str = r#\"\" // XXX \"#;\n", &[]);
    check("unfinished", "macro_rules! todo { () => {} }\n", &[]);
    check("unfinished", "#[doc = \"TODO\"]\nfn f() {}\n", &[]);
}

#[test]
fn only_the_doors_print() {
    let text = "fn f() {\n    println!();\n    print!(\"a\");\n    std::eprintln! { \"a\" }\n    eprint![\"a\"];\n    dbg!(1);\n}\n";
    check("print", text, &[2, 3, 4, 5, 6]);
    check_at("print", "crates/cli/src/main.rs", text, &[2, 3, 4, 5, 6]);
    check_at("print", "crates/cli/src/render/tests/a.rs", text, &[]);
    check_at("print", "crates/cli/src/render/table.rs", text, &[]);
    check_at("print", "crates/cli/src/render.rs", text, &[]);
    check_at("print", "xtask/src/output.rs", text, &[]);
    check_at("print", "xtask/src/main.rs", text, &[2, 3, 4, 5, 6]);
    check_at("print", "crates/cli/src/renderer.rs", text, &[2, 3, 4, 5, 6]);
    check_at("print", "crates/core/src/call/tests.rs", text, &[2, 3, 4, 5, 6]);
}

#[test]
fn what_only_resembles_printing_is_fine() {
    check("print", "// println!()\n/// println!();\nfn f() { \"println!()\"; }\n", &[]);
    check("print", "fn print(dbg: u8) -> bool { print(dbg) && dbg != (1) }\n", &[]);
    check("print", "fn f() { writeln!(out, \"a\"); my_println!(); r#println(); }\n", &[]);
    check("print", "#[expect(clippy::print_stdout, reason = \"println!\")]\nfn f() {}\n", &[]);
}

#[test]
fn a_name_says_what_is_in_it() {
    for name in ["common", "utils", "util", "helpers", "helper", "misc"] {
        let (file, folder) = (format!("crates/core/src/{name}.rs"), format!("crates/core/src/{name}/mod.rs"));
        let (other, found) = (format!("crates/core/src/{name}/a/b.rs"), format!("crates/core/src/{name}:1"));
        check_at("vague-name", &file, "", &[1]);
        check_tree("vague-name", &[(&folder, ""), (&other, "")], &[&found]);
    }
    check_tree("vague-name", &[("crates/core/tests/common/mod.rs", "")], &["crates/core/tests/common:1"]);
    check_tree("vague-name", &[("src/misc/util.rs", "fn f() {")], &["src/misc:1", "src/misc/util.rs:1"]);
}

#[test]
fn what_only_resembles_a_vague_name_is_fine() {
    check_at("vague-name", "crates/core/src/common_law.rs", "mod utils {}\n", &[]);
    check_at("vague-name", "crates/core/src/utility.rs", "fn helper() {}\n", &[]);
    check_tree("vague-name", &[("docs/misc/Cargo.toml", "")], &[]);
}

#[test]
fn tests_are_not_in_the_middle_of_the_code() {
    check("inline-tests", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n", &[2]);
    check("inline-tests", "#[cfg(test)] pub(crate) mod fixtures {}\n", &[1]);
    check(
        "inline-tests",
        "#[allow(a, reason = \"b\")]\n#[cfg(all(test, unix))]\n/// Doc.\n#[rustfmt::skip]\nmod t {}\n",
        &[5],
    );
    check("inline-tests", "mod a {\n    #[cfg(test)]\n    mod tests { }\n}\n", &[3]);
}

#[test]
fn what_only_resembles_inline_tests_is_fine() {
    check("inline-tests", "#[cfg(test)]\nmod tests;\nmod a {}\n", &[]);
    check("inline-tests", "mod tests {}\n#[cfg(not(test))]\nmod a {}\n#[cfg(unix)]\nmod b {}\n", &[]);
    check(
        "inline-tests",
        "#[cfg(test)]\nfn f() {}\n#[cfg(test)]\nimpl A {}\n#[cfg(test)]\nuse a::{b};\nmod c {}\n",
        &[],
    );
    check(
        "inline-tests",
        "//! #[cfg(test)] mod tests {}\nconst A: &str = \"#[cfg(test)] mod tests {}\";\n",
        &[],
    );
    check_at("inline-tests", "crates/core/src/call/tests.rs", "#[cfg(test)]\nmod more {}\n", &[]);
}

#[test]
fn an_exception_has_a_reason() {
    check("allow-reason", "#[allow(dead_code)]\nfn f() {}\n#[expect(clippy::panic)]\nfn g() {}\n", &[1, 3]);
    check("allow-reason", "#![allow(dead_code)]\n", &[1]);
    check("allow-reason", "#[expect(a, reason = \" \")]\nfn f() {}\n", &[1]);
    check("allow-reason", "#[allow(a, clippy::reason)]\nfn f() {}\n", &[1]);
    check("allow-reason", "#[cfg_attr(test, expect(a), allow(b, reason = \"c\"))]\nfn f() {}\n", &[1]);
    check_at("allow-reason", "crates/core/src/call/tests.rs", "#[allow(a)]\nfn f() {}\n", &[1]);
}

#[test]
fn what_has_a_reason_or_is_no_exception_is_fine() {
    check(
        "allow-reason",
        "#[allow(a, reason = \"b\")]\nfn f() {}\n#[expect(\n    a,\n    reason = r\"b\",\n)]\nfn g() {}\n",
        &[],
    );
    check("allow-reason", "#[cfg_attr(test, allow(a, reason = \"b\"))]\nfn f() {}\n", &[]);
    check(
        "allow-reason",
        "#[deny(a)]\n#[warn(b)]\n#[doc = \"#[allow(a)]\"]\nfn allow() { a.expect(\"b\") } // #[allow(a)]\n",
        &[],
    );
    check("allow-reason", "#[policy(allow(a))]\n#[my::allow(a)]\nfn f() {}\n", &[]);
}
