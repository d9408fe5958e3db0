//! The way out and ports: what a sandbox is lent, and that it gets nothing beside.

use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex};

use bailiwick_sandbox::{Doing, Duplex, Egress, Outlet, SandboxError, SandboxPath, SandboxSpec};
use bailiwick_testkit::tests;
use bailiwick_types::{Denial, ErrorCode, WallStatus, Wallpart};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::engines::{Engine, with_each};
use crate::place::{Place, path, said, sh, spec, wait, words};

tests!(
    a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else,
    a_network_that_needs_a_way_out_is_refused_without_one,
    a_port_is_reached_from_outside_and_ends_with_its_sandbox,
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

fn with_a_way_out(engine: &Engine) -> (Place, Arc<Mutex<Vec<String>>>) {
    let egress = Tells::default();
    let came = egress.came.clone();
    (Place::with(engine, |options| options.egress = Some(Arc::new(egress))), came)
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
    with_each(|engine| {
        let (place, came) = with_a_way_out(engine);
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
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn a_network_that_needs_a_way_out_is_refused_without_one() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let error = place.create(allows()).await.expect_err("it is refused");
            assert_eq!(error.code(), ErrorCode::Unenforceable, "{error}");
        });
    });
}

fn a_port_is_reached_from_outside_and_ends_with_its_sandbox() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox =
                place.create(SandboxSpec { expose: vec![8000], ..spec() }).await.expect("a sandbox");
            let serves = "python3 -c 'import socket,os\ns=socket.create_server((\"127.0.0.1\",8000))\nif os.fork()==0:\n  os.setsid()\n  while True:\n    c,_=s.accept(); c.sendall(b\"said: \"+c.recv(100)); c.close()' >/dev/null 2>&1; echo on";
            assert_eq!(sh(sandbox.as_ref(), serves).await, "on\n");
            let port = sandbox.expose(8000).await.expect("exposed");
            assert_eq!(sandbox.expose(8000).await.expect("exposed"), port);
            for _ in 0..3 {
                let mut stream =
                    tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
                stream.write_all(b"hello").await.expect("said");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).await.expect("heard");
                assert_eq!(answer, "said: hello");
            }
            sandbox.expose(8001).await.expect_err("it was not listed");
            sandbox.terminate().await.expect("an end");
            drop(sandbox);
            let mut silence = Vec::new();
            if let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await {
                let _nobody = stream.read_to_end(&mut silence).await;
            }
            assert_eq!(silence, b"");
        });
    });
}
