//! Images that the engine has: used as they are, never written to, and missed by name.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use bailiwick_sandbox::{Image, Mount, SandboxSpec};
use bailiwick_testkit::tests;
use bailiwick_types::{ErrorCode, WallStatus};

use crate::engines::{Engine, ask, with_each};
use crate::place::{Place, path, sh, spec, wait};

tests!(
    an_image_of_the_engine_is_the_root_and_cannot_be_written_to,
    folders_that_an_image_wants_to_write_to_are_its_own_and_bounded,
    folders_that_an_image_declares_within_others_are_bounded_too,
    a_missing_image_is_told_with_what_to_do,
    what_an_image_would_have_started_is_not,
);

/// An image with a shell, which goes when this does.
struct Made<'a> {
    engine: &'a Engine,
    name: String,
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        let socket = format!("unix://{}", self.engine.socket().display());
        let _gone = Command::new("docker").args(["--host", &socket, "rmi", "-f", &self.name]).output();
    }
}

/// Imports an image of a shell and what that needs, changed like this.
fn make<'a>(engine: &'a Engine, changes: &[&str]) -> Made<'a> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut file = |from: &Path, to: &str| archive.append_path_with_name(from, to).expect("a file");
    for program in ["sh", "cat", "id", "ls", "env", "head", "rm", "wc"] {
        file(
            &Path::new("/usr/bin").join(program).canonicalize().expect("a program"),
            &format!("bin/{program}"),
        );
    }
    // What this process itself is loaded with is where a shell looks for it.
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let mut libraries: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .filter(|at| at.contains(".so"))
        .collect();
    libraries.sort_unstable();
    libraries.dedup();
    for library in libraries {
        file(Path::new(library), library.trim_start_matches('/'));
    }
    for more in ["libselinux.so.1", "libpcre2-8.so.0"] {
        let at = Path::new("/lib/x86_64-linux-gnu").join(more);
        if at.exists() {
            file(&at.canonicalize().expect("a library"), &format!("lib/x86_64-linux-gnu/{more}"));
        }
    }
    file(
        &Path::new("/lib64/ld-linux-x86-64.so.2").canonicalize().expect("a loader"),
        "lib64/ld-linux-x86-64.so.2",
    );
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o644);
    header.set_size(3);
    archive.append_data(&mut header, "etc/mark", &b"it\n"[..]).expect("a mark");
    let packed = archive.into_inner().expect("packed");
    let name = format!("bailiwick-test:{}-{}", std::process::id(), changes.len());
    let socket = format!("unix://{}", engine.socket().display());
    let mut importing = Command::new("docker");
    importing.args(["--host", &socket, "import"]);
    for change in changes {
        importing.args(["--change", change]);
    }
    let mut importing =
        importing.args(["-", &name]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("docker");
    importing.stdin.take().expect("its input").write_all(&packed).expect("written");
    assert!(importing.wait().expect("an end").success());
    Made { engine, name }
}

fn of(made: &Made<'_>) -> SandboxSpec {
    SandboxSpec { image: Image::Named(made.name.clone()), ..spec() }
}

fn an_image_of_the_engine_is_the_root_and_cannot_be_written_to() {
    with_each(|engine| {
        let made = make(engine, &["ENV FROM_IMAGE=yes"]);
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.create(of(&made)).await.expect("a sandbox");
            let looks = "cat /etc/mark; echo $FROM_IMAGE; id -u; (echo x > /etc/mark) 2>/dev/null && echo written; echo own > /work/f; cat /work/f";
            assert_eq!(sh(sandbox.as_ref(), looks).await, "it\nyes\n64924\nown\n");
            // All that it can change is in its own folders, so a snapshot is whole.
            let snapshot = sandbox.snapshot().await.expect("a snapshot");
            let other =
                place.create(SandboxSpec { snapshot: Some(snapshot), ..of(&made) }).await.expect("a sandbox");
            assert_eq!(sh(other.as_ref(), "cat /work/f /etc/mark").await, "own\nit\n");
            sandbox.terminate().await.expect("an end");
            other.terminate().await.expect("an end");
        });
    });
}

