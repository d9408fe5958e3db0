//! The way out and ports: what a sandbox is lent, and that it gets nothing beside.

use std::sync::Arc;

use bailiwick_sandbox::SandboxSpec;
use bailiwick_testkit::tests;
use bailiwick_testkit_sandbox::programs::{TALKED, TALKS};
use bailiwick_testkit_sandbox::{Came, WayOut};
use bailiwick_types::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::engines::{Engine, with_each};
use crate::place::{Place, said, sh, spec, wait, words};

tests!(
    a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else,
    a_network_that_needs_a_way_out_is_refused_without_one,
    a_port_is_reached_from_outside_and_ends_with_its_sandbox,
);

fn with_a_way_out(engine: &Engine) -> (Place, Came) {
    let egress = WayOut::that_tells();
    let came = egress.came();
    (Place::with(engine, |options| options.egress = Some(Arc::new(egress))), came)
}

fn allows() -> SandboxSpec {
    SandboxSpec { network: "allow:example.test".parse().expect("a network"), ..spec() }
}

fn a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else() {
    with_each(|engine| {
        let (place, came) = with_a_way_out(engine);
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
