//! Ways out and overlays: what a sandbox is lent, and that it gets nothing beside.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_sandbox::SandboxSpec;
use bailiwick_sandbox_process::Most;
use bailiwick_testkit::tests;
use bailiwick_testkit_sandbox::WayOut;
use bailiwick_types::ErrorCode;

use crate::place::{Place, is_root, path, said, sh, shell, spec, wait};

tests!(
    without_a_network_namespace_there_is_no_way_out,
    a_folder_under_an_overlay_stays_as_it_is,
    an_overlay_is_counted_as_the_sandboxs_own_files,
    an_overlay_of_what_became_a_link_never_shows_where_it_leads,
);

fn allows() -> SandboxSpec {
    SandboxSpec { network: "allow:example.test".parse().expect("a network"), ..spec() }
}

fn without_a_network_namespace_there_is_no_way_out() {
    let place = Place::with(|options| {
        options.most = Most::NoNamespaces;
        options.accept = vec![bailiwick_sandbox::Demand::Kill];
        options.egress = Some(Arc::new(WayOut::that_tells()));
    });
    wait(async {
        let error = place.create(allows()).await.expect_err("it is refused");
        assert_eq!(error.code(), ErrorCode::Unenforceable, "{error}");
        assert!(error.to_string().contains("network"), "{error}");
    });
}

/// A folder with files, and a spec that sees it.
fn overlaid(place: &Place) -> (PathBuf, SandboxSpec) {
    let folder = place.path().join("project");
    std::fs::create_dir_all(folder.join("deep/er")).expect("folders");
    std::fs::write(folder.join("kept"), "as it was").expect("a file");
    std::fs::write(folder.join("deep/er/file"), "deep").expect("a file");
    if is_root() {
        std::os::unix::fs::chown(&folder, Some(12_345), Some(12_345)).expect("an owner");
        for file in ["kept", "deep", "deep/er", "deep/er/file"] {
            std::os::unix::fs::chown(folder.join(file), Some(12_345), Some(12_345)).expect("an owner");
        }
    }
    let folder = std::fs::canonicalize(folder).expect("a path");
    let overlay: bailiwick_sandbox::Overlay = folder.display().to_string().parse().expect("an overlay");
    let overlay = overlay.open_by_name().expect("it is held");
    (folder, SandboxSpec { overlays: vec![overlay], ..spec() })
}

fn names(folder: &OwnedFd) -> Vec<String> {
    let entries = rustix::fs::Dir::read_from(folder.as_fd()).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "." && name != "..").collect();
    names.sort();
    names
}

fn a_folder_under_an_overlay_stays_as_it_is() {
    let place = Place::new();
    let (folder, spec) = overlaid(&place);
    let before = std::fs::metadata(folder.join("kept")).expect("a file").modified().expect("a time");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let script = "set -e; cat kept; echo; echo changed > kept; echo new > fresh; rm -r deep; cat kept fresh; ls; stat -c %u kept fresh";
        assert_eq!(sh(sandbox.as_ref(), script).await, "as it was\nchanged\nnew\nfresh\nkept\n1000\n1000\n");
        let upper = sandbox.written_over(&path("/work")).expect("a folder");
        assert_eq!(names(&upper), ["deep", "fresh", "kept"]);
        assert!(sandbox.written_over(&path("/tmp")).is_err());
        assert_eq!(sandbox.snapshot().await.expect_err("refused").code(), ErrorCode::Unsupported);
        sandbox.terminate().await.expect("ended");
        assert_eq!(names(&upper), ["deep", "fresh", "kept"], "what is held stays");
    });
    assert_eq!(std::fs::read_to_string(folder.join("kept")).expect("a file"), "as it was");
    assert_eq!(std::fs::read_to_string(folder.join("deep/er/file")).expect("a file"), "deep");
    assert_eq!(std::fs::metadata(folder.join("kept")).expect("a file").modified().expect("a time"), before);
    assert!(!folder.join("fresh").exists());
}

fn an_overlay_is_counted_as_the_sandboxs_own_files() {
    let place = Place::new();
    let (_, mut spec) = overlaid(&place);
    spec.limits = spec.limits.with(bailiwick_sandbox::Limit::Disk, "1MiB").expect("a limit");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let result = sandbox.exec(shell("head -c 3000000 /dev/zero > big")).await.expect("an end");
        assert_ne!(result.exit.status(), 0);
    });
}

fn an_overlay_of_what_became_a_link_never_shows_where_it_leads() {
    let place = Place::new();
    let (folder, spec) = overlaid(&place);
    std::fs::rename(&folder, folder.with_extension("aside")).expect("a rename");
    std::os::unix::fs::symlink("/etc", &folder).expect("a link");
    wait(async {
        match place.create(spec).await {
            // The folder that is held, wherever it is by now.
            Ok(sandbox) => {
                let seen = said(&sandbox.exec(shell("ls /work")).await.expect("an end"));
                assert!(seen.contains("kept") && !seen.contains("passwd"), "{seen}");
            }
            Err(error) => assert!(error.to_string().contains("not what was checked"), "{error}"),
        }
    });
}
