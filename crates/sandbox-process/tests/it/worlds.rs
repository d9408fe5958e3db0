//! Ways out, images, overlays and ports: what a sandbox is lent, and that it gets nothing beside.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bailiwick_sandbox::{
    Doing, Duplex, Egress, Image, Images, Outlet, SandboxError, SandboxPath, SandboxSpec, Unpacked,
};
use bailiwick_sandbox_process::Most;
use bailiwick_testkit::{requires, tests};
use bailiwick_types::{Denial, ErrorCode, WallStatus, Wallpart};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::place::{Place, is_root, path, said, sh, shell, spec, wait, words};

tests!(
    a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else,
    a_network_that_needs_a_way_out_is_refused_without_one,
    without_a_network_namespace_there_is_no_way_out,
    an_image_is_the_root_and_what_is_written_to_it_is_gone_afterwards,
    an_image_cannot_lead_what_is_put_into_it_elsewhere,
    a_snapshot_of_a_sandbox_with_an_image_is_refused,
    without_namespaces_an_image_is_refused_and_not_left_out,
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

/// An image: a folder with a shell in it.
#[derive(Debug)]
struct Shells(PathBuf);

#[derive(Debug)]
struct Root(PathBuf);

impl Images for Shells {
    fn find<'a>(&'a self, name: &'a str) -> Doing<'a, Result<Arc<dyn Unpacked>, SandboxError>> {
        Box::pin(async move { Ok(Arc::new(Root(self.0.join(name))) as Arc<dyn Unpacked>) })
    }
}

impl Unpacked for Root {
    fn root(&self) -> PathBuf {
        self.0.clone()
    }
    fn digest(&self) -> &'static str {
        "sha256:none"
    }
    fn variables(&self) -> &[(String, String)] {
        static VARIABLES: std::sync::LazyLock<Vec<(String, String)>> =
            std::sync::LazyLock::new(|| vec![("FROM_IMAGE".to_owned(), "yes".to_owned())]);
        &VARIABLES
    }
    fn workdir(&self) -> Option<&str> {
        None
    }
}

/// Makes a root with a shell and what that needs.
fn make_image(at: &Path) {
    for folder in ["bin", "etc", "opt"] {
        std::fs::create_dir_all(at.join(folder)).expect("a folder");
    }
    for program in ["sh", "cat", "rm"] {
        std::fs::copy(Path::new("/bin").join(program), at.join("bin").join(program)).expect("a program");
    }
    // What this process itself is loaded with is where a shell looks for it.
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let mut libraries: Vec<&str> = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
    libraries.retain(|name| name.contains("libc.so") || name.contains("ld-linux"));
    for library in libraries {
        let to = at.join(library.trim_start_matches('/'));
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("folders");
        std::fs::copy(library, &to).expect("a library");
    }
    for link in ["lib", "lib64"] {
        if let Ok(to) = std::fs::read_link(Path::new("/").join(link)) {
            std::os::unix::fs::symlink(to, at.join(link)).expect("a link");
        }
    }
    let loader = std::fs::canonicalize("/lib64/ld-linux-x86-64.so.2");
    if let Ok(loader) = loader {
        let to = at.join("usr/lib64/ld-linux-x86-64.so.2");
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("folders");
        std::fs::copy(loader, to).expect("a loader");
    }
    std::fs::write(at.join("opt/note"), "of the image").expect("a file");
}

fn with_an_image() -> Place {
    with_an_image_at_most(Most::Everything)
}

fn with_an_image_at_most(most: Most) -> Place {
    let mut place = Place::new();
    let images = place.path().join("images");
    make_image(&images.join("shell"));
    place.backend = Arc::new(bailiwick_sandbox_process::ProcessBackend::new({
        let mut options = bailiwick_sandbox_process::Options::new(place.path().join("state"));
        options.most = most;
        options.accept = vec![bailiwick_sandbox::Demand::Kill, bailiwick_sandbox::Demand::Identity];
        options.images = Some(Arc::new(Shells(std::fs::canonicalize(images).expect("a path"))));
        options
    }));
    place
}

fn of_the_image() -> SandboxSpec {
    SandboxSpec { image: Image::Named("shell".to_owned()), ..spec() }
}

