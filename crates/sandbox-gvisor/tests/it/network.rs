//! Networks: none, a way out that the host decides about, and ports.

use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex};

use bailiwick_sandbox::{Doing, Duplex, Egress, Network, Outlet, SandboxError, SandboxPath, SandboxSpec};
use bailiwick_testkit::{requires, tests};
use bailiwick_types::{Denial, WallStatus, Wallpart};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::place::{Place, is_possible, path, said, sh, spec, wait, words};

tests!(
    without_a_network_nothing_is_reached_but_loopback,
    a_way_out_is_decided_about_by_the_host_and_nothing_else_is_reached,
    a_way_out_goes_on_after_sleep_and_in_a_fork,
    a_port_is_reached_from_outside,
    networks_that_nothing_here_holds_are_refused,
);

const REACHES: &str = r"
import socket, threading
l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(1)
threading.Thread(target=lambda: l.accept()[0].sendall(b'loopback'), daemon=True).start()
print(socket.create_connection(l.getsockname(), timeout=5).recv(100).decode())
for to in [('10.0.0.1', 80), ('192.0.2.1', 443), ('169.254.169.254', 80), ('127.0.0.1', HOST)]:
    try: socket.create_connection(to, timeout=5); print('open', to)
    except OSError as e: print('closed')
for family, kind in [(socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW), (40, socket.SOCK_STREAM)]:
    try: socket.socket(family, kind); print('a socket', family)
    except OSError as e: print('none')
";

fn without_a_network_nothing_is_reached_but_loopback() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    #[expect(clippy::disallowed_types, reason = "a port of the host's that nobody inside may reach")]
    let host = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = host.local_addr().expect("an address").port();
    wait(async {
        let sandbox = place.sandbox().await;
        let text = REACHES.replace("HOST", &port.to_string());
        let result = sandbox.exec(words(&["/usr/bin/python3", "-c", &text])).await.expect("it runs");
        assert_eq!(said(&result), "loopback\nclosed\nclosed\nclosed\nclosed\nnone\nnone\nnone\n");
    });
}

/// An outlet that lets one host through, and says who came to it.
#[derive(Debug, Default)]
struct Decides {
    came: Arc<Mutex<Vec<String>>>,
}

impl Egress for Decides {
    fn outlet(&self, _: &SandboxSpec) -> Result<Arc<dyn Outlet>, SandboxError> {
        Ok(Arc::new(Self { came: self.came.clone() }))
    }
}

impl Outlet for Decides {
    fn ports(&self) -> Vec<u16> {
        vec![443]
    }
    fn variables(&self) -> Vec<(String, String)> {
        vec![("HTTP_PROXY".to_owned(), "http://127.0.0.1:3128".to_owned())]
    }
    fn files(&self) -> Vec<(SandboxPath, String)> {
        vec![
            (path("/etc/resolv.conf"), "nameserver 127.0.0.53\n".to_owned()),
            (path("/etc/bailiwick/authorities.pem"), "A".repeat(300_000)),
        ]
    }
    fn proxied(&self, mut stream: Box<dyn Duplex>) -> Doing<'static, ()> {
        let came = self.came.clone();
        Box::pin(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read_exact(&mut byte).await.is_err() {
                    return;
                }
                head.extend_from_slice(&byte);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let first = head.lines().next().unwrap_or_default().to_owned();
            let answer = if first.contains("//allowed.test/") { "200 OK" } else { "403 Forbidden" };
            came.lock().expect("a lock").push(first);
            let body = "x".repeat(200_000);
            let text = format!("HTTP/1.1 {answer}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let _gone = stream.write_all(text.as_bytes()).await;
        })
    }
    fn direct(&self, mut stream: Box<dyn Duplex>, to: SocketAddrV4) -> Doing<'static, ()> {
        Box::pin(async move {
            let _gone = stream.write_all(format!("direct to {to}").as_bytes()).await;
        })
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
    let egress = Decides::default();
    let came = egress.came.clone();
    (Place::with(|options| options.egress = Some(Arc::new(egress))), came)
}

