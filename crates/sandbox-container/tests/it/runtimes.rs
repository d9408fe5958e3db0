//! Runtimes that an engine is told to use: what they are seen to be, and why one cannot be used.
//!
//! gVisor's with `--network=sandbox`, which is its own choice, cannot set up a network on some kernels; with `--network=none` it
//! runs, and the way out and ports go by the agent as ever.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_sandbox::{Available, Backend, Backends, Demand, Limit, SandboxSpec};
use bailiwick_testkit::{has, tests};
use bailiwick_types::{ErrorCode, Tier, WallStatus};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::engines::{Engine, Own, ask};
use crate::place::{Place, path, sh, shell, spec, wait};

tests!(
    a_sandbox_on_gvisors_kernel_is_told_to_be_one,
    a_runtime_is_looked_at_where_what_it_promises_would_do,
    a_kernel_that_is_root_outside_is_no_nobody,
    a_runtime_whose_network_cannot_be_set_up_is_told_with_what_to_do,
    a_runtime_that_the_engine_has_not_is_told_with_what_to_do,
    a_runtime_that_only_has_the_name_is_a_container,
);

/// A Docker that knows gVisor's runtime in two ways, one that is not there, and one that only has the name.
fn engine() -> Option<Own> {
    if !has("gvisor", Path::new("/usr/bin/runsc").exists()) {
        return None;
    }
    Own::docker_with(
        r#"{"runtimes": {
            "runsc": {"path": "/usr/bin/runsc", "runtimeArgs": ["--network=none"]},
            "runsc-as-it-is": {"path": "/usr/bin/runsc"},
            "runsc-by-name": {"path": "/usr/sbin/runc"}
        }}"#,
    )
}

fn place(own: &Own, runtime: &str) -> Place {
    Place::at(&own.socket, |options| {
        options.runtime = Some(runtime.to_owned());
        // The engine starts gVisor's kernel as root, which has to be said yes to.
        options.accept = vec![Demand::Privilege];
    })
}

fn a_sandbox_on_gvisors_kernel_is_told_to_be_one() {
    let Some(own) = engine() else { return };
    let place = place(&own, "runsc");
    wait(async {
        let probe = place.backend.probe().await;
        assert_eq!(probe.availability, Available::Yes, "{probe:?}");
        assert!(probe.found.iter().any(|found| found == "runtime runsc"), "{probe:?}");
        assert_eq!(place.backend.tier(), Tier::UserKernel);
        let limits =
            spec().limits.with(Limit::Processes, "12").and_then(|limits| limits.with(Limit::Disk, "8MiB"));
        let small = SandboxSpec { limits: limits.expect("limits"), expose: vec![8000], ..spec() };
        let sandbox = place.create(small).await.expect("a sandbox");
        assert_eq!(sandbox.receipt().tier, Tier::UserKernel);
        for wall in &sandbox.receipt().walls {
            let expected = match wall.demand.as_str() {
                // The engine takes one number for the memory of commands and of that kernel.
                "privilege" | "memory" => WallStatus::Partial,
                "uid" => WallStatus::Absent,
                _ => WallStatus::Enforced,
            };
            assert_eq!(wall.status, expected, "{wall:?}");
        }
        // It is gVisor's.
        assert_eq!(
            sh(sandbox.as_ref(), "uname -r; id -u; head -c 2 /proc/self/comm").await,
            "4.4.0\n64924\nhe"
        );
        // What is late is dead inside.
        let late = shell("trap '' TERM; sleep 12345 & sleep 12345").with_timeout(Duration::from_millis(700));
        let result = sandbox.exec(late.expect("a deadline")).await.expect("an end");
        assert!(result.timed_out, "{result:?}");
        let left = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done | grep -c '^sleep 1234[5]' || true";
        assert_eq!(sh(sandbox.as_ref(), left).await, "0\n");
        // Its bounds are those of its own kernel.
        let forks = "python3 -c 'import os,time\nall=[]\ntry:\n  while len(all)<200:\n    child=os.fork()\n    if child==0: time.sleep(1000)\n    all.append(child)\nexcept OSError: pass\nfor child in all: os.kill(child,9); os.waitpid(child,0)\nprint(len(all))'";
        assert_eq!(sh(sandbox.as_ref(), forks).await, "10\n");
        let fill = "head -c 90000000 /dev/zero > /work/f 2>/dev/null; wc -c < /work/f";
        let written: u64 = sh(sandbox.as_ref(), fill).await.trim().parse().expect("a number");
        assert!((1..=4 << 20).contains(&written), "{written}");
        sh(sandbox.as_ref(), "rm /work/f").await;
        // It sleeps and wakes, a port is reached, and its files are kept.
        sh(sandbox.as_ref(), "echo kept > /work/kept").await;
        sandbox.hibernate().await.expect("asleep");
        let kept = sandbox.read_file(&path("/work/kept"), 100).await.expect("it wakes");
        assert_eq!(&kept[..], b"kept\n");
        let serves = "python3 -c 'import socket,os\ns=socket.create_server((\"127.0.0.1\",8000))\nif os.fork()==0:\n  os.setsid()\n  while True:\n    c,_=s.accept(); c.sendall(b\"said: \"+c.recv(100)); c.close()' >/dev/null 2>&1; echo on";
        assert_eq!(sh(sandbox.as_ref(), serves).await, "on\n");
        let port = sandbox.expose(8000).await.expect("exposed");
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
        stream.write_all(b"hello").await.expect("said");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("heard");
        assert_eq!(answer, "said: hello");
        let fork = sandbox.fork().await.expect("a fork");
        assert_eq!(sh(fork.as_ref(), "cat /work/kept").await, "kept\n");
        fork.terminate().await.expect("an end");
        sandbox.terminate().await.expect("an end");
        place.backend.close().await;
    });
    assert_eq!(ask(&Engine::Own(own), &["ps", "-aq"]), "", "nothing is left");
}

