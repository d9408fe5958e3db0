use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use bailiwick_sandbox::{Mount, SandboxPath};
use bailiwick_types::ErrorCode;

use super::CheckedMount;
use crate::Origin;
use crate::sandboxes::Rules;
use crate::sandboxes::resolve::tests::settings;

/// Folders as a host may have them.
struct Host(tempfile::TempDir);

impl Host {
    fn new() -> Self {
        let host = Self(tempfile::tempdir().unwrap());
        for folder in ["listed/sub", "other", "data/workspace", "config"] {
            std::fs::create_dir_all(host.path(folder)).unwrap();
        }
        host
    }

    /// Without links: a temporary folder may be one.
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn check(&self, from: &Path, origin: Origin) -> Result<PathBuf, String> {
        let mut settings = settings();
        settings.mounts = vec![self.path("listed")];
        let rules = Rules { settings: &settings, own: vec![self.path("data"), self.path("config")] };
        let mount = Mount { from: from.to_owned(), to: SandboxPath::new("/in").unwrap(), writable: false };
        match CheckedMount::check(&mount, &rules, origin) {
            Ok(checked) => Ok(checked.into_mount().from),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::FsDenied);
                Err(error.to_string())
            }
        }
    }
}

#[track_caller]
fn refused(host: &Host, from: &Path, origin: Origin, says: &str) {
    let said = host.check(from, origin).expect_err("a refusal");
    assert!(said.contains(says), "{said:?} does not say {says:?}");
}

#[test]
fn over_a_wire_only_what_the_operator_listed_is_mounted() {
    let host = Host::new();
    for inside in ["listed", "listed/sub"] {
        assert_eq!(host.check(&host.path(inside), Origin::Wire), Ok(host.path(inside)));
    }
    refused(&host, &host.path("other"), Origin::Wire, "fs.mounts");
    // A name that only begins alike is another folder.
    std::fs::create_dir(host.path("listed-too")).unwrap();
    refused(&host, &host.path("listed-too"), Origin::Wire, "fs.mounts");
    assert_eq!(
        host.check(&host.path("other"), Origin::Typed),
        Ok(host.path("other")),
        "the operator's own word"
    );
}

#[test]
fn our_own_folders_are_never_mounted_by_anybody() {
    let host = Host::new();
    for origin in [Origin::Wire, Origin::Typed] {
        for own in ["data", "data/workspace", "config", ""] {
            refused(&host, &host.path(own), origin, "lie in one another");
        }
        refused(&host, Path::new("/"), origin, "lie in one another");
    }
}

#[test]
fn a_link_out_of_its_folder_is_never_mounted() {
    let host = Host::new();
    symlink(host.path("other"), host.path("listed/out")).unwrap();
    symlink(host.path("data"), host.path("listed/ours")).unwrap();
    symlink("sub", host.path("listed/within")).unwrap();
    for origin in [Origin::Wire, Origin::Typed] {
        refused(&host, &host.path("listed/out"), origin, "is a link out of its folder");
        refused(&host, &host.path("listed/ours"), origin, "is a link out of its folder");
        refused(&host, &host.path("listed/ours/workspace"), origin, "is a link out of its folder");
        assert_eq!(
            host.check(&host.path("listed/within"), origin),
            Ok(host.path("listed/sub")),
            "followed here"
        );
    }
}

#[test]
fn what_is_no_file_and_no_folder_is_not_mounted() {
    let host = Host::new();
    let socket = host.path("other/socket");
    let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    refused(&host, &socket, Origin::Typed, "neither a file nor a folder");
    refused(&host, &host.path("nothing"), Origin::Typed, "No such file");
    refused(&host, Path::new("relative"), Origin::Typed, "must be absolute");
    refused(&host, &host.path("other/../data"), Origin::Typed, "has a `..` in it");
    for kernel in ["/proc", "/proc/self", "/sys", "/dev", "/dev/null"] {
        assert!(host.check(Path::new(kernel), Origin::Typed).is_err(), "{kernel}");
    }
}
