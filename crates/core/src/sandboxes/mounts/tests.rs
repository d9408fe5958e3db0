use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use bailiwick_config::SandboxSettings;
use bailiwick_sandbox::{Held, Mount, SandboxPath};
use bailiwick_types::ErrorCode;

use super::CheckedMount;
use crate::Origin;
use crate::sandboxes::resolve::tests::settings;
use crate::sandboxes::{MountRoots, Rules};

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

    fn rules<'a>(&self, settings: &'a SandboxSettings, roots: &MountRoots) -> Rules<'a> {
        Rules { settings, own: vec![self.path("data"), self.path("config")], roots: roots.clone() }
    }

    /// What a path leads to, where these are listed.
    fn listed(&self, roots: &MountRoots, from: &Path, origin: Origin) -> Result<Held<Mount>, String> {
        let settings = settings();
        let mount = Mount { from: from.to_owned(), to: SandboxPath::new("/in").unwrap(), writable: true };
        match CheckedMount::check(&mount, &self.rules(&settings, roots), origin) {
            Ok(checked) => Ok(checked.into_mount()),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::FsDenied);
                Err(error.to_string())
            }
        }
    }

    fn check(&self, from: &Path, origin: Origin) -> Result<PathBuf, String> {
        let roots = MountRoots::open(&[self.path("listed")]);
        self.listed(&roots, from, origin).map(|mount| mount.from.clone())
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
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn our_own_folders_are_never_mounted_by_anybody() {
    let host = Host::new();
    // Also where the operator's list is wider than that.
    let roots = MountRoots::open(&[PathBuf::from("/")]);
    std::fs::write(host.path("data/operator.key"), "ours").unwrap();
    for origin in [Origin::Wire, Origin::Typed] {
        for own in ["data", "data/workspace", "data/operator.key", "config", ""] {
            let said = host.listed(&roots, &host.path(own), origin).expect_err("a refusal");
            assert!(said.contains("lie in one another"), "{own}: {said}");
        }
        let said = host.listed(&roots, Path::new("/"), origin).expect_err("a refusal");
        assert!(said.contains("lie in one another"), "{said}");
    }
}

#[test]
fn our_own_folders_are_known_by_another_name_too() {
    let host = Host::new();
    // Ours by a link: what is compared is where it leads.
    std::fs::rename(host.path("data"), host.path("elsewhere")).unwrap();
    symlink(host.path("elsewhere"), host.path("data")).unwrap();
    for own in ["elsewhere", "elsewhere/workspace"] {
        refused(&host, &host.path(own), Origin::Typed, "lie in one another");
    }
}

#[test]
fn below_an_entry_no_link_is_followed_whoever_asks() {
    let host = Host::new();
    symlink(host.path("other"), host.path("listed/out")).unwrap();
    symlink(host.path("data"), host.path("listed/ours")).unwrap();
    symlink("sub", host.path("listed/within")).unwrap();
    for name in ["listed/out", "listed/ours", "listed/ours/workspace", "listed/within"] {
        refused(&host, &host.path(name), Origin::Wire, "no link is followed below the entry");
        refused(&host, &host.path(name), Origin::Typed, "no link is followed there");
    }
}

#[test]
fn what_the_operator_types_may_have_links_that_stay_where_they_are() {
    let host = Host::new();
    std::fs::create_dir(host.path("other/real")).unwrap();
    symlink("real", host.path("other/within")).unwrap();
    symlink(host.path("config"), host.path("other/out")).unwrap();
    assert_eq!(host.check(&host.path("other/within"), Origin::Typed), Ok(host.path("other/real")));
    refused(&host, &host.path("other/out"), Origin::Typed, "is a link out of its folder");
    refused(&host, &host.path("other/within"), Origin::Wire, "fs.mounts");
}

#[test]
fn below_what_a_live_sandbox_writes_to_the_operators_own_links_are_not_followed() {
    let host = Host::new();
    std::fs::create_dir(host.path("other/real")).unwrap();
    symlink("real", host.path("other/within")).unwrap();
    let roots = MountRoots::open(&[]);
    let look = |name: &str| host.listed(&roots, &host.path(name), Origin::Typed);
    let live = look("other").expect("it may be mounted");
    let said = look("other/within").expect_err("a refusal");
    assert!(said.contains("no link is followed there"), "{said}");
    assert!(look("other/real").expect("no link").is_guests());
    assert!(!live.is_guests());
    drop(live);
    assert_eq!(look("other/within").expect("nobody writes there any more").from, host.path("other/real"));
}

#[test]
fn links_in_the_path_of_an_entry_are_followed_once_when_settings_are_read() {
    let host = Host::new();
    symlink(host.path("listed"), host.path("entry")).unwrap();
    let roots = MountRoots::open(&[host.path("entry")]);
    for name in ["entry/sub", "listed/sub"] {
        let mount = host.listed(&roots, &host.path(name), Origin::Wire).expect("it is listed");
        assert_eq!((mount.from.clone(), mount.is_guests()), (host.path("listed/sub"), true));
    }
    assert!(!host.listed(&roots, &host.path("entry"), Origin::Wire).expect("the entry").is_guests());
    // Another directory by the name of the entry is not what the operator listed.
    std::fs::remove_file(host.path("entry")).unwrap();
    std::fs::create_dir_all(host.path("entry/sub")).unwrap();
    let said = host.listed(&roots, &host.path("entry/sub"), Origin::Wire).expect_err("a refusal");
    assert!(said.contains("is not the directory that it was when the settings were read"), "{said}");
    assert!(said.contains(&host.path("entry").display().to_string()), "{said}");
}

#[test]
fn an_entry_that_is_missing_is_named_where_it_is_needed() {
    let host = Host::new();
    let roots = MountRoots::open(&[host.path("gone"), host.path("listed")]);
    std::fs::create_dir_all(host.path("gone/sub")).unwrap();
    let said = host.listed(&roots, &host.path("gone/sub"), Origin::Wire).expect_err("a refusal");
    assert!(said.contains("of fs.mounts could not be opened when the settings were read"), "{said}");
    assert!(said.contains(&host.path("gone").display().to_string()), "{said}");
    host.listed(&roots, &host.path("listed/sub"), Origin::Wire).expect("the others are as before");
    std::fs::remove_dir(host.path("listed/sub")).unwrap();
    std::fs::remove_dir(host.path("listed")).unwrap();
    let said = host.listed(&roots, &host.path("listed"), Origin::Wire).expect_err("a refusal");
    assert!(said.contains("is missing, or is not the directory"), "{said}");
}

#[test]
fn an_entry_within_another_is_no_way_out_of_it() {
    let host = Host::new();
    let entries = [host.path("listed"), host.path("listed/sub")];
    let roots = MountRoots::open(&entries);
    std::fs::create_dir(host.path("listed/sub/deep")).unwrap();
    let mount = host.listed(&roots, &host.path("listed/sub/deep"), Origin::Wire).expect("it is listed");
    assert_eq!(mount.from, host.path("listed/sub/deep"));
    // Whoever writes to the outer one exchanges the inner one for a link.
    std::fs::rename(host.path("listed/sub"), host.path("listed/aside")).unwrap();
    symlink(host.path("data"), host.path("listed/sub")).unwrap();
    for name in ["listed/sub", "listed/sub/workspace"] {
        let said = host.listed(&roots, &host.path(name), Origin::Wire).expect_err("a refusal");
        assert!(said.contains(&format!("the entry {}", host.path("listed/sub").display())), "{said}");
    }
    // The same when settings are read while the link is there.
    let said = host.listed(&MountRoots::open(&entries), &host.path("listed/sub"), Origin::Wire);
    assert!(said.expect_err("a refusal").contains("no link is followed there"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn what_was_checked_is_what_is_held() {
    let host = Host::new();
    std::fs::write(host.path("listed/sub/file"), "inside").unwrap();
    let roots = MountRoots::open(&[host.path("listed")]);
    let mount = host.listed(&roots, &host.path("listed/sub"), Origin::Wire).expect("it is listed");
    std::fs::rename(host.path("listed/sub"), host.path("listed/aside")).unwrap();
    symlink(host.path("data"), host.path("listed/sub")).unwrap();
    assert!(mount.source().beneath(Path::new("file")).is_ok());
    assert_eq!(mount.source().real_path().unwrap(), host.path("listed/aside"));
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
