//! Networks: none, a way out that the host decides about, and ports.

use std::sync::Arc;

use bailiwick_sandbox::{Network, SandboxError, SandboxSpec};
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::programs::{ANSWERED, ASKS, REACHED, REACHES, SERVES};
use bailiwick_testkit_sandbox::{Came, WayOut};
use bailiwick_types::Wallpart;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::place::{Place, is_possible, said, sh, spec, wait, words};

tests!(
    without_a_network_nothing_is_reached_but_loopback_and_a_port_from_outside,
    a_way_out_is_decided_about_by_the_host_and_goes_on_after_sleep_and_in_a_fork,
    networks_that_nothing_here_holds_are_refused,
);

fn without_a_network_nothing_is_reached_but_loopback_and_a_port_from_outside() {
    requires!("qemu", is_possible());
    let place = Place::new();
    #[expect(clippy::disallowed_types, reason = "a port of the host's that nobody inside may reach")]
    let host = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = host.local_addr().expect("an address").port();
    wait(async {
        let sandbox = place.create(SandboxSpec { expose: vec![8000], ..spec() }).await.expect("a sandbox");
        let text = REACHES.replace("HOST", &port.to_string());
        let result = sandbox.exec(words(&["/usr/bin/python3", "-c", &text])).await.expect("it runs");
        assert_eq!(said(&result), REACHED);
        let running = sandbox.spawn(words(&["/usr/bin/python3", "-c", SERVES])).await.expect("it runs");
        sh(sandbox.as_ref(), "while [ ! -e /work/ready ]; do sleep 0.1; done").await;
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

fn with_a_way_out() -> (Place, Came) {
    let egress = WayOut::that_decides();
    let came = egress.came();
    (Place::with(|options| options.egress = Some(Arc::new(egress))), came)
}

fn allows() -> SandboxSpec {
    SandboxSpec { network: "allow:allowed.test".parse().expect("a network"), ..spec() }
}

fn a_way_out_is_decided_about_by_the_host_and_goes_on_after_sleep_and_in_a_fork() {
    requires!("qemu", is_possible());
    let (place, came) = with_a_way_out();
    wait(async {
        let sandbox = place.create(allows()).await.expect("a sandbox");
        let ask = || words(&["/usr/bin/python3", "-c", ASKS]);
        assert_eq!(said(&sandbox.exec(ask()).await.expect("it runs")), ANSWERED);
        assert_eq!(came.lock().expect("a lock").len(), 2);
        let walls = &sandbox.receipt().walls;
        let is_told = |wall: &Wallpart| wall.demand == "network" && wall.mechanism.contains("proxy");
        assert!(walls.iter().any(is_told), "{walls:?}");
        assert!(walls.iter().any(|wall| wall.demand == "inner names"), "{walls:?}");
        sandbox.hibernate().await.expect("asleep");
        let fork = sandbox.fork().await.expect("a fork");
        for one in [sandbox, fork] {
            assert_eq!(said(&one.exec(ask()).await.expect("it runs")), ANSWERED);
        }
        assert_eq!(came.lock().expect("a lock").len(), 6);
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
