//! Builds the agent as a static program: it is started where nothing of this machine's libraries is.
//!
//! It is another build of crates of this workspace, with other flags, so it has a target folder of its own. Where it cannot be linked
//! (there is no static C library), the program is left out, and the backends that need it say so.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told everything by its environment, and starts the compiler"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the agent is made of, from here.
const MADE_OF: [&str; 4] = ["agent", "sys", "types", "wire"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_agent)");
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    for one in MADE_OF {
        println!("cargo::rerun-if-changed={}", root.join("crates").join(one).join("src").display());
        println!("cargo::rerun-if-changed={}", root.join("crates").join(one).join("Cargo.toml").display());
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
    let (target, out) = (variable("TARGET"), PathBuf::from(variable("OUT_DIR")));
    let folder = out.join("agent");
    let mut build = Command::new(variable("CARGO"));
    build
        .current_dir(&root)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "-p",
            "bailiwick-agent",
            "--bin",
            "bailiwick-agent",
        ])
        .args(["--target", &target])
        .arg("--target-dir")
        .arg(&folder);
    // What the outer build is wrapped in, or flagged with, is not this one's.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let is_outer = [
            "RUSTC",
            "RUSTFLAGS",
            "RUSTDOC",
            "CLIPPY_",
            "CARGO_PROFILE_",
            "CARGO_ENCODED_",
            "CARGO_FEATURE_",
        ];
        if is_outer.iter().any(|outer| name.starts_with(outer)) {
            build.env_remove(name);
        }
    }
    build
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s");
    let succeeded = build.status().is_ok_and(|status| status.success());
    let program = folder.join(&target).join("release").join("bailiwick-agent");
    if succeeded && program.is_file() {
        println!("cargo::rustc-cfg=has_agent");
        println!("cargo::rustc-env=BAILIWICK_AGENT={}", program.display());
    } else {
        println!(
            "cargo::warning=the agent could not be built as a static program: backends that need it will not be available"
        );
    }
}
