//! Walls: what a program cannot see or reach, and what the receipt says of them.

use std::os::unix::fs::symlink;

use bailiwick_sandbox::{Available, Backend, Demand, Exit, Mount, Network, Overlay, SandboxError};
use bailiwick_testkit::tests;
use bailiwick_types::{ErrorCode, Tier, WallStatus};
use bytes::Bytes;

use crate::guests::{component_with_a_socket, opens, opens_everything, program, says_its_variables};
use crate::place::{Place, complaint, path, said, spec, wait, words};

tests!(
    no_path_leads_out_of_a_folder,
    what_is_mounted_read_only_is_not_written_to,
    a_link_in_a_mount_leads_nowhere,
    a_component_gets_no_socket,
    no_variable_is_read_by_the_program_that_runs_the_engine,
    descriptors_run_out_without_harm,
    a_receipt_names_every_demand_and_what_holds_it,
    it_is_available_where_what_is_behind_it_is,
    only_images_of_webassembly_without_a_network_can_run,
);

/// Not capable: the answer of WASI to a path that leads out.
const NOT_CAPABLE: i32 = 76;
const PERMISSION: i32 = 63;
const NO_ENTRY: i32 = 44;

fn no_path_leads_out_of_a_folder() {
    let place = Place::new();
    wait(async {
        for (number, (path, code)) in [
            ("../etc/passwd", PERMISSION),
            ("/etc/passwd", PERMISSION),
            ("a/../../etc/passwd", NO_ENTRY),
            ("../../../../etc/passwd", PERMISSION),
            ("..", PERMISSION),
            ("../.wasm/compiled", PERMISSION),
            ("etc/passwd", NO_ENTRY),
        ]
        .into_iter()
        .enumerate()
        {
            let image = place.image(&format!("{number}.wasm"), &opens(3, path, false));
            let sandbox = place.create(spec(&image)).await.expect("a sandbox");
            let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
            let codes = [Exit::Code(code), Exit::Code(NOT_CAPABLE)];
            assert!(codes.contains(&result.exit), "{path}: {:?} {}", result.exit, complaint(&result));
        }
    });
}

fn what_is_mounted_read_only_is_not_written_to() {
    let place = Place::new();
    let host = place.path().join("mounted");
    std::fs::create_dir(&host).expect("a folder");
    std::fs::write(host.join("old"), "as it was").expect("a file");
    wait(async {
        for (name, writable) in [("read.wasm", false), ("write.wasm", true)] {
            // The shortest name comes first: /in is the first that is handed over.
            let mut spec = spec(&place.image(name, &opens(3, "new", true)));
            spec.mounts = vec![
                Mount { from: host.canonicalize().expect("a path"), to: path("/in"), writable }
                    .open_by_name()
                    .expect("it is held"),
            ];
            let sandbox = place.create(spec).await.expect("a sandbox");
            let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
            assert_eq!(result.exit == Exit::Code(0), writable, "{:?} {}", result.exit, complaint(&result));
            assert_eq!(host.join("new").exists(), writable);
            let read = sandbox.read_file(&path("/in/old"), 100).await.expect("a file");
            assert_eq!(read.as_ref(), b"as it was");
        }
    });
}

fn a_link_in_a_mount_leads_nowhere() {
    let place = Place::new();
    let host = place.path().join("mounted");
    std::fs::create_dir(&host).expect("a folder");
    let secret = place.path().join("secret");
    std::fs::write(&secret, "of somebody else's").expect("a file");
    std::fs::write(host.join("here"), "of this folder").expect("a file");
    symlink(&secret, host.join("absolute")).expect("a link");
    symlink("../secret", host.join("relative")).expect("a link");
    symlink("/etc/passwd", host.join("system")).expect("a link");
    symlink("here", host.join("within")).expect("a link");
    wait(async {
        for (name, opened) in [("absolute", false), ("relative", false), ("system", false), ("within", true)]
        {
            let mut spec = spec(&place.image(&format!("{name}.wasm"), &opens(3, name, false)));
            spec.mounts = vec![
                Mount { from: host.canonicalize().expect("a path"), to: path("/in"), writable: true }
                    .open_by_name()
                    .expect("it is held"),
            ];
            let sandbox = place.create(spec).await.expect("a sandbox");
            let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
            assert_eq!(
                result.exit == Exit::Code(0),
                opened,
                "{name}: {:?} {}",
                result.exit,
                complaint(&result)
            );
        }
    });
}

fn a_component_gets_no_socket() {
    let place = Place::new();
    wait(async {
        let result = place.run(&component_with_a_socket()).await;
        assert_eq!(result.exit, Exit::Code(1), "{}", complaint(&result));
        assert_eq!(complaint(&result), "");
    });
}

