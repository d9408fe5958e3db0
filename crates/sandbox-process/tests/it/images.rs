//! Images as roots: laid under what a sandbox writes, or copied where the kernel does not do that.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::{
    Backend as _, Demand, Doing, Image, Images, Limit, Sandbox, SandboxError, SandboxSpec, Unpacked,
};
use bailiwick_sandbox_process::{Laying, Most, Options, ProcessBackend};
use bailiwick_testkit::{requires, tests};
use bailiwick_types::{ErrorCode, WallStatus};

use crate::place::{Place, is_root, said, sh, shell, spec, wait};

tests!(
    an_image_is_the_root_and_what_is_written_to_it_is_gone_afterwards,
    an_image_cannot_lead_what_is_put_into_it_elsewhere,
    a_snapshot_of_a_sandbox_with_an_image_is_refused,
    without_namespaces_an_image_is_refused_and_not_left_out,
    a_copy_of_an_image_has_its_holes_its_links_and_its_times,
    an_image_that_does_not_fit_as_a_copy_is_refused_with_what_it_needs,
    what_is_copied_counts_as_the_sandboxs_memory,
    an_image_on_a_file_system_that_belongs_to_nobody_else_is_copied,
    without_laying_over_an_overlay_of_the_hosts_is_refused,
    a_probe_says_how_images_become_roots,
);

/// An image: a folder with a shell in it.
#[derive(Debug)]
struct Shells(PathBuf);

#[derive(Debug)]
struct Root(PathBuf);

impl Images for Shells {
    fn find<'a>(&'a self, name: &'a str) -> Doing<'a, Result<Arc<dyn Unpacked>, SandboxError>> {
        Box::pin(async move { Ok(Arc::new(Root(self.0.join(name))) as Arc<dyn Unpacked>) })
    }
}

impl Unpacked for Root {
    fn root(&self) -> PathBuf {
        self.0.clone()
    }
    fn digest(&self) -> &'static str {
        "sha256:none"
    }
    fn variables(&self) -> &[(String, String)] {
        static VARIABLES: std::sync::LazyLock<Vec<(String, String)>> =
            std::sync::LazyLock::new(|| vec![("FROM_IMAGE".to_owned(), "yes".to_owned())]);
        &VARIABLES
    }
    fn workdir(&self) -> Option<&str> {
        None
    }
}

/// Makes a root with a shell and what that needs.
fn make_image(at: &Path) {
    for folder in ["bin", "etc", "opt"] {
        std::fs::create_dir_all(at.join(folder)).expect("a folder");
    }
    for program in ["sh", "cat", "rm"] {
        std::fs::copy(Path::new("/bin").join(program), at.join("bin").join(program)).expect("a program");
    }
    // What this process itself is loaded with is where a shell looks for it.
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let mut libraries: Vec<&str> = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
    libraries.retain(|name| name.contains("libc.so") || name.contains("ld-linux"));
    // What `stat` is loaded with beside that, where it is.
    let beside = |library: &&str| {
        let folder = Path::new(library).parent()?;
        Some(["libselinux.so.1", "libpcre2-8.so.0"].map(|name| folder.join(name)))
    };
    let more: Vec<PathBuf> = libraries.first().and_then(beside).into_iter().flatten().collect();
    libraries.extend(more.iter().filter(|path| path.exists()).filter_map(|path| path.to_str()));
    for library in libraries {
        let to = at.join(library.trim_start_matches('/'));
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("folders");
        std::fs::copy(library, &to).expect("a library");
    }
    for link in ["lib", "lib64"] {
        if let Ok(to) = std::fs::read_link(Path::new("/").join(link)) {
            std::os::unix::fs::symlink(to, at.join(link)).expect("a link");
        }
    }
    let loader = std::fs::canonicalize("/lib64/ld-linux-x86-64.so.2");
    if let Ok(loader) = loader {
        let to = at.join("usr/lib64/ld-linux-x86-64.so.2");
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("folders");
        std::fs::copy(loader, to).expect("a loader");
    }
    std::fs::write(at.join("opt/note"), "of the image").expect("a file");
}

/// Both ways for an image to be a root.
const BOTH: [Laying; 2] = [Laying::WherePossible, Laying::Never];

fn with_an_image(laying: Laying) -> Place {
    with_an_image_at_most(Most::Everything, laying)
}

