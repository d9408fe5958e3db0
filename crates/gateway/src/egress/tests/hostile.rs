//! Floods, silence and nonsense: nothing panics, nothing is dialled, and everything ends.

use proptest::prelude::*;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket};

use super::names::address;
use super::tunnels::{greeting, names};
use super::*;

/// What a program could say about a host that it may not reach.
fn seeds() -> Vec<Vec<u8>> {
    vec![
        b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_vec(),
        b"POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".to_vec(),
        b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n".to_vec(),
        vec![5, 1, 0, 5, 1, 0, 3, 9, b'e', b'v', b'i', b'l', b'.', b't', b'e', b's', b't', 1, 187],
        vec![4, 1, 0, 80, 1, 1, 1, 1, 0],
        greeting(&[names(&["evil.test"])]),
    ]
}

fn words() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..3_u8);
    let changed = (prop::sample::select(seeds()), prop::collection::vec(change, 0..6)).prop_map(
        |(mut bytes, changes)| {
            for (index, byte, kind) in changes {
                let at = index.index(bytes.len().max(1));
                match kind {
                    0 if at < bytes.len() => bytes[at] = byte,
                    1 if at < bytes.len() => drop(bytes.remove(at)),
                    _ => bytes.insert(at.min(bytes.len()), byte),
                }
            }
            bytes
        },
    );
    prop_oneof![changed, prop::collection::vec(any::<u8>(), 0..300)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_said_panics_or_is_dialled(words in words(), port in 1..1000_u16, host in 0..4_u8) {
        let world = World::new().with(|builder| {
            builder.bounds(EgressBounds { head: Duration::from_millis(5), ..EgressBounds::SHIPPED })
        });
        let outlet = world.outlet("allow:this-and-no-other.test");
        prop_assert!(address(&outlet, "this-and-no-other.test.").is_ok());
        run(async {
            say(&mut proxied(&outlet), &words).await;
            let to = SocketAddrV4::new([127, 64, 0, host].into(), port);
            say(&mut directed(&outlet, to), &words).await;
        });
        let _ = outlet.answer(&words);
        let _ = read_hello(&words);
        prop_assert!(world.routes.dialled().is_empty());
        prop_assert_eq!(world.table.all_queries(), 0);
    }

    #[test]
    fn no_message_about_names_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..60_usize, byte: u8) {
        let world = World::new();
        let outlet = world.outlet("full");
        let _ = outlet.answer(&bytes);
        let mut question = b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x04test\x00\x00\x01\x00\x01".to_vec();
        if let Some(place) = question.get_mut(at) {
            *place = byte;
        }
        let _ = outlet.answer(&question);
        prop_assert_eq!(world.table.all_queries(), 0);
    }
}

#[test]
fn a_greeting_cut_anywhere_is_not_yet_whole() {
    let whole = greeting(&[names(&["a.test"])]);
    for length in 0..whole.len() {
        assert_eq!(read_hello(&whole[..length]), Hello::Partial, "{length}");
    }
    assert_eq!(read_hello(&whole), Hello::Whole { name: Some("a.test".to_owned()) });
}

#[test]
fn a_program_that_says_nothing_more_is_let_go() {
    let (world, _upstream) = usual();
    let world = world.with(|builder| {
        let soon = Duration::from_millis(50);
        builder.bounds(EgressBounds { head: soon, idle: soon, keep_alive: soon, ..EgressBounds::SHIPPED })
    });
    let outlet = world.outlet("allow:a.test:80,a.test:8080");
    run(async {
        for words in [
            &b""[..],
            b"GET http://a.test/ HT",
            b"CONNECT a.test:8080 HTTP/1.1\r\nHost: a.test:8080\r\n\r\n",
            b"CONNECT a.test:8080 HTTP/1.1\r\nHost: a.test:8080\r\n\r\n\x16\x03\x01",
            b"\x05",
            b"\x05\x01\x00\x05\x01\x00\x03\x06a.test\x00\x50",
            b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
            b"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\nfour",
        ] {
            let mut stream = proxied(&outlet);
            stream.write_all(words).await.unwrap();
            rest(&mut stream).await;
        }
    });
}

#[test]
fn what_is_no_http_is_refused_at_its_first_line() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    let to = SocketAddrV4::new(address(&outlet, "a.test.").unwrap(), 80);
    run(async {
        // Who speaks so waits for an answer, and gets one long before any patience ends.
        let mut stream = directed(&outlet, to);
        stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").await.unwrap();
        assert!(rest(&mut stream).await.starts_with("HTTP/1.1 400 "));
    });
    assert_eq!(reasons(&outlet), ["bad-request"]);
    assert!(upstream.requests().is_empty() && world.routes.dialled().is_empty());
}

