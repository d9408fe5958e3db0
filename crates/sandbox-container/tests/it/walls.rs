//! What a command cannot do, tried by doing it.

use bailiwick_sandbox::{Image, Mount, Overlay, SandboxSpec};
use bailiwick_testkit::tests;
use bailiwick_types::ErrorCode;

use crate::engines::with_each;
use crate::place::{Place, path, sh, spec, wait, words};

tests!(
    a_command_has_no_power_at_all,
    nothing_of_the_host_is_there_to_be_read,
    other_sandboxes_and_the_host_cannot_be_reached,
    what_is_mounted_below_a_mount_stays_outside,
    an_overlay_is_refused,
);

fn a_command_has_no_power_at_all() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            let status = sh(sandbox.as_ref(), "cat /proc/self/status").await;
            let line = |name: &str| {
                let found = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
                found.trim().to_owned()
            };
            for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
                assert_eq!(u64::from_str_radix(&line(set), 16).expect("a set"), 0, "{set} {status}");
            }
            assert_eq!(line("NoNewPrivs:"), "1");
            assert_eq!(line("Seccomp:"), "2");
            assert_eq!(line("Uid:").split_whitespace().collect::<Vec<_>>(), ["64924"; 4]);
            assert!(line("Groups:").split_whitespace().all(|group| group == "64924"), "{status}");
            let tries = "import os,ctypes\nlibc=ctypes.CDLL(None,use_errno=True)\n\
                def t(n,*a):\n  r=libc.syscall(n,*a); print(r, ctypes.get_errno() if r<0 else 0)\n\
                t(165,b'none',b'/work',b'tmpfs',0,0)\nt(272,0x10000000)\nt(161,b'/work')\nt(155,b'/work',b'/work')\nt(105,0)\nt(101,16,1,0,0)\n";
            let result = sandbox.exec(words(&["python3", "-c", tries])).await.expect("an end");
            let told = String::from_utf8_lossy(&result.stdout.bytes).into_owned();
            assert_eq!(told.lines().count(), 6, "{result:?}");
            assert!(told.lines().all(|line| line.starts_with("-1")), "{told}");
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn nothing_of_the_host_is_there_to_be_read() {
    with_each(|engine| {
        let place = Place::new(engine);
        let secret = tempfile::tempdir().expect("a folder");
        std::fs::write(secret.path().join("secret"), "of the host").expect("a file");
        wait(async {
            let sandbox = place.sandbox().await;
            let file = secret.path().join("secret");
            let looks = format!(
                "cat {} /etc/shadow /root/.bashrc /var/run/docker.sock 2>/dev/null; ls -A /root /home /var /run /tmp /srv /opt 2>/dev/null | grep -v : | tr '\\n' ' '",
                file.display()
            );
            assert_eq!(sh(sandbox.as_ref(), &looks).await.split_whitespace().collect::<Vec<_>>(), ["tmp"]);
            let resolves = sh(
                sandbox.as_ref(),
                "cat /etc/resolv.conf /etc/hosts; cat /proc/kcore /proc/keys /proc/cmdline 2>/dev/null | wc -c",
            );
            assert_eq!(
                resolves.await,
                "# no name can be resolved here\n127.0.0.1 localhost sandbox\n::1 localhost\n0\n"
            );
            let devices = sh(
                sandbox.as_ref(),
                "find /dev -type b; ls /dev/kmsg /dev/mem /dev/fuse /dev/kvm 2>/dev/null; true",
            );
            assert_eq!(devices.await, "");
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn other_sandboxes_and_the_host_cannot_be_reached() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port of the host's");
            let port = listener.local_addr().expect("its address").port();
            let (one, other) = (place.sandbox().await, place.sandbox().await);
            let serves = "python3 -c 'import socket,os,time\ns=socket.create_server((\"0.0.0.0\",7777))\nif os.fork()==0: os.setsid(); time.sleep(1000)' >/dev/null 2>&1; cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '";
            let interfaces = sh(other.as_ref(), serves).await;
            assert!(interfaces.lines().any(|name| name == "lo"), "{interfaces}");
            let tries = format!(
                "import socket\nfor to in [('127.0.0.1',7777),('127.0.0.1',{port}),('172.17.0.1',{port}),('169.254.169.254',80),('192.0.2.1',80)]:\n  try: socket.create_connection(to,timeout=3); print('open',to)\n  except OSError as e: print(e.errno in (101,111))\n"
            );
            let result = one.exec(words(&["python3", "-c", &tries])).await.expect("an end");
            assert_eq!(String::from_utf8_lossy(&result.stdout.bytes), "True\n".repeat(5), "{result:?}");
            // Nor can the other's processes be seen or signalled.
            let seen = sh(
                one.as_ref(),
                "for p in /proc/[0-9]*; do cat $p/comm 2>/dev/null; done | grep -c python3 || true; kill -9 1 2>&1 | wc -l >/dev/null; echo on",
            );
            assert_eq!(seen.await, "0\non\n");
            assert!(other.is_alive() && one.is_alive());
            one.terminate().await.expect("an end");
            other.terminate().await.expect("an end");
        });
    });
}

fn what_is_mounted_below_a_mount_stays_outside() {
    with_each(|engine| {
        let place = Place::new(engine);
        // A folder with file systems below it wherever an engine sees it from.
        wait(async {
            let mount = Mount { from: "/sys/fs".into(), to: path("/below"), writable: false };
            let mounts = vec![mount.open_by_name().expect("it is held")];
            let sandbox = place.create(SandboxSpec { mounts, ..spec() }).await.expect("a sandbox");
            let seen = sh(
                sandbox.as_ref(),
                "grep -c ' /below/' /proc/self/mountinfo || true; ls -A /below/cgroup | wc -l",
            );
            assert_eq!(seen.await, "0\n0\n");
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn an_overlay_is_refused() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let overlay: Overlay = "/tmp:/work".parse().expect("an overlay");
            let overlay = overlay.open_by_name().expect("the directory");
            let refused =
                place.create(SandboxSpec { overlays: vec![overlay], image: Image::Host, ..spec() }).await;
            assert_eq!(refused.expect_err("it is refused").code(), ErrorCode::Unsupported);
        });
    });
}