fn no_variable_is_read_by_the_program_that_runs_the_engine() {
    /// What a dynamic loader obeys: the first keeps the program from running, the others load code or speak.
    const OBEYED: [(&str, &str); 5] = [
        ("LD_TRACE_LOADED_OBJECTS", "1"),
        ("LD_PRELOAD", "/work/native.so"),
        ("LD_AUDIT", "/work/native.so"),
        ("LD_DEBUG", "libs"),
        ("LD_SHOW_AUXV", "1"),
    ];
    let place = Place::new();
    wait(async {
        for (number, (name, value)) in OBEYED.into_iter().enumerate() {
            place.variables(&[(name, value)]);
            let image = place.image(&format!("{number}.wasm"), &says_its_variables());
            for from in ["the image", "the sandbox", "the command"] {
                let mut spec = spec(if from == "the image" { &image } else { "plain.wasm" });
                let mut command = words(&["guest"]);
                match from {
                    "the sandbox" => drop(spec.env.insert(name.to_owned(), value.to_owned())),
                    "the command" => drop(command.env.insert(name.to_owned(), value.to_owned())),
                    _ => {}
                }
                if from != "the image" {
                    place.variables(&[]);
                    place.image("plain.wasm", &says_its_variables());
                }
                let sandbox = place.create(spec).await.expect("a sandbox");
                let file = path("/work/native.so");
                sandbox.write_file(&file, Bytes::from_static(b"no library"), true).await.expect("written");
                let result = sandbox.exec(command).await.expect("it runs");
                assert_eq!(complaint(&result), "", "{name} of {from}");
                let said = said(&result);
                let told: Vec<&str> = said.split('\0').collect();
                assert!(told.contains(&format!("{name}={value}").as_str()), "{name} of {from}: {told:?}");
            }
        }
    });
}

fn descriptors_run_out_without_harm() {
    // WASI 0.2, through which the engine answers, has no word for "too many": it is an error of input and output.
    const FAILED: i32 = 29;
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&opens_everything()).await;
        let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
        assert_eq!(result.exit, Exit::Code(FAILED), "{}", complaint(&result));
        let again = sandbox.exec(words(&["guest"])).await.expect("the next one runs");
        assert_eq!(again.exit, Exit::Code(FAILED));
    });
}

fn a_receipt_names_every_demand_and_what_holds_it() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&program("")).await;
        let receipt = sandbox.receipt();
        assert_eq!(receipt.tier, Tier::UserKernel);
        for demand in Demand::ALL {
            let part = receipt.walls.iter().find(|part| part.demand == demand.name()).expect("every demand");
            assert!(!part.mechanism.is_empty());
            if demand.is_wall() {
                assert_eq!(part.status, WallStatus::Enforced, "{part:?}");
            }
        }
        let told = |name: &str| {
            let part = receipt.walls.iter().find(|part| part.demand == name).expect("it is there");
            part.mechanism.clone()
        };
        assert!(told("network").starts_with("wasmtime: every socket"), "{}", told("network"));
        assert!(told("files").contains("behind it: mount namespace"), "{}", told("files"));
        assert!(told("memory").starts_with("wasmtime: 268435456 bytes"), "{}", told("memory"));
        assert!(told("timeout").contains("20 ms later from outside"), "{}", told("timeout"));
    });
}

fn it_is_available_where_what_is_behind_it_is() {
    let place = Place::new();
    wait(async {
        let probe = place.backend.probe().await;
        assert_eq!(probe.availability, Available::Yes);
        assert!(probe.found.iter().any(|found| found.contains("`process`")), "{:?}", probe.found);
    });
}

#[track_caller]
fn refused(result: Result<(), SandboxError>, code: ErrorCode, words: &str) {
    let error = result.expect_err("a refusal");
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

fn only_images_of_webassembly_without_a_network_can_run() {
    let place = Place::new();
    let can = |change: fn(&mut bailiwick_sandbox::SandboxSpec)| {
        let mut spec = spec("x.wasm");
        change(&mut spec);
        place.backend.can_run(&spec)
    };
    assert_eq!(can(|_| {}), Ok(()));
    let named = |name: &str| {
        let spec = spec(name);
        place.backend.can_run(&spec)
    };
    for name in [
        "python.wasm",
        "python.wasm:3",
        "host:5000/x/python.wasm",
        "host:5000/x/python.wasm:3",
        "a.wasm@sha256:00",
    ] {
        assert_eq!(named(name), Ok(()), "{name}");
    }
    for name in ["debian", "wasm", "x.wasm/y", "x:1.wasm", "host:5000/x"] {
        refused(named(name), ErrorCode::Unsupported, "end with `.wasm`");
    }
    refused(
        can(|spec| spec.image = bailiwick_sandbox::Image::Host),
        ErrorCode::Unsupported,
        "host's own programs",
    );
    refused(can(|spec| spec.network = Network::Full), ErrorCode::Unsupported, "no sockets");
    refused(can(|spec| spec.network = Network::Host), ErrorCode::Unsupported, "no sockets");
    refused(can(|spec| spec.expose = vec![80]), ErrorCode::Unsupported, "exposed ports");
    refused(
        can(|spec| {
            let overlay = Overlay { from: "/tmp".into(), to: path("/.wasm/image") };
            spec.overlays = vec![overlay.open_by_name().expect("it is held")];
        }),
        ErrorCode::FsDenied,
        "its own there",
    );
}
