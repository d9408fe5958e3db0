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
    /// A program `env` that can ignore signals for what it starts.
    Env,
}

impl Needs {
    const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::UserNamespaces => "userns",
            Self::Unshare => "unshare",
            Self::Setpriv => "setpriv",
            Self::Env => "env",
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
            Self::Env => {
                (!works("env", &["--ignore-signal=CHLD", "true"])).then_some("it cannot ignore signals")
            }
        }
    }
}

/// Whether all of it is there; else the test has to return.
#[must_use]
pub(crate) fn has(needs: &[Needs]) -> bool {
    for need in needs {
        if let Some(why) = need.lack() {
            skip(*need, why);
            return false;
        }
    }
    true
}

/// Says that a test is skipped for want of something, which fails where that is required.
pub(crate) fn skip(need: Needs, why: &str) {
    let (name, demanded) = (need.name(), std::env::var("BAILIWICK_REQUIRE").unwrap_or_default());
    assert!(!demanded.split(',').any(|one| one.trim() == name), "{name} is required here, and {why}");
    crate::output::line(format_args!("SKIP: needs {name} ({why})"));
}

fn works(program: &str, arguments: &[&str]) -> bool {
    let run = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}
