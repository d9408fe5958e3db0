//! Firecracker as this backend starts it. No machine of it runs here: neither its program nor a KVM on which one starts is on the machines
//! that these tests were written on. What stands in for it says so in its name.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bailiwick_sandbox::{Available, Backend, Demand, SandboxError};
use bailiwick_sandbox_microvm::{Choice, Options};
use bailiwick_testkit::{requires, tests};
use bailiwick_types::WallStatus;

use crate::place::{Place, is_possible, machines, sh, shell, spec, wait};

tests!(
    a_firecracker_that_is_not_there_is_said_to_be_missing,
    a_firecracker_that_hangs_is_told_in_time_and_remembered,
    what_firecracker_says_of_an_error_is_in_the_reason,
    a_machine_behind_virtual_sockets_works_and_is_held_to_what_was_seen,
);

/// A folder with this program as its Firecracker, for whoever may run it.
fn with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("firecracker");
    std::fs::write(&path, text).expect("a program");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    folder
}

/// A backend with the Firecracker of a folder.
fn place(folder: &Path, change: impl FnOnce(&mut Options)) -> Place {
    Place::with(|options| {
        (options.monitor, options.firecracker) = (Choice::Firecracker, folder.join("firecracker"));
        change(options);
    })
}

/// Whether this program is let to the host's KVM, without which no Firecracker is even started.
fn has_kvm() -> bool {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok()
}

async fn why_not(place: &Place) -> (String, String) {
    match place.backend.probe().await.availability {
        Available::No { reason, fix } => (reason, fix.unwrap_or_default()),
        Available::Yes => panic!("there is none"),
    }
}

fn a_firecracker_that_is_not_there_is_said_to_be_missing() {
    let place = place(Path::new("/no/such"), |_| {});
    wait(async {
        let (reason, fix) = why_not(&place).await;
        // Where KVM cannot be opened that is said first.
        let expected =
            if has_kvm() { "there is no program /no/such/firecracker" } else { "/dev/kvm cannot be opened" };
        assert!(reason.contains(expected), "{reason}");
        assert!(fix.contains("sandbox.microvm.monitor"), "{fix}");
        let refused = place.create(spec()).await.err();
        assert!(matches!(refused, Some(SandboxError::Unavailable { .. })), "{refused:?}");
    });
}