#[test]
fn a_tunnel_that_stands_still_is_ended_and_one_that_is_half_closed_goes_on() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut world = World::new().names(&[("a.test", &[PUBLIC])]);
        world.routes =
            world.routes.route(format!("{PUBLIC}:443").parse().unwrap(), listener.local_addr().unwrap());
        let world = world.with(|builder| {
            builder.bounds(EgressBounds { idle: Duration::from_millis(200), ..EgressBounds::SHIPPED })
        });
        let outlet = world.outlet("allow:a.test");
        let open = async || {
            let mut stream = proxied(&outlet);
            stream.write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await.unwrap();
            head(&mut stream).await;
            stream.write_all(&greeting(&[names(&["a.test"])])).await.unwrap();
            let (host, _) = listener.accept().await.unwrap();
            (stream, host)
        };
        let (mut stream, mut host) = open().await;
        stream.shutdown().await.unwrap();
        let mut got = Vec::new();
        host.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, greeting(&[names(&["a.test"])]), "the end went on");
        host.write_all(b"still here").await.unwrap();
        drop(host);
        assert_eq!(rest(&mut stream).await, "still here");
        let (mut stream, _host) = open().await;
        assert_eq!(rest(&mut stream).await, "", "nobody moves");
    });
}

#[test]
fn a_sandbox_has_so_many_connections_and_no_more() {
    let (world, _upstream) = usual();
    let world =
        world.with(|builder| builder.bounds(EgressBounds { connections: 2, ..EgressBounds::SHIPPED }));
    let outlet = world.outlet("allow:a.test");
    run(async {
        let (first, second) = (proxied(&outlet), proxied(&outlet));
        tokio::task::yield_now().await;
        let third = rest(&mut proxied(&outlet)).await;
        assert!(third.starts_with("HTTP/1.1 503 ") && third.contains("too-many-connections"), "{third}");
        drop(first);
        while outlet.refused() < 1_000 {
            let said = say(&mut proxied(&outlet), get("http://a.test/").as_bytes()).await;
            if said.starts_with("HTTP/1.1 200 ") {
                break;
            }
        }
        assert!(outlet.refused() < 1_000, "a place that was left is free");
        drop(second);
    });
}

#[test]
fn sandboxes_share_so_many_connections_and_one_that_comes_later_finds_some() {
    let (world, _upstream) = usual();
    let world = world.with(|builder| builder.bounds(EgressBounds { in_all: 48, ..EgressBounds::SHIPPED }));
    let egress = world.egress();
    let spec = SandboxSpec { network: "allow:a.test".parse().unwrap(), ..SandboxSpec::default() };
    let outlet = || egress.outlet(&spec).unwrap();
    run(async {
        let greedy: Vec<Arc<dyn Outlet>> = (0..6).map(|_| outlet()).collect();
        let mut crowd: Vec<Vec<DuplexStream>> = Vec::new();
        for outlet in &greedy {
            crowd.push((0..200).map(|_| proxied(outlet)).collect());
        }
        // Those that got no turn are told, or closed.
        while greedy.iter().map(|outlet| outlet.refused()).sum::<u64>() < 6 * 200 - 48 {
            tokio::task::yield_now().await;
        }
        let taken: Vec<u64> = greedy.iter().map(|outlet| 200 - outlet.refused()).collect();
        assert!(taken.iter().sum::<u64>() < 48, "{taken:?} are all there are");
        assert!(taken[0] >= 8, "the first has its part of all: {taken:?}");
        let later = outlet();
        let said = say(&mut proxied(&later), get("http://a.test/").as_bytes()).await;
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
        drop(crowd);
    });
}

#[test]
fn connections_are_bounded_by_the_descriptors_and_the_memory_of_the_machine() {
    for (descriptors, memory, in_all) in [
        (1 << 20, None, 8192),
        (1 << 20, Some(64 << 30), 8192),
        (1 << 20, Some(1 << 30), 1024),
        (20_000, Some(64 << 30), 2500),
        (512, Some(64 << 30), 64),
        (0, Some(0), 1),
    ] {
        let bounds = EgressBounds::SHIPPED.within(descriptors, memory);
        assert_eq!(bounds, EgressBounds { in_all, ..EgressBounds::SHIPPED }, "{descriptors} {memory:?}");
    }
}

