//! Networks: none, a way out that the host decides about, and ports.

use std::sync::Arc;

use bailiwick_sandbox::{Network, Sandbox, SandboxError, SandboxSpec};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{HostNetwork, Place, Subject, checks};
use crate::programs::{ANSWERED, ASKS, REACHED, REACHES, SERVES, TALKED, TALKS};
use crate::{Came, WayOut, said, sh, wait, words};

checks!(
    without_a_network_nothing_is_reached_but_loopback,
    another_sandbox_is_neither_reached_nor_seen,
    a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else,
    a_way_out_is_decided_about_by_the_host_and_goes_on_after_sleep_and_in_a_fork,
    a_network_that_needs_a_way_out_is_refused_without_one,
    the_hosts_network_is_refused if |claims| claims.host_network == HostNetwork::Refused,
    a_port_is_reached_from_outside_and_ends_with_its_sandbox,
);

/// Runs a program in Python and gives what it says.
async fn python(sandbox: &dyn Sandbox, text: &str) -> String {
    said(&sandbox.exec(words(&["/usr/bin/python3", "-c", text])).await.expect("it runs"))
}

fn without_a_network_nothing_is_reached_but_loopback(subject: &dyn Subject) {
    let place = Place::new(subject);
    #[expect(clippy::disallowed_types, reason = "a port of the host's that nobody inside may reach")]
    let host = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = host.local_addr().expect("an address").port();
    wait(async {
        let sandbox = place.sandbox().await;
        let text = REACHES.replace("HOST", &port.to_string());
        assert_eq!(python(sandbox.as_ref(), &text).await, REACHED);
    });
}

fn another_sandbox_is_neither_reached_nor_seen(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let (one, other) = (place.sandbox().await, place.sandbox().await);
        let serves = "import socket,os,time\ns=socket.create_server(('0.0.0.0',7777))\nif os.fork()==0: os.setsid(); time.sleep(1000)";
        let serves =
            format!("python3 -c \"{serves}\" >/dev/null 2>&1; tail -n +3 /proc/net/dev | cut -d: -f1");
        let interfaces = sh(other.as_ref(), &serves).await;
        assert!(interfaces.lines().any(|name| name.trim() == "lo"), "{interfaces}");
        let tries = "import socket\nfor to in ['127.0.0.1','172.17.0.1','10.0.0.1']:\n  \
                     try: socket.create_connection((to,7777),timeout=3); print('open',to)\n  \
                     except OSError as e: print(e.errno in (101,111,113))\n";
        assert_eq!(python(one.as_ref(), tries).await, "True\n".repeat(3));
        // Nor can the other's processes be seen.
        let seen = "for p in /proc/[0-9]*; do cat $p/comm 2>/dev/null; done | grep -c python3 || true";
        assert_eq!(sh(one.as_ref(), seen).await, "0\n");
        assert_eq!(sh(other.as_ref(), seen).await, "1\n", "the look finds it where it is");
    });
}

fn with_a_way_out(subject: &dyn Subject, egress: WayOut) -> (Place<'_>, SandboxSpec, Came) {
    let came = egress.came();
    let place = Place::with(subject, |setup| setup.egress = Some(Arc::new(egress)));
    let spec = allows(&place);
    (place, spec, came)
}

fn allows(place: &Place<'_>) -> SandboxSpec {
    SandboxSpec { network: "allow:allowed.test".parse().expect("a network"), ..place.spec() }
}

fn a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else(subject: &dyn Subject) {
    let (place, spec, came) = with_a_way_out(subject, WayOut::that_tells());
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        assert_eq!(python(sandbox.as_ref(), TALKS).await, TALKED);
        assert_eq!(came.lock().expect("a lock").len(), 3);
        let walls = &sandbox.receipt().walls;
        let has = |demand: &str, how: &str| {
            walls.iter().any(|wall| wall.demand == demand && wall.mechanism.contains(how))
        };
        assert!(has("network", "proxy") && has("inner names", ""), "{walls:?}");
    });
}

fn a_way_out_is_decided_about_by_the_host_and_goes_on_after_sleep_and_in_a_fork(subject: &dyn Subject) {
    let (place, spec, came) = with_a_way_out(subject, WayOut::that_decides());
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        assert_eq!(python(sandbox.as_ref(), ASKS).await, ANSWERED);
        assert_eq!(came.lock().expect("a lock").len(), 2);
        sandbox.hibernate().await.expect("asleep");
        let fork = sandbox.fork().await.expect("a fork");
        for one in [sandbox, fork] {
            assert_eq!(python(one.as_ref(), ASKS).await, ANSWERED);
        }
        assert_eq!(came.lock().expect("a lock").len(), 6);
    });
}

fn a_network_that_needs_a_way_out_is_refused_without_one(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        for network in [Network::Git, Network::Full, allows(&place).network] {
            let error = place.create(SandboxSpec { network, ..place.spec() }).await.expect_err("refused");
            assert!(matches!(error, SandboxError::Unenforceable { .. }), "{error}");
            assert!(error.hint().is_some(), "{error}");
        }
    });
}

fn the_hosts_network_is_refused(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let error = place.create(SandboxSpec { network: Network::Host, ..place.spec() }).await.err();
        assert!(matches!(error, Some(SandboxError::Unsupported { .. })), "{error:?}");
    });
}

/// What somebody hears who comes to a port of the host's and says a word.
async fn talk(port: u16, word: &str) -> std::io::Result<String> {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(word.as_bytes()).await?;
    let mut heard = String::new();
    stream.read_to_string(&mut heard).await?;
    Ok(heard)
}

fn a_port_is_reached_from_outside_and_ends_with_its_sandbox(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let spec = SandboxSpec { expose: vec![8000], ..place.spec() };
        let sandbox = place.create(spec).await.expect("a sandbox");
        let running = sandbox.spawn(words(&["/usr/bin/python3", "-c", SERVES])).await.expect("it runs");
        sh(sandbox.as_ref(), "while [ ! -e /work/ready ]; do sleep 0.05; done").await;
        let port = sandbox.expose(8000).await.expect("exposed");
        assert_eq!(sandbox.expose(8000).await.expect("exposed"), port, "it stays where it is");
        for word in ["one", "two", "three"] {
            assert_eq!(talk(port, word).await.expect("an answer"), format!("you said {word}"));
        }
        let error = sandbox.expose(8001).await.expect_err("it was not listed");
        assert!(error.to_string().contains("8000"), "{error}");
        // Nothing listens any more: whoever comes is turned away, and the sandbox lives on.
        running.urgent.send(bailiwick_sandbox::Input::Kill).await.expect("it listens");
        running.ended.await.expect("told").expect("an end");
        assert_eq!(talk(port, "anybody").await.unwrap_or_default(), "");
        assert_eq!(sh(sandbox.as_ref(), "echo alive").await, "alive\n");
        sandbox.terminate().await.expect("ended");
        drop(sandbox);
        tokio::task::yield_now().await;
        let refused = talk(port, "anybody").await;
        let is_refused = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
        assert!(refused.as_ref().is_err_and(is_refused), "{refused:?}");
    });
}