fn a_firecracker_that_hangs_is_told_in_time_and_remembered() {
    requires!("qemu", is_possible() && has_kvm());
    let folder = with("#!/bin/sh\nexec sleep 1000\n");
    let first = place(folder.path(), |_| {});
    let began = Instant::now();
    let (reason, _) = wait(why_not(&first));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(
        reason.contains("no machine starts on it") && reason.contains("did not stand after 5s"),
        "{reason}"
    );
    let began = Instant::now();
    let refused = wait(async { first.create(spec()).await.err() });
    assert!(matches!(refused, Some(SandboxError::Unavailable { .. })), "{refused:?}");
    // Another process of the same operator does not wait for it either.
    let state = first.path().join("state");
    let same = place(folder.path(), |options| options.state = state);
    let (again, _) = wait(why_not(&same));
    assert_eq!(again, reason);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(machines(), Vec::<i32>::new());
    let doors =
        std::fs::read_dir(first.path().join("state/microvm")).expect("its folder").filter_map(Result::ok);
    for owner in doors.filter(|entry| entry.path().is_dir()) {
        let left: Vec<_> = std::fs::read_dir(owner.path().join("boxes")).into_iter().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn what_firecracker_says_of_an_error_is_in_the_reason() {
    requires!("qemu", is_possible() && has_kvm());
    let says = "#!/bin/sh\necho '{\"fault_message\": \"no such board as asked for by '$2'\"}' >&2\nexit 1\n";
    let folder = with(says);
    let place = place(folder.path(), |_| {});
    let began = Instant::now();
    let (reason, _) = wait(why_not(&place));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let named = format!("no such board as asked for by bailiwick-sandbox-{}-", std::process::id());
    assert!(
        reason.contains("Firecracker made no machine that stands") && reason.contains(&named),
        "{reason}"
    );
    assert!(reason.contains("it ended before its machine stood"), "{reason}");
}

/// Where the device is that carries virtual sockets for QEMU in the same way as Firecracker does: where a monitor sees it.
const CARRIER: &str = "/usr/local/bin/vhost-device-vsock";

/// Stands in for Firecracker: it reads what Firecracker is told, and starts a machine of QEMU's like that, emulated. Its devices are found
/// by ACPI, and its virtual sockets are carried to the same doors, by another program.
const STAND_IN: &str = r#"#!/usr/bin/python3
import json, os, sys, time
words = sys.argv[1:]
assert words[0] == "--id" and words[2:4] == ["--no-api", "--config-file"] and len(words) == 5, words
told = json.load(open(words[4]))
boot, size, sockets = told["boot-source"], told["machine-config"], told["vsock"]
control = sockets["uds_path"] + "-control"
if os.fork() == 0:
    while not os.path.exists(control):
        time.sleep(0.01)
    memory = "%dM" % size["mem_size_mib"]
    # An emulated machine of this kind has no clock to find its speed by; one on KVM is told it.
    speed = next(line.split(":")[1] for line in open("/proc/cpuinfo") if line.startswith("cpu MHz"))
    clock = " tsc_early_khz=%d tsc=reliable -- " % (float(speed) * 1000)
    os.execv("/usr/bin/qemu-system-x86_64", ["qemu", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-machine", "microvm,acpi=on,pit=off,pic=off,memory-backend=shared", "-accel", "tcg", "-cpu", "max",
        "-object", "memory-backend-memfd,id=shared,share=on,size=" + memory, "-m", memory, "-smp", str(size["vcpu_count"]),
        "-kernel", boot["kernel_image_path"], "-initrd", boot["initrd_path"], "-append", boot["boot_args"].replace(" -- ", clock),
        "-chardev", "socket,id=control,path=" + control, "-device", "vhost-user-vsock-device,chardev=control",
        "-serial", "stdio"])
os.execv(CARRIER, ["carrier", "--guest-cid", str(sockets["guest_cid"]), "--uds-path", sockets["uds_path"], "--socket", control])
"#;

/// Everything around Firecracker, with a machine that is real and a monitor that is not: what it is told, the kernel that was unpacked,
/// the doors, our first process, and a receipt that claims no more than was seen.
fn a_machine_behind_virtual_sockets_works_and_is_held_to_what_was_seen() {
    requires!("vsock", is_possible() && has_kvm() && Path::new(CARRIER).is_file());
    let text = STAND_IN.replace("CARRIER", &format!("{CARRIER:?}"));
    let folder = with(&text);
    let strict = place(folder.path(), |options| options.first = Some(Duration::from_mins(1)));
    wait(async {
        // It has no filter of its own, so nothing is claimed that a filter holds, and nothing runs behind it by itself.
        let refused = strict.create(spec()).await.map(drop).expect_err("refused");
        let SandboxError::Unenforceable { unheld, .. } = &refused else { panic!("{refused:?}") };
        for demand in ["network", "files", "privilege"] {
            assert!(unheld.iter().any(|one| one.starts_with(demand)), "{demand}: {unheld:?}");
        }
    });
    let accept = vec![Demand::Network, Demand::Files, Demand::Privilege];
    let state = strict.path().join("state");
    let place = place(folder.path(), |options| (options.accept, options.state) = (accept, state));
    wait(async {
        let sandbox = place.sandbox().await;
        for part in &sandbox.receipt().walls {
            let is_partial = ["network", "files", "privilege"].contains(&part.demand.as_str());
            let expected = if is_partial { WallStatus::Partial } else { WallStatus::Enforced };
            assert_eq!(part.status, expected, "{part:?}");
            assert!(!part.mechanism.contains("QEMU"), "{part:?}");
        }
        let told = sh(
            sandbox.as_ref(),
            "echo $((6 * 7)) > /work/x; cat /work/x; uname -r; id -u; cat /proc/cmdline",
        )
        .await;
        let _nobody_reads = writeln!(std::io::stderr(), "{told}");
        assert!(
            told.starts_with("42\n") && told.contains("cloud") && told.contains("-- machine vsock"),
            "{told}"
        );
        // Files of the host come over their stream, more than one message of them.
        let bytes = sh(sandbox.as_ref(), "cat /usr/bin/python3 | wc -c").await;
        let length = std::fs::metadata("/usr/bin/python3").expect("a program").len();
        assert_eq!(bytes.trim(), length.to_string());
        no_virtual_socket(sandbox.as_ref()).await;
        for refused in [
            sandbox.snapshot().await.map(drop).err(),
            sandbox.hibernate().await.err(),
            sandbox.fork().await.map(drop).err(),
        ] {
            let Some(SandboxError::Unsupported { what, .. }) = &refused else { panic!("{refused:?}") };
            assert!(what.contains("virtual sockets"), "{what}");
        }
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        sandbox.terminate().await.expect("ended");
        assert_eq!(machines(), Vec::<i32>::new());
    });
}

/// A command gets no virtual socket at all. That nobody would answer it is seen where doors are.
async fn no_virtual_socket(sandbox: &dyn bailiwick_sandbox::Sandbox) {
    let text = "python3 -c 'import socket; socket.socket(socket.AF_VSOCK).connect((2, 1))' 2>&1";
    let tried = sandbox.exec(shell(text)).await.expect("it runs");
    let said = String::from_utf8_lossy(&tried.stdout.bytes).into_owned();
    // Refused where it is made, not where it would have been connected.
    let is_refused = said.contains("socket.__init__") && said.contains("Operation not permitted");
    assert!(tried.exit.status() != 0 && is_refused, "{said}");
}