fn a_runtime_is_looked_at_where_what_it_promises_would_do() {
    let Some(own) = engine() else { return };
    for (runtime, floor, is_taken) in [
        ("runsc", Tier::UserKernel, true),
        ("runsc", Tier::MicroVm, false),
        ("runsc-by-name", Tier::UserKernel, false),
    ] {
        // One that has not looked yet, as in every process that has just begun.
        let place = place(&own, runtime);
        let backends =
            Backends::new([place.backend.clone() as Arc<dyn Backend>]).with_lenient([Demand::Privilege]);
        wait(async {
            let picked = backends.select(floor, None, &spec()).await;
            assert_eq!(picked.is_ok(), is_taken, "{runtime} {floor}: {picked:?}");
            let named = backends.named("container", floor, &spec()).await;
            assert_eq!(named.is_ok(), is_taken, "{runtime} {floor}: {named:?}");
            place.backend.close().await;
        });
    }
}

fn a_kernel_that_is_root_outside_is_no_nobody() {
    let Some(own) = engine() else { return };
    let place = Place::at(&own.socket, |options| options.runtime = Some("runsc".to_owned()));
    wait(async {
        let error = place.create(spec()).await.expect_err("nobody said yes to it");
        assert_eq!(error.code(), ErrorCode::Unenforceable, "{error}");
        assert!(error.to_string().contains("started by the engine as root"), "{error}");
        place.backend.close().await;
    });
    assert_eq!(ask(&Engine::Own(own), &["ps", "-aq"]), "", "nothing is left");
}

#[track_caller]
fn check_unusable(own: &Own, runtime: &str, reason: &str, fix: &str) {
    let place = place(own, runtime);
    let began = Instant::now();
    wait(async {
        let probe = place.backend.probe().await;
        let Available::No { reason: told, fix: Some(told_fix) } = &probe.availability else {
            panic!("{probe:?}")
        };
        assert!(told.contains(reason), "{told}");
        assert!(told_fix.contains(fix), "{told_fix}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        let error = place.create(spec()).await.expect_err("it cannot be used");
        assert_eq!(error.code(), ErrorCode::Unavailable, "{error}");
        place.backend.close().await;
    });
}

fn a_runtime_whose_network_cannot_be_set_up_is_told_with_what_to_do() {
    // Kernels that show every network this file are those that gVisor takes each network for the machine's own on.
    let is_shown = std::process::Command::new("unshare")
        .args(["--net", "test", "-e", "/proc/sys/net/core/rmem_default"])
        .status()
        .is_ok_and(|status| status.success());
    if !has("a kernel on which it cannot", is_shown) {
        return;
    }
    let Some(own) = engine() else { return };
    check_unusable(&own, "runsc-as-it-is", "cannot set up a network of its own", "--network=none");
    // Docker leaves what was made for a start that failed, so it is not tried again at once.
    assert_eq!(own.started("runsc-sandbox"), 1, "one start");
    assert_eq!(ask(&Engine::Own(own), &["ps", "-aq"]), "", "nothing is left");
}

fn a_runtime_that_the_engine_has_not_is_told_with_what_to_do() {
    let Some(own) = engine() else { return };
    check_unusable(
        &own,
        "kata-runtime",
        "the engine has no runtime `kata-runtime`",
        "sandbox.container.runtime",
    );
}

fn a_runtime_that_only_has_the_name_is_a_container() {
    let Some(own) = engine() else { return };
    let place = place(&own, "runsc-by-name");
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!(sandbox.receipt().tier, Tier::Container, "{:?}", sandbox.receipt());
        let walls = &sandbox.receipt().walls;
        let processes = walls.iter().find(|wall| wall.demand == "processes").expect("a part");
        assert_eq!(
            processes.status,
            WallStatus::Absent,
            "what it was planned for does not hold: {processes:?}"
        );
        sandbox.terminate().await.expect("an end");
    });
}
