//! What a test needs of the machine. Without it the test says so and passes, unless the variable `BAILIWICK_REQUIRE`
//! names it: then a machine that should have it and has not fails the test.

use std::process::{Command, Stdio};

/// Something that not every machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The tests run as root.
    Root,
    /// User namespaces can be made.
    UserNamespaces,
    /// The program `unshare`.
    Unshare,
    /// The program `setpriv`.
    Setpriv,
}

impl Needs {
    const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::UserNamespaces => "userns",
            Self::Unshare => "unshare",
            Self::Setpriv => "setpriv",
        }
    }

    /// Why it is not there, if it is not.
    fn lack(self) -> Option<&'static str> {
        match self {
            Self::Root => (!rustix::process::geteuid().is_root()).then_some("the tests run as another user"),
            Self::UserNamespaces => {
                (!works("unshare", &["-U", "true"])).then_some("a user namespace cannot be made")
            }
            Self::Unshare => (!works("unshare", &["--version"])).then_some("no such program"),
            Self::Setpriv => (!works("setpriv", &["--version"])).then_some("no such program"),
        }
    }
}

/// Whether all of it is there; else the test has to return.
#[must_use]
pub(crate) fn has(needs: &[Needs]) -> bool {
    let demanded = std::env::var("BAILIWICK_REQUIRE").unwrap_or_default();
    for need in needs {
        let Some(why) = need.lack() else { continue };
        let name = need.name();
        assert!(!demanded.split(',').any(|one| one.trim() == name), "{name} is required here, and {why}");
        println!("SKIP: needs {name} ({why})");
        return false;
    }
    true
}

fn works(program: &str, arguments: &[&str]) -> bool {
    let run = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}