fn with_an_image_at_most(most: Most, laying: Laying) -> Place {
    let mut place = Place::new();
    let images = place.path().join("images");
    make_image(&images.join("shell"));
    place.backend = Arc::new(ProcessBackend::new({
        let mut options = Options::new(place.path().join("state"));
        options.most = most;
        options.laying = laying;
        options.accept = vec![Demand::Kill];
        options.images = Some(Arc::new(Shells(std::fs::canonicalize(images).expect("a path"))));
        options
    }));
    place
}

fn of_the_image() -> SandboxSpec {
    SandboxSpec { image: Image::Named("shell".to_owned()), ..spec() }
}

/// What holds a demand.
fn mechanism(sandbox: &dyn Sandbox, demand: Demand) -> String {
    let walls = &sandbox.receipt().walls;
    let wall = walls.iter().find(|wall| wall.demand == demand.name()).expect("a wall");
    assert_eq!(wall.status, WallStatus::Enforced, "{wall:?}");
    wall.mechanism.clone()
}

fn an_image_is_the_root_and_what_is_written_to_it_is_gone_afterwards() {
    let mut ways: Vec<_> = BOTH.map(|laying| (Most::Everything, laying)).to_vec();
    if is_root() {
        ways.extend(BOTH.map(|laying| (Most::NoUserNamespace, laying)));
    }
    for (most, laying) in ways {
        is_the_root_and_gone_afterwards(most, laying);
    }
}

fn is_the_root_and_gone_afterwards(most: Most, laying: Laying) {
    let place = with_an_image_at_most(most, laying);
    wait(async {
        for _ in 0..2 {
            let sandbox = place.create(of_the_image()).await.expect("a sandbox");
            let script = "set -e; cat /opt/note; echo; echo changed > /opt/note; rm /bin/rm; echo new > /etc/new; \
                echo hi > /work/mine; cat /opt/note /etc/new; echo $FROM_IMAGE; cat /etc/hostname; echo x > /dev/null; \
                test ! -e /usr/bin/python3 && test ! -e /bin/rm && test ! -e /.old && test ! -e /root && echo alone";
            let result = sandbox.exec(shell(script)).await.expect("an end");
            assert_eq!(said(&result), "of the image\nchanged\nnew\nyes\nsandbox\nalone\n");
            let beside = "echo x > /dev/mine";
            assert_ne!(sandbox.exec(shell(beside)).await.expect("an end").exit.status(), 0, "{beside}");
            assert_eq!(sh(sandbox.as_ref(), "echo x > /dev/shm/mine && cat /dev/shm/mine").await, "x\n");
            let files = mechanism(sandbox.as_ref(), Demand::Files);
            let disk = mechanism(sandbox.as_ref(), Demand::Disk);
            let is_copy = files.contains("a copy of an image in memory");
            assert_eq!(is_copy, laying == Laying::Never, "{files}");
            assert_eq!(disk.contains("the copy of its image"), is_copy, "{disk}");
            assert!(is_copy || files.contains("an image, and what is written in memory over it"), "{files}");
            // More than its disk does not fit, wherever it is written.
            let fill = "i=0; while [ $i -lt 40 ]; do cat /bin/sh /bin/sh /bin/sh /bin/sh >> /opt/big || exit 3; i=$((i+1)); done; exit 0";
            let mut small = of_the_image();
            small.limits = small.limits.with(Limit::Disk, "8MiB").expect("a limit");
            let small = place.create(small).await.expect("a sandbox");
            assert_eq!(small.exec(shell(fill)).await.expect("an end").exit.status(), 3);
        }
        let root = place.path().join("images/shell");
        assert_eq!(std::fs::read_to_string(root.join("opt/note")).expect("a file"), "of the image");
        assert!(
            !root.join("etc/new").exists() && root.join("bin/rm").exists() && !root.join("work").exists()
        );
    });
}

