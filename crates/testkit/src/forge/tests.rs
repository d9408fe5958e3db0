#![expect(clippy::disallowed_methods, reason = "programs and folders of a test's own")]

use std::path::Path;
use std::process::Command;

use super::{Forge, GIT};
use crate::requires;
use crate::upstream::{Request, Upstream};

/// Runs git on loopback, with nothing of the machine's settings; whether it was content, and what it said.
fn git(folder: &Path, args: &[&str]) -> (bool, String) {
    let mut git = Command::new(GIT);
    git.args(["-c", "user.name=test", "-c", "user.email=test@forge.test", "-c", "protocol.version=2"]);
    git.args(args).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin");
    git.env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    let output = git.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[track_caller]
fn done(folder: &Path, args: &[&str]) -> String {
    let (is_content, said) = git(folder, args);
    assert!(is_content, "git {args:?}: {said}");
    said
}

#[test]
fn a_repository_is_cloned_and_pushed_to_only_where_it_says_so() {
    requires!("git", Path::new(GIT).exists());
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    done(here, &["init", "-q", "-b", "main", "source"]);
    std::fs::write(here.join("source/README"), "hello\n").unwrap();
    done(here, &["-C", "source", "add", "README"]);
    done(here, &["-C", "source", "commit", "-q", "-m", "Begin"]);
    std::fs::create_dir(here.join("root")).unwrap();
    for name in ["closed", "open"] {
        done(here, &["clone", "-q", "--bare", "source", &format!("root/{name}.git")]);
    }
    done(here, &["-C", "root/open.git", "config", "http.receivepack", "true"]);
    let forge = Forge::new(&here.join("root"));
    let upstream = Upstream::http(move |request: &Request| forge.answer(request));
    let at = |name: &str| format!("http://{}/{name}", upstream.address());

    done(here, &["clone", "-q", &at("open.git"), "there"]);
    assert_eq!(std::fs::read_to_string(here.join("there/README")).unwrap(), "hello\n");
    let asked = upstream.requests();
    assert_eq!(asked[0].target, "/open.git/info/refs?service=git-upload-pack");
    assert!(asked.iter().any(|asked| asked.method == "POST" && asked.path() == "/open.git/git-upload-pack"));

    done(here, &["-C", "there", "commit", "-q", "--allow-empty", "-m", "Go on"]);
    done(here, &["-C", "there", "push", "-q", "origin", "main"]);
    let there = done(here, &["-C", "there", "rev-parse", "main"]);
    assert_eq!(done(here, &["-C", "root/open.git", "rev-parse", "main"]), there);

    let (is_content, said) = git(here, &["-C", "there", "push", "-q", &at("closed.git"), "main"]);
    assert!(!is_content && said.contains("403"), "{said}");
    let (is_content, said) = git(here, &["clone", "-q", &at("none.git"), "nowhere"]);
    assert!(!is_content && said.contains("not found"), "{said}");
}
