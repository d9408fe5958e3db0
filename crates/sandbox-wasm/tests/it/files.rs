//! Files: what is put in from outside and what a program leaves, kept between commands, forked, kept as snapshots, and wiped.

use bailiwick_sandbox::{Backend, Exit, Reset, SandboxError};
use bailiwick_testkit::tests;
use bailiwick_types::ErrorCode;
use bytes::Bytes;

use crate::guests::{opens, program};
use crate::place::{Place, complaint, path, spec, wait, words};

tests!(
    what_is_put_in_is_there_for_every_command,
    only_what_a_program_sees_is_seen_from_outside,
    folders_of_an_image_are_at_their_places,
    snapshots_and_forks_have_the_files,
    a_reset_leaves_nothing,
    a_snapshot_of_another_backend_is_refused,
);

fn what_is_put_in_is_there_for_every_command() {
    let place = Place::new();
    wait(async {
        // Handed over are /tmp (3), /work (4) and the folder that it begins in (5), which is /work as well.
        for (number, descriptor) in [4, 5].into_iter().enumerate() {
            let image = place.image(&format!("{number}.wasm"), &opens(descriptor, "in/file", false));
            let sandbox = place.create(spec(&image)).await.expect("a sandbox");
            let run = async || sandbox.exec(words(&["guest"])).await.expect("it runs");
            assert_eq!(run().await.exit, Exit::Code(44), "there is none yet");
            let file = path("/work/in/file");
            sandbox.write_file(&file, Bytes::from_static(b"something"), false).await.expect("written");
            for _ in 0..3 {
                let result = run().await;
                assert_eq!(result.exit, Exit::Code(0), "{}", complaint(&result));
            }
            assert_eq!(sandbox.read_file(&file, 100).await.expect("read").as_ref(), b"something");
            sandbox.remove(&path("/work/in")).await.expect("removed");
            assert_eq!(run().await.exit, Exit::Code(44), "there is none any more");
        }
    });
}

fn only_what_a_program_sees_is_seen_from_outside() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&program("")).await;
        for hidden in
            ["/", "/etc", "/etc/passwd", "/usr/bin", "/.wasm", "/.wasm/image/module.wasm", "/proc/1"]
        {
            let error = sandbox.list(&path(hidden)).await.expect_err("nothing is there");
            assert_eq!(error.code(), ErrorCode::NotFound, "{hidden}: {error}");
            let error = sandbox.read_file(&path(hidden), 100).await.expect_err("nothing is there");
            assert_eq!(error.code(), ErrorCode::NotFound, "{hidden}: {error}");
        }
    });
}

fn folders_of_an_image_are_at_their_places() {
    let place = Place::new();
    wait(async {
        // /lib is the first that is handed over.
        let image = place.image("lib.wasm", &opens(3, "python/site.py", false));
        let lib = place.path().join("images/lib.wasm/lib/python");
        std::fs::create_dir_all(&lib).expect("a folder");
        std::fs::write(lib.join("site.py"), "pass").expect("a file");
        let sandbox = place.create(spec(&image)).await.expect("a sandbox");
        let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
        assert_eq!(result.exit, Exit::Code(0), "{}", complaint(&result));
        let read = sandbox.read_file(&path("/lib/python/site.py"), 100).await.expect("a file");
        assert_eq!(read.as_ref(), b"pass");
        let written = sandbox.write_file(&path("/lib/new"), Bytes::new(), false).await;
        assert!(written.is_err(), "an image is only read");
    });
}

fn snapshots_and_forks_have_the_files() {
    let place = Place::new();
    wait(async {
        let image = place.image("guest.wasm", &opens(4, "kept", false));
        let sandbox = place.create(spec(&image)).await.expect("a sandbox");
        sandbox.write_file(&path("/work/kept"), Bytes::from_static(b"kept"), false).await.expect("written");
        let fork = sandbox.fork().await.expect("a fork");
        let snapshot = sandbox.snapshot().await.expect("a snapshot");
        assert_eq!(snapshot.backend, "wasm");
        sandbox.terminate().await.expect("ended");
        let mut spec = spec(&image);
        spec.snapshot = Some(snapshot.clone());
        let other = place.create(spec).await.expect("a sandbox");
        for one in [&fork, &other] {
            let result = one.exec(words(&["guest"])).await.expect("it runs");
            assert_eq!(result.exit, Exit::Code(0), "{}", complaint(&result));
            assert_eq!(result.backend, "wasm");
        }
        place.backend.forget(&snapshot).await.expect("forgotten");
    });
}

fn a_reset_leaves_nothing() {
    let place = Place::new();
    wait(async {
        let mut spec = spec(&place.image("guest.wasm", &opens(4, "left", true)));
        spec.warm = true;
        let sandbox = place.create(spec).await.expect("a sandbox");
        let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
        assert_eq!(result.exit, Exit::Code(0), "{}", complaint(&result));
        assert_eq!(sandbox.list(&path("/work")).await.expect("a list").len(), 1);
        assert_eq!(sandbox.reset().await, Ok(Reset::Proven));
        assert_eq!(sandbox.list(&path("/work")).await.expect("a list"), []);
    });
}

fn a_snapshot_of_another_backend_is_refused() {
    let place = Place::new();
    wait(async {
        let image = place.image("guest.wasm", &program(""));
        let sandbox = place.create(spec(&image)).await.expect("a sandbox");
        let mut snapshot = sandbox.snapshot().await.expect("a snapshot");
        "process".clone_into(&mut snapshot.backend);
        let mut spec = spec(&image);
        spec.snapshot = Some(snapshot);
        let refused = place.backend.can_run(&spec);
        assert!(matches!(refused, Err(SandboxError::Unsupported { .. })), "{refused:?}");
    });
}