fn allows() -> SandboxSpec {
    SandboxSpec { network: "allow:allowed.test".parse().expect("a network"), ..spec() }
}

const ASKS: &str = r"
import socket, urllib.request, urllib.error
def ask(url):
    try: print(len(urllib.request.urlopen(url, timeout=10).read()))
    except urllib.error.HTTPError as e: print(e.code)
ask('http://allowed.test/'); ask('http://refused.test/')
print(socket.create_connection(('127.64.0.9', 443), timeout=5).recv(100).decode())
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(5)
u.sendto(b'who', ('127.0.0.53', 53)); print(u.recv(100).decode())
print(len(open('/etc/bailiwick/authorities.pem').read()), open('/etc/resolv.conf').read().strip())
for to in [('127.0.0.1', 81), ('10.0.0.1', 80)]:
    try: socket.create_connection(to, timeout=5); print('open', to)
    except OSError as e: print('closed')
";
const ANSWERED: &str =
    "200000\n403\ndirect to 127.64.0.9:443\nheard who\n300000 nameserver 127.0.0.53\nclosed\nclosed\n";

fn a_way_out_is_decided_about_by_the_host_and_nothing_else_is_reached() {
    requires!("gvisor", is_possible());
    let (place, came) = with_a_way_out();
    wait(async {
        let sandbox = place.create(allows()).await.expect("a sandbox");
        let result = sandbox.exec(words(&["/usr/bin/python3", "-c", ASKS])).await.expect("it runs");
        assert_eq!(said(&result), ANSWERED);
        assert_eq!(came.lock().expect("a lock").len(), 2);
        let walls = &sandbox.receipt().walls;
        let is_told = |wall: &Wallpart| wall.demand == "network" && wall.mechanism.contains("proxy");
        assert!(walls.iter().any(is_told), "{walls:?}");
        assert!(walls.iter().any(|wall| wall.demand == "inner names"), "{walls:?}");
    });
}

fn a_way_out_goes_on_after_sleep_and_in_a_fork() {
    requires!("gvisor", is_possible());
    let (place, came) = with_a_way_out();
    wait(async {
        let sandbox = place.create(allows()).await.expect("a sandbox");
        sandbox.hibernate().await.expect("asleep");
        let fork = sandbox.fork().await.expect("a fork");
        for one in [sandbox, fork] {
            let result = one.exec(words(&["/usr/bin/python3", "-c", ASKS])).await.expect("it runs");
            assert_eq!(said(&result), ANSWERED);
        }
        assert_eq!(came.lock().expect("a lock").len(), 4);
    });
}

const SERVES: &str = r"
import socket
l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); l.bind(('127.0.0.1', 8000)); l.listen(5)
open('/work/ready', 'w').close()
while True:
    c, _ = l.accept(); c.sendall(b'you said ' + c.recv(100)); c.close()
";

fn a_port_is_reached_from_outside() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.create(SandboxSpec { expose: vec![8000], ..spec() }).await.expect("a sandbox");
        let running = sandbox.spawn(words(&["/usr/bin/python3", "-c", SERVES])).await.expect("it runs");
        sh(sandbox.as_ref(), "while [ ! -e /work/ready ]; do sleep 0.05; done").await;
        let port = sandbox.expose(8000).await.expect("exposed");
        for word in ["one", "two"] {
            let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("reached");
            stream.write_all(word.as_bytes()).await.expect("said");
            let mut heard = String::new();
            stream.read_to_string(&mut heard).await.expect("heard");
            assert_eq!(heard, format!("you said {word}"));
        }
        assert!(sandbox.expose(8001).await.is_err());
        drop(running);
    });
}

fn networks_that_nothing_here_holds_are_refused() {
    let place = Place::new();
    wait(async {
        let host = place.create(SandboxSpec { network: Network::Host, ..spec() }).await.err();
        assert!(matches!(host, Some(SandboxError::Unsupported { .. })), "{host:?}");
        let allow = place.create(allows()).await.err();
        assert!(matches!(allow, Some(SandboxError::Unenforceable { .. })), "{allow:?}");
    });
}