fn an_image_cannot_lead_what_is_put_into_it_elsewhere() {
    for (name, link, to) in [
        ("etc", "etc", "/.old/tmp"),
        ("proc", "proc", "/.old/etc"),
        ("dev", "dev", "/.old/dev"),
        ("work", "work", "/.old/root"),
        ("var", "var", "/.old/var"),
        ("old", ".old", "/etc"),
    ] {
        for laying in BOTH {
            let place = with_an_image(laying);
            let root = place.path().join("images/shell");
            let _absent = std::fs::remove_dir_all(root.join(link));
            std::os::unix::fs::symlink(to, root.join(link)).expect("a link");
            wait(async {
                let error = place.create(of_the_image()).await.map(|_| ()).expect_err(name);
                assert!(error.to_string().contains("place"), "{name}: {error}");
            });
        }
    }
    // A file that is a link is replaced, and not written through.
    for laying in BOTH {
        let place = with_an_image(laying);
        let root = place.path().join("images/shell");
        let outside = place.path().join("outside");
        std::fs::write(&outside, "mine").expect("a file");
        let deep = format!("/.old{}", outside.display());
        std::os::unix::fs::symlink(deep, root.join("etc/hostname")).expect("a link");
        wait(async {
            let sandbox = place.create(of_the_image()).await.expect("a sandbox");
            assert_eq!(sh(sandbox.as_ref(), "cat /etc/hostname").await, "sandbox\n");
        });
        assert_eq!(std::fs::read_to_string(outside).expect("a file"), "mine");
    }
}

fn a_snapshot_of_a_sandbox_with_an_image_is_refused() {
    let place = with_an_image(Laying::WherePossible);
    wait(async {
        let sandbox = place.create(of_the_image()).await.expect("a sandbox");
        let error = sandbox.snapshot().await.expect_err("refused");
        assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
    });
}

fn without_namespaces_an_image_is_refused_and_not_left_out() {
    let place = with_an_image_at_most(Most::NoNamespaces, Laying::WherePossible);
    wait(async {
        let error = place.create(of_the_image()).await.map(|_| ()).expect_err("refused");
        assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
    });
}

/// The image, with this much disk.
fn with_disk(disk: &str) -> SandboxSpec {
    let spec = of_the_image();
    SandboxSpec { limits: spec.limits.with(Limit::Disk, disk).expect("a limit"), ..spec }
}