fn folders_that_an_image_wants_to_write_to_are_its_own_and_bounded() {
    with_each(|engine| {
        let made = make(engine, &["VOLUME /data", "ENV X=y"]);
        let place = Place::new(engine);
        wait(async {
            let before = ask(engine, &["volume", "ls", "-q"]);
            let limits = spec().limits.with(bailiwick_sandbox::Limit::Disk, "8MiB").expect("a limit");
            let sandbox = place.create(SandboxSpec { limits, ..of(&made) }).await.expect("a sandbox");
            let fill = "head -c 50000000 /dev/zero > /data/f 2>/dev/null; cat /data/f | wc -c";
            let written: u64 = sh(sandbox.as_ref(), fill).await.trim().parse().expect("a number");
            assert!((1..=8 << 20).contains(&written), "{written}");
            assert_eq!(ask(engine, &["volume", "ls", "-q"]), before, "no volume of the engine's was made");
            let fork = sandbox.fork().await.expect("a fork");
            assert_eq!(sh(fork.as_ref(), "cat /data/f | wc -c").await.trim(), written.to_string());
            sandbox.terminate().await.expect("an end");
            fork.terminate().await.expect("an end");
        });
    });
}

fn folders_that_an_image_declares_within_others_are_bounded_too() {
    with_each(|engine| {
        let within = ["/work/cache", "/tmp/deep/x", "/srv/m/cache"];
        let volumes = within.map(|at| format!("VOLUME {at}"));
        let made = make(engine, &volumes.each_ref().map(String::as_str));
        let place = Place::new(engine);
        let mounted = place.folder.path().canonicalize().expect("a path").join("mounted");
        std::fs::create_dir_all(mounted.join("cache")).expect("a folder");
        // Podman gives a folder in memory the permissions of what it covers.
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(mounted.join("cache"), everybody).expect("permissions");
        wait(async {
            let before = ask(engine, &["volume", "ls", "-q"]);
            let limits = spec().limits.with(bailiwick_sandbox::Limit::Disk, "8MiB").expect("a limit");
            let mount = Mount { from: mounted.clone(), to: path("/srv/m"), writable: true };
            let mounts = vec![mount.open_by_name().expect("it is held")];
            let sandbox = place.create(SandboxSpec { limits, mounts, ..of(&made) }).await.expect("a sandbox");
            let disk = sandbox.receipt().walls.iter().find(|wall| wall.demand == "disk").cloned();
            assert_eq!(disk.map(|disk| disk.status), Some(WallStatus::Enforced));
            let mut all = 0;
            for at in within {
                let fill = format!("head -c 50000000 /dev/zero > {at}/f 2>/dev/null; cat {at}/f | wc -c");
                let written: u64 = sh(sandbox.as_ref(), &fill).await.trim().parse().expect("a number");
                assert!(written > 0, "{at}");
                all += written;
            }
            assert!(all <= 8 << 20, "{all}");
            assert_eq!(ask(engine, &["volume", "ls", "-q"]), before, "no volume of the engine's was made");
            assert!(!mounted.join("cache/f").exists(), "what is declared lies over what is mounted");
            // They are the sandbox's own files, so a fork has them.
            sh(
                sandbox.as_ref(),
                "rm /work/cache/f /tmp/deep/x/f /srv/m/cache/f; echo own > /work/cache/mark",
            )
            .await;
            let fork = sandbox.fork().await.expect("a fork");
            assert_eq!(sh(fork.as_ref(), "cat /work/cache/mark").await, "own\n");
            sandbox.terminate().await.expect("an end");
            fork.terminate().await.expect("an end");
        });
    });
}

fn a_missing_image_is_told_with_what_to_do() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            for (name, code, words) in [
                ("no-such-image:1", ErrorCode::NotFound, "pull no-such-image:1"),
                ("../containers/json", ErrorCode::InvalidInput, "cannot be the name"),
            ] {
                let image = Image::Named(name.to_owned());
                let error = place.create(SandboxSpec { image, ..spec() }).await.expect_err("it is missing");
                assert_eq!(error.code(), code, "{error}");
                assert!(error.to_string().contains(words), "{error}");
            }
        });
    });
}

fn what_an_image_would_have_started_is_not() {
    with_each(|engine| {
        let made = make(engine, &["ENTRYPOINT [\"/bin/sh\"]", "CMD [\"-c\", \"exit 3\"]", "USER 0"]);
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.create(of(&made)).await.expect("a sandbox");
            assert_eq!(sh(sandbox.as_ref(), "id -u; cat /proc/1/comm").await, "64924\n.bailiwick-agen\n");
            let id = sandbox.id();
            let container = ask(engine, &["ps", "-q", "--filter", &format!("label=bailiwick.sandbox={id}")]);
            let told = ask(engine, &["inspect", "--format", "{{.Config.Healthcheck}}", &container]);
            assert!(told.contains("NONE"), "{told}");
            sandbox.terminate().await.expect("an end");
        });
    });
}