fn an_image_is_the_root_and_what_is_written_to_it_is_gone_afterwards() {
    let place = with_an_image();
    wait(async {
        for _ in 0..2 {
            let sandbox = place.create(of_the_image()).await.expect("a sandbox");
            let script = "set -e; cat /opt/note; echo; echo changed > /opt/note; rm /bin/rm; echo new > /etc/new; \
                echo hi > /work/mine; cat /opt/note /etc/new; echo $FROM_IMAGE; cat /etc/hostname; echo x > /dev/null; \
                test ! -e /usr/bin/python3 && test ! -e /bin/rm && test ! -e /.old && test ! -e /root && echo alone";
            let result = sandbox.exec(shell(script)).await.expect("an end");
            assert_eq!(said(&result), "of the image\nchanged\nnew\nyes\nsandbox\nalone\n");
            let beside = "echo x > /dev/mine";
            assert_ne!(sandbox.exec(shell(beside)).await.expect("an end").exit.status(), 0, "{beside}");
            assert_eq!(sh(sandbox.as_ref(), "echo x > /dev/shm/mine && cat /dev/shm/mine").await, "x\n");
            let walls = &sandbox.receipt().walls;
            let files = walls.iter().find(|wall| wall.demand == "files").expect("a wall");
            assert_eq!(files.status, WallStatus::Enforced);
            assert!(files.mechanism.contains("image"), "{files:?}");
            // More than its disk does not fit, wherever it is written.
            let fill = "i=0; while [ $i -lt 20 ]; do cat /bin/sh /bin/sh /bin/sh /bin/sh >> /opt/big || exit 3; i=$((i+1)); done; exit 0";
            let mut small = of_the_image();
            small.limits = small.limits.with(bailiwick_sandbox::Limit::Disk, "4MiB").expect("a limit");
            let small = place.create(small).await.expect("a sandbox");
            assert_eq!(small.exec(shell(fill)).await.expect("an end").exit.status(), 3);
        }
        let root = place.path().join("images/shell");
        assert_eq!(std::fs::read_to_string(root.join("opt/note")).expect("a file"), "of the image");
        assert!(
            !root.join("etc/new").exists() && root.join("bin/rm").exists() && !root.join("work").exists()
        );
    });
}

fn an_image_cannot_lead_what_is_put_into_it_elsewhere() {
    for (name, link, to) in [
        ("etc", "etc", "/.old/tmp"),
        ("proc", "proc", "/.old/etc"),
        ("dev", "dev", "/.old/dev"),
        ("work", "work", "/.old/root"),
        ("var", "var", "/.old/var"),
        ("old", ".old", "/etc"),
    ] {
        let place = with_an_image();
        let root = place.path().join("images/shell");
        let _absent = std::fs::remove_dir_all(root.join(link));
        std::os::unix::fs::symlink(to, root.join(link)).expect("a link");
        wait(async {
            let error = place.create(of_the_image()).await.map(|_| ()).expect_err(name);
            assert!(error.to_string().contains("place"), "{name}: {error}");
        });
    }
    // A file that is a link is replaced, and not written through.
    let place = with_an_image();
    let root = place.path().join("images/shell");
    let outside = place.path().join("outside");
    std::fs::write(&outside, "mine").expect("a file");
    let deep = format!("/.old{}", outside.display());
    std::os::unix::fs::symlink(deep, root.join("etc/hostname")).expect("a link");
    wait(async {
        let sandbox = place.create(of_the_image()).await.expect("a sandbox");
        assert_eq!(sh(sandbox.as_ref(), "cat /etc/hostname").await, "sandbox\n");
    });
    assert_eq!(std::fs::read_to_string(outside).expect("a file"), "mine");
}

fn a_snapshot_of_a_sandbox_with_an_image_is_refused() {
    let place = with_an_image();
    wait(async {
        let sandbox = place.create(of_the_image()).await.expect("a sandbox");
        let error = sandbox.snapshot().await.expect_err("refused");
        assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
    });
}

fn without_namespaces_an_image_is_refused_and_not_left_out() {
    let place = with_an_image_at_most(Most::NoNamespaces);
    wait(async {
        let error = place.create(of_the_image()).await.map(|_| ()).expect_err("refused");
        assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
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