fn a_copy_of_an_image_has_its_holes_its_links_and_its_times() {
    let place = with_an_image(Laying::Never);
    let root = place.path().join("images/shell");
    std::fs::copy("/usr/bin/stat", root.join("bin/stat")).expect("a program");
    std::fs::copy("/usr/bin/dd", root.join("bin/dd")).expect("a program");
    let hollow = std::fs::File::create(root.join("opt/hollow")).expect("a file");
    // Far more than the disk, were the holes filled.
    hollow.set_len(4 << 30).expect("a hole");
    std::os::unix::fs::FileExt::write_all_at(&hollow, b"in the middle", 2 << 30).expect("data");
    std::fs::hard_link(root.join("opt/note"), root.join("etc/same")).expect("a name");
    std::os::unix::fs::symlink("/etc/shadow", root.join("opt/link")).expect("a link");
    std::fs::set_permissions(root.join("opt/note"), std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let note = std::fs::File::options().write(true).open(root.join("opt/note")).expect("a file");
    note.set_modified(old).expect("a time");
    wait(async {
        let sandbox = place.create(of_the_image()).await.expect("a sandbox");
        let told = sh(
            sandbox.as_ref(),
            "stat -c '%h %a %u %Y' /opt/note; stat -c %N /opt/link; stat -c %s /opt/hollow; \
             test $(stat -c %b /opt/hollow) -lt 64 && echo hollow; \
             dd if=/opt/hollow bs=1 count=13 skip=2147483648 2>/dev/null; echo; \
             echo more >> /etc/same; cat /opt/note",
        )
        .await;
        let expected = "2 640 1000 1000000000\n'/opt/link' -> '/etc/shadow'\n4294967296\nhollow\nin the middle\nof the imagemore\n";
        assert_eq!(told, expected);
    });
    let root = std::fs::metadata(place.path().join("images/shell/opt/note")).expect("a file");
    assert_eq!((root.len(), root.mtime()), (12, 1_000_000_000), "the image is as it was");
}

fn an_image_that_does_not_fit_as_a_copy_is_refused_with_what_it_needs() {
    let place = with_an_image(Laying::Never);
    let root = place.path().join("images/shell");
    std::fs::write(root.join("opt/big"), vec![7; 9 << 20]).expect("a file");
    wait(async {
        let error = place.create(with_disk("8MiB")).await.map(|_| ()).expect_err("it does not fit");
        assert_eq!(error.code(), ErrorCode::DiskLimit, "{error}");
        let SandboxError::NoRoom { bytes, files, disk, enough, .. } = &error else { panic!("{error}") };
        assert!(*bytes > 9 << 20 && *files > 256 && *disk == 8 << 20 && *enough >= *bytes, "{error}");
        let hint = error.hint().expect("what to do");
        let enough = hint.split("--disk ").nth(1).and_then(|rest| rest.split('`').next()).expect("a size");
        let sandbox = place.create(with_disk(enough)).await.expect("what was proposed is enough");
        assert_eq!(sh(sandbox.as_ref(), "echo mine > /opt/mine && cat /opt/mine").await, "mine\n");
        // Files are counted as well as bytes.
        let many = root.join("many");
        std::fs::create_dir(&many).expect("a folder");
        for number in 0..4000 {
            std::fs::write(many.join(number.to_string()), "").expect("a file");
        }
        std::fs::remove_file(root.join("opt/big")).expect("it goes");
        let error = place.create(with_disk("12MiB")).await.map(|_| ()).expect_err("it does not fit");
        let SandboxError::NoRoom { files, most, .. } = &error else { panic!("{error}") };
        assert!(*files > 4000 && *most < 4000, "{error}");
        place.create(with_disk("20MiB")).await.expect("now it fits");
    });
}

fn what_is_copied_counts_as_the_sandboxs_memory() {
    requires!("root", is_root());
    let place = with_an_image(Laying::Never);
    let root = place.path().join("images/shell");
    std::fs::write(root.join("opt/big"), vec![7; 48 << 20]).expect("a file");
    wait(async {
        let sandbox = place.create(of_the_image()).await.expect("a sandbox");
        let used = sandbox.exec(shell("true")).await.expect("an end").usage;
        let peak = used.memory_peak;
        assert!(peak > 48 << 20, "{peak}");
    });
}

/// Something mounted, until this is dropped.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _gone = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

/// Where files cannot be made to look like the sandbox's, laying over them would leave them somebody else's.
fn an_image_on_a_file_system_that_belongs_to_nobody_else_is_copied() {
    requires!("root", is_root());
    let place = with_an_image(Laying::WherePossible);
    let images = place.path().join("images");
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("ramfs", &images, "ramfs", flags, None).expect("a file system that maps nobody");
    let _mounted = Mounted(images.clone());
    std::fs::set_permissions(&images, std::fs::Permissions::from_mode(0o700)).expect("a mode");
    make_image(&images.join("shell"));
    wait(async {
        let sandbox = place.create(of_the_image()).await.expect("a sandbox");
        let files = mechanism(sandbox.as_ref(), Demand::Files);
        assert!(files.contains("a copy of an image in memory"), "{files}");
        assert_eq!(sh(sandbox.as_ref(), "echo mine > /opt/note && cat /opt/note").await, "mine\n");
    });
    assert_eq!(std::fs::read_to_string(images.join("shell/opt/note")).expect("a file"), "of the image");
}

fn without_laying_over_an_overlay_of_the_hosts_is_refused() {
    let place = Place::with(|options| options.laying = Laying::Never);
    let folder = place.path().join("project");
    std::fs::create_dir(&folder).expect("a folder");
    let from = folder.canonicalize().expect("a path");
    let overlay = bailiwick_sandbox::Overlay { from, to: crate::place::path("/srv/project") };
    let overlay = overlay.open_by_name().expect("it is held");
    wait(async {
        let error = place
            .create(SandboxSpec { overlays: vec![overlay], ..spec() })
            .await
            .map(|_| ())
            .expect_err("refused");
        assert_eq!(error.code(), ErrorCode::FsDenied, "{error}");
        assert!(error.to_string().contains("lay one folder over another"), "{error}");
    });
}

fn a_probe_says_how_images_become_roots() {
    for (laying, says) in BOTH.into_iter().zip(["images by overlayfs", "images by copies in memory"]) {
        let place = with_an_image(laying);
        wait(async {
            let found = place.backend.probe().await.found;
            assert!(found.iter().any(|one| one.starts_with(says)), "{found:?}");
            let left = std::fs::read_dir(place.path().join("state/scratch")).expect("a folder").count();
            assert_eq!(left, 0, "nothing is left behind");
        });
    }
    let without = Place::new();
    wait(async {
        let found = without.backend.probe().await.found;
        assert!(!found.iter().any(|one| one.contains("images")), "{found:?}");
    });
}
