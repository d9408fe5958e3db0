//! Ways out, overlays and ports: what a sandbox is lent, and that it gets nothing beside.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bailiwick_sandbox::{Doing, Duplex, Egress, Outlet, SandboxError, SandboxPath, SandboxSpec};
use bailiwick_sandbox_process::Most;
use bailiwick_testkit::{requires, tests};
use bailiwick_types::{Denial, ErrorCode, WallStatus, Wallpart};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::place::{Place, is_root, path, said, sh, shell, spec, wait, words};

tests!(
    a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else,
    a_network_that_needs_a_way_out_is_refused_without_one,
    without_a_network_namespace_there_is_no_way_out,
    a_folder_under_an_overlay_stays_as_it_is,
    an_overlay_is_counted_as_the_sandboxs_own_files,
    an_overlay_of_what_became_a_link_is_refused,
    a_port_is_reached_from_outside_without_another_sandbox,
    a_port_that_was_not_listed_is_not_exposed,
    an_exposed_port_ends_with_its_sandbox,
);

/// An outlet that says who came to it.
#[derive(Debug, Default)]
struct Tells {
    came: Arc<Mutex<Vec<String>>>,
}

impl Egress for Tells {
    fn outlet(&self, _: &SandboxSpec) -> Result<Arc<dyn Outlet>, SandboxError> {
        Ok(Arc::new(Self { came: self.came.clone() }))
    }
}

impl Tells {
    fn serve(&self, mut stream: Box<dyn Duplex>, what: String) -> Doing<'static, ()> {
        let came = self.came.clone();
        Box::pin(async move {
            let mut first = [0; 5];
            stream.read_exact(&mut first).await.expect("five bytes");
            came.lock().expect("a lock").push(format!("{what} {}", String::from_utf8_lossy(&first)));
            stream.write_all(what.as_bytes()).await.expect("an answer");
        })
    }
}

impl Outlet for Tells {
    fn ports(&self) -> Vec<u16> {
        vec![80, 443]
    }
    fn variables(&self) -> Vec<(String, String)> {
        vec![("HTTP_PROXY".to_owned(), "http://127.0.0.1:3128".to_owned())]
    }
    fn files(&self) -> Vec<(SandboxPath, String)> {
        // Longer than a message may be.
        vec![
            (path("/etc/resolv.conf"), "nameserver 127.0.0.53\n".to_owned()),
            (path("/etc/bailiwick/authorities.pem"), "A".repeat(300_000)),
        ]
    }
    fn proxied(&self, stream: Box<dyn Duplex>) -> Doing<'static, ()> {
        self.serve(stream, "proxied".to_owned())
    }
    fn direct(&self, stream: Box<dyn Duplex>, to: SocketAddrV4) -> Doing<'static, ()> {
        self.serve(stream, format!("direct to {to}"))
    }
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        Some([b"heard ", query].concat())
    }
    fn walls(&self) -> Vec<Wallpart> {
        ["network", "inner names"]
            .map(|demand| Wallpart {
                demand: demand.to_owned(),
                mechanism: "a test".to_owned(),
                status: WallStatus::Enforced,
            })
            .to_vec()
    }
    fn refused(&self) -> u64 {
        0
    }
    fn denials(&self, _: u64) -> Vec<Denial> {
        Vec::new()
    }
}

fn with_a_way_out() -> (Place, Arc<Mutex<Vec<String>>>) {
    let egress = Tells::default();
    let came = egress.came.clone();
    (Place::with(|options| options.egress = Some(Arc::new(egress))), came)
}

fn allows() -> SandboxSpec {
    SandboxSpec { network: "allow:example.test".parse().expect("a network"), ..spec() }
}

const TALKS: &str = r"
import socket, os
def talk(to):
    s = socket.create_connection(to, timeout=5); s.sendall(b'hello'); print(s.recv(100).decode())
talk(('127.0.0.1', 3128)); talk(('127.64.0.9', 443)); talk(('127.64.0.7', 80))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(5)
u.sendto(b'who', ('127.0.0.53', 53)); print(u.recv(100).decode())
t = socket.create_connection(('127.0.0.53', 53), timeout=5); t.sendall(b'\0\3who'); print(t.recv(100)[2:].decode())
print(os.environ['HTTP_PROXY'], len(open('/etc/bailiwick/authorities.pem').read()), open('/etc/resolv.conf').read().strip())
for to in [('127.0.0.1', 81), ('10.0.0.1', 80), ('192.0.2.1', 443)]:
    try: socket.create_connection(to, timeout=5); print('open', to)
    except OSError as e: print(e.errno in (101, 111))
";

fn a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else() {
    let (place, came) = with_a_way_out();
    wait(async {
        let sandbox = place.create(allows()).await.expect("a sandbox");
        let result = sandbox.exec(words(&["/usr/bin/python3", "-c", TALKS])).await.expect("an end");
        let expected = "proxied\ndirect to 127.64.0.9:443\ndirect to 127.64.0.7:80\nheard who\nheard who\n\
            http://127.0.0.1:3128 300000 nameserver 127.0.0.53\nTrue\nTrue\nTrue\n";
        assert_eq!(said(&result), expected);
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
        options.accept = vec![bailiwick_sandbox::Demand::Kill, bailiwick_sandbox::Demand::Identity];
        options.egress = Some(Arc::new(Tells::default()));
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
    let overlay = folder.display().to_string().parse().expect("an overlay");
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

fn an_overlay_of_what_became_a_link_is_refused() {
    let place = Place::new();
    let (folder, spec) = overlaid(&place);
    std::fs::remove_dir_all(&folder).expect("removed");
    std::os::unix::fs::symlink("/etc", &folder).expect("a link");
    wait(async {
        let error = place.create(spec).await.map(|_| ()).expect_err("refused");
        assert!(error.to_string().contains("link"), "{error}");
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