#[test]
fn a_crowd_beyond_that_is_closed_without_being_waited_for() {
    let (world, _upstream) = usual();
    let world =
        world.with(|builder| builder.bounds(EgressBounds { connections: 1, ..EgressBounds::SHIPPED }));
    let outlet = world.outlet("allow:a.test");
    run(async {
        let _first = proxied(&outlet);
        tokio::task::yield_now().await;
        // Nobody of them goes away, so each that is told is waited for.
        let mut crowd: Vec<DuplexStream> = (0..200).map(|_| proxied(&outlet)).collect();
        while outlet.refused() < 200 {
            tokio::task::yield_now().await;
        }
        let mut silent = 0;
        for stream in &mut crowd {
            silent += usize::from(rest(stream).await.is_empty());
        }
        assert_eq!(silent, 200 - 32);
    });
}

#[test]
fn what_a_guest_wrote_is_told_and_kept_only_as_far_as_anybody_reads() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    let (long, label) = ("x".repeat(9_000), "y".repeat(60));
    run(async {
        let to = SocketAddrV4::new(address(&outlet, "a.test.").unwrap(), 443);
        say(&mut directed(&outlet, to), &greeting(&[names(&[&long])])).await;
        for words in [
            format!("{long} http://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n"),
            format!("GET http://a.test/{long} HTTP/1.1\r\nHost: b.test\r\n\r\n"),
            format!(
                "GET http://{label}.{label}.{label}.test/ HTTP/1.1\r\nHost: {label}.{label}.{label}.test\r\n\r\n"
            ),
            format!(
                "POST http://a.test/{long} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nno\r\n"
            ),
        ] {
            let said = say(&mut proxied(&outlet), words.as_bytes()).await;
            assert!(said.len() < 2_000, "{}", said.len());
        }
    });
    let kept = outlet.denials(0);
    assert_eq!(kept.len(), 5, "{:?}", reasons(&outlet));
    for denial in kept {
        assert!(denial.asked.chars().count() <= 301, "{}", denial.asked.len());
    }
}

#[test]
fn refusals_are_counted_and_kept_within_bounds() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    run(async {
        for number in 0..300 {
            for _ in 0..2 {
                say(&mut proxied(&outlet), get(&format!("http://h{number}.test/")).as_bytes()).await;
            }
        }
    });
    assert_eq!(outlet.refused(), 600);
    let kept = outlet.denials(0);
    assert_eq!(kept.len(), 128);
    assert_eq!(kept[0].asked, "connect h0.test:80");
    assert_eq!(kept[127].asked, "connect h299.test:80");
    assert_eq!(outlet.denials(598).len(), 1);
    let before = outlet.refused();
    ask(&outlet, get("http://h0.test/").as_bytes());
    assert_eq!(outlet.denials(before).len(), 1, "one that was refused before is told again");
}

#[test]
fn a_thousand_tunnels_stand_at_once() {
    const COUNT: u32 = 1_000;
    let mut limits = getrlimit(Resource::Nofile);
    limits.current = limits.maximum;
    setrlimit(Resource::Nofile, limits).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        // The host has room for all of them, also before it took any: else the kernel drops what comes, and a
        // connection that is there for one side is not there for the other.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(2 * COUNT).unwrap();
        let mut world = World::new().names(&[("a.test", &[PUBLIC])]);
        world.routes =
            world.routes.route(format!("{PUBLIC}:443").parse().unwrap(), listener.local_addr().unwrap());
        let outlet = world.outlet("allow:a.test");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut reader, mut writer) = stream.split();
                    let _ = tokio::io::copy(&mut reader, &mut writer).await;
                });
            }
        });
        let greeting = greeting(&[names(&["a.test"])]);
        let mut open = Vec::new();
        for _ in 0..COUNT {
            let mut stream = proxied(&outlet);
            stream.write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await.unwrap();
            open.push(stream);
        }
        for stream in &mut open {
            let said = head(stream).await;
            assert!(said.starts_with("HTTP/1.1 200 "), "{said:?}, {:?}", reasons(&outlet));
            stream.write_all(&greeting).await.unwrap();
        }
        for (number, stream) in open.iter_mut().enumerate() {
            stream.write_all(format!("{number:08}").as_bytes()).await.unwrap();
        }
        for (number, stream) in open.iter_mut().enumerate() {
            let mut echo = vec![0; greeting.len() + 8];
            let read = stream.read_exact(&mut echo).await;
            assert!(read.is_ok(), "tunnel {number}: {read:?}, {:?}", reasons(&outlet));
            assert_eq!(echo[greeting.len()..], *format!("{number:08}").as_bytes());
        }
    });
}
