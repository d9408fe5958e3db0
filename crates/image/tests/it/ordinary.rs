//! The same as an ordinary user: this program again, as nobody.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use bailiwick_testkit::requires;

/// Tests that have to pass for an ordinary user too.
const TOO: &[&str] = &["hostile::", "layers::", "sources::", "stores::", "pulls::"];

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts itself as another user")]
fn an_ordinary_user_has_images_too() {
    requires!("root", rustix::process::geteuid().is_root());
    requires!("setpriv", Command::new("setpriv").arg("--version").output().is_ok());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("a mode");
    let program = folder.path().join("it");
    std::fs::copy("/proc/self/exe", &program).expect("a copy");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    for tests in TOO {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .arg(tests)
            .env("TMPDIR", folder.path())
            .env("HOME", folder.path())
            .env_remove("BAILIWICK_REQUIRE")
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{tests}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains(" 0 passed"), "{tests}: {text}");
    }
}
