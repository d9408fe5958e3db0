//! What is reached from inside of a network of its own, and what is not.
#![expect(clippy::disallowed_types, reason = "the tests of fakes talk to them over plain sockets")]

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::time::Duration;

use super::{Netns, has_ip, inside, is_possible};
use crate::client::{get, text};
use crate::dns::{FakeDns, Reply, Script};
use crate::program::Program;
use crate::proxy::{Proxy, Setup};
use crate::requires;
use crate::routes::Routes;
use crate::specs::Specs;
use crate::upstream::{Answer, Protocol, Request, Upstream};

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn world() -> Netns {
    Netns::new().address("93.184.216.34/32").address("2606:2800::1/128")
}

#[test]
fn upstreams_inside_have_addresses_and_ports_of_the_world() {
    requires!("ip", has_ip());
    requires!("netns", is_possible());
    world().run(|| {
        assert!(inside());
        for place in ["93.184.216.34:80", "[2606:2800::1]:443", "127.0.0.1:80", "[::1]:443"] {
            let upstream = Upstream::listen(address(place), Protocol::Http, |_: &Request| Answer::ok("here"));
            assert!(text(&get(upstream.address(), "/")).ends_with("here"), "{place}");
        }
        // Also a table and a proxy may lead to them there.
        let (pretended, real) = (address("10.0.0.1:80"), address("93.184.216.34:80"));
        assert_eq!(Routes::new().route(pretended, real).lookup(pretended), Some(real));
        drop(Proxy::listen(address("93.184.216.34:3128"), Setup::default().authority("a.test:80", real)));
    });
}

#[test]
fn nothing_of_the_world_is_reached_from_inside() {
    requires!("netns", is_possible());
    world().run(|| {
        for place in ["93.184.216.35:80", "10.0.0.1:80", "[2606:2800::2]:80"] {
            let fault = TcpStream::connect(address(place)).expect_err("no way there");
            assert_eq!(fault.kind(), std::io::ErrorKind::NetworkUnreachable, "{place}");
        }
    });
}

#[test]
fn the_loopback_inside_is_another_than_the_one_outside() {
    requires!("netns", is_possible());
    let upstream = Upstream::http(|_: &Request| Answer::ok("outside"));
    let dial = format!("exec 3<>/dev/tcp/127.0.0.1/{}", upstream.port());
    let within = world().command("/bin/bash").args(["-c", &dial]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&within.stderr).contains("Connection refused"), "{within:?}");
    assert_eq!(upstream.connections(), 0);
    // The same program reaches it from here.
    assert_eq!(Program::new("/bin/bash").run(&["-c", &dial]).code, Some(0));
    assert!(upstream.wait_for_connections(1));
}

#[test]
fn a_program_in_a_network_of_its_own_gets_its_arguments_and_ends_as_it_ends() {
    requires!("netns", is_possible());
    let script = "test \"$*\" = '-- a  b' && cat /proc/net/if_inet6 && exit 7";
    let output =
        world().command("/bin/sh").args(["-c", script, "sh", "--", "a  b"]).output().expect("it runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(printed.contains("26062800000000000000000000000001"), "{printed}");
    assert!(printed.lines().all(|line| line.ends_with(" lo")), "{printed}");
}

#[test]
fn a_network_that_cannot_be_set_up_runs_nothing() {
    requires!("netns", is_possible());
    let wrong = Netns::new().address("no address");
    let output = wrong.command("/bin/echo").arg("ran").output().expect("it starts");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(125), &b""[..]));
}

#[test]
fn the_machine_of_a_program_can_have_a_network_of_its_own() {
    requires!("netns", is_possible());
    let run =
        Program::new("/bin/sh").within(&world()).run(&["-c", "cat /proc/net/if_inet6; pwd; echo $HOME"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains("26062800000000000000000000000001"), "{}", run.stdout);
    assert!(run.stdout.ends_with("[MACHINE]/work\n[MACHINE]/home\n"), "{}", run.stdout);
}

#[test]
fn the_name_server_inside_is_the_one_of_the_test() {
    requires!("netns", is_possible());
    let network = world().name_server("93.184.216.34".parse().expect("an address"));
    network.run(|| {
        let script = Script::new().name("upstream.test", &[Reply::addresses(&["93.184.216.34"])]);
        let dns = FakeDns::listen(address("93.184.216.34:53"), script);
        let run = Program::new("/bin/cat").run(&["/etc/resolv.conf"]);
        assert_eq!(run.stdout, "nameserver 93.184.216.34\n");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        let question = b"\0\x01\x01\0\0\x01\0\0\0\0\0\0\x08upstream\x04test\0\0\x01\0\x01";
        socket.send_to(question, dns.address()).expect("sent");
        let mut answer = [0; 512];
        let length = socket.recv(&mut answer).expect("an answer");
        assert_eq!(answer[length - 4..length], [93, 184, 216, 34]);
    });
}

/// As an area of specs that needs servers is run: all of it inside, with the servers.
#[test]
fn specs_inside_reach_the_servers_of_the_test() {
    requires!("netns", is_possible());
    let area = tempfile::tempdir().expect("a folder");
    write(
        &area.path().join("reaches/case.toml"),
        "about = \"x\"\nargs = [\"go.sh\"]\nstdout = [\"200 OK\"]\n",
    );
    // A shell that can open sockets, told where by a variable and a file of the whole area.
    let script = "exec 3<>/dev/tcp/$SERVER/80\n\
                  printf 'GET %s HTTP/1.1\\r\\nconnection: close\\r\\n\\r\\n' \"$(cat ~/path)\" >&3\n\
                  cat <&3\n";
    write(&area.path().join("reaches/go.sh"), script);
    let specs = Specs::new(Path::new("/bin/bash"), area.path())
        .variable("SERVER", "93.184.216.34")
        .home_file("path", "/of/all");
    world().run(|| {
        let upstream =
            Upstream::listen(address("93.184.216.34:80"), Protocol::Http, |_: &Request| Answer::ok("here"));
        assert_eq!(specs.run(), [("reaches".to_owned(), None)]);
        assert_eq!(upstream.requests()[0].target, "/of/all");
        // In a network of its own below this one, the server is not there.
        let results = specs.within(&world()).run();
        let wrong = results[0].1.as_deref().expect("a failure");
        assert!(wrong.contains("Connection refused"), "{wrong}");
        assert_eq!(upstream.requests().len(), 1);
    });
}

#[expect(clippy::disallowed_methods, reason = "files of a test's own")]
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}
