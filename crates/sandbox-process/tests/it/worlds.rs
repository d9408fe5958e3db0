//! Ways out, overlays and ports: what a sandbox is lent, and that it gets nothing beside.

use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::SandboxSpec;
use bailiwick_sandbox_process::Most;
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::programs::{TALKED, TALKS};
use bailiwick_testkit_sandbox::{Came, WayOut};
use bailiwick_types::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::place::{Place, is_root, path, said, sh, shell, spec, wait, words};

tests!(
    a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else,
    a_network_that_needs_a_way_out_is_refused_without_one,
    without_a_network_namespace_there_is_no_way_out,
    a_folder_under_an_overlay_stays_as_it_is,
    an_overlay_is_counted_as_the_sandboxs_own_files,
    an_overlay_of_what_became_a_link_never_shows_where_it_leads,
    a_port_is_reached_from_outside_without_another_sandbox,
    a_port_that_was_not_listed_is_not_exposed,
    an_exposed_port_ends_with_its_sandbox,
);

fn with_a_way_out() -> (Place, Came) {
    let egress = WayOut::that_tells();
    let came = egress.came();
    (Place::with(|options| options.egress = Some(Arc::new(egress))), came)
}

fn allows() -> SandboxSpec {
    SandboxSpec { network: "allow:example.test".parse().expect("a network"), ..spec() }
}

fn a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else() {
    let (place, came) = with_a_way_out();
    wait(async {
        let sandbox = place.create(allows()).await.expect("a sandbox");
        let result = sandbox.exec(words(&["/usr/bin/python3", "-c", TALKS])).await.expect("an end");
        assert_eq!(said(&result), TALKED);
        assert_eq!(came.lock().expect("a lock").len(), 3);
        let walls = &sandbox.receipt().walls;
        assert!(
            walls.iter().any(|wall| wall.demand == "network" && wall.mechanism.contains("proxy")),
            "{walls:?}"
        );
        assert!(walls.iter().any(|wall| wall.demand == "inner names"), "{walls:?}");
    });
}

fn a_network_that_needs_a_way_out_is_refused_without_one() {
    let place = Place::new();
    wait(async {
        let error = place.create(allows()).await.expect_err("it is refused");
        assert_eq!(error.code(), ErrorCode::Unenforceable, "{error}");
    });
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

const SERVES: &str = "import socket
s = socket.socket(); s.bind(('127.0.0.1', 8000)); s.listen(); print('on', flush=True)
for i in range(2):
    c, _ = s.accept(); c.sendall(b'inside ' + c.recv(100)); c.close()";

async fn talk(port: u16) -> std::io::Result<String> {
    let to = std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = tokio::net::TcpStream::connect(to).await?;
    stream.write_all(b"hello").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn a_port_is_reached_from_outside_without_another_sandbox() {
    let place = Place::new();
    wait(async {
        let sandbox = place.create(SandboxSpec { expose: vec![8000], ..spec() }).await.expect("a sandbox");
        let mut running = sandbox.spawn(words(&["/usr/bin/python3", "-c", SERVES])).await.expect("it runs");
        assert_eq!(running.output.recv().await.expect("a word").bytes, "on\n");
        let port = sandbox.expose(8000).await.expect("a port");
        assert_eq!(sandbox.expose(8000).await.expect("a port"), port, "it stays where it is");
        assert_eq!(talk(port).await.expect("an answer"), "inside hello");
        assert_eq!(talk(port).await.expect("an answer"), "inside hello");
        // Nothing listens any more: whoever comes is turned away, and the sandbox lives on.
        running.ended.await.expect("an end").expect("a good one");
        assert_eq!(talk(port).await.unwrap_or_default(), "");
        assert_eq!(sh(sandbox.as_ref(), "echo alive").await, "alive\n");
    });
}

fn a_port_that_was_not_listed_is_not_exposed() {
    let place = Place::new();
    wait(async {
        let sandbox = place.create(SandboxSpec { expose: vec![8000], ..spec() }).await.expect("a sandbox");
        let error = sandbox.expose(8001).await.expect_err("refused");
        assert!(error.to_string().contains("8000"), "{error}");
    });
}

fn an_exposed_port_ends_with_its_sandbox() {
    requires!("python3", Path::new("/usr/bin/python3").exists());
    let place = Place::new();
    wait(async {
        let sandbox = place.create(SandboxSpec { expose: vec![8000], ..spec() }).await.expect("a sandbox");
        let port = sandbox.expose(8000).await.expect("a port");
        sandbox.terminate().await.expect("ended");
        drop(sandbox);
        tokio::task::yield_now().await;
        assert!(talk(port).await.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused));
    });
}
