//! The store itself: names, what is kept and what goes, several at once, and ends in the middle.

use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio};

use bailiwick_image::{Collected, ImageError, Options, Phase, Source, Store, Watcher};
use bailiwick_sandbox::Unpacked as _;
use bailiwick_types::ErrorCode;

use crate::made::{Layer, Made, Place, get, named, put, run};

fn rootfs(place: &Place, name: &str, content: &str) -> Source {
    let path = place.path(&format!("{name}.tar"));
    put(&path, &Layer::new().file("a", content).done());
    Source::RootFs(path.into())
}

#[test]
fn a_name_that_is_given_again_stands_for_the_new_image() {
    let place = Place::new();
    place.import(rootfs(&place, "one", "1"), "it").expect("it is taken");
    place.import(rootfs(&place, "two", "2"), "it").expect("it is taken");
    assert_eq!(get(&place.root("it").join("a")), "2");
    assert_eq!(place.count("blobs/sha256"), 3, "config, manifest and layer of the new one alone");
    assert_eq!(std::fs::read_dir(place.path("images/trees")).expect("a folder").count(), 1);
}

#[test]
fn what_is_shared_goes_with_its_last_name() {
    let place = Place::new();
    place.import(rootfs(&place, "one", "1"), "one").expect("it is taken");
    place.import(rootfs(&place, "one", "1"), "two").expect("it is taken");
    let kept = run(place.store.remove("one")).expect("it goes");
    assert_eq!(kept, Collected::default());
    assert_eq!(get(&place.root("two").join("a")), "1");
    let gone = run(place.store.remove("two:latest")).expect("it goes");
    assert_eq!((gone.blobs, gone.trees, gone.in_use), (3, 1, 0));
    assert!(gone.bytes > 0);
    place.is_untouched();
    assert!(matches!(run(place.store.remove("two")), Err(ImageError::NotFound(_))));
}

#[test]
fn what_is_in_use_stays_until_nobody_uses_it() {
    let place = Place::new();
    place.import(rootfs(&place, "one", "1"), "it").expect("it is taken");
    // Another store upon the same folder is what another process would be.
    let other = Store::open(Options::new(place.path("images"))).expect("a store");
    let held = run(other.hold("it")).expect("it is here");
    let gone = run(place.store.remove("it")).expect("its name goes");
    assert_eq!((gone.trees, gone.in_use), (0, 1));
    assert!(matches!(run(place.store.hold("it")), Err(ImageError::NotFound(_))));
    assert_eq!(get(&held.root().join("a")), "1");
    drop(held);
    let gone = run(place.store.collect()).expect("it is collected");
    assert_eq!((gone.trees, gone.in_use), (1, 0));
    place.is_untouched();
}

#[test]
fn two_imports_at_once_wait_for_each_other() {
    let place = Place::new();
    let sources: Vec<_> =
        (0..4).map(|number| rootfs(&place, &format!("s{number}"), &format!("{number}"))).collect();
    run(async {
        let tasks: Vec<_> = sources
            .into_iter()
            .enumerate()
            .map(|(number, source)| {
                let store = place.store.clone();
                tokio::spawn(async move {
                    store.import(source, &named(&format!("n{number}")), &Watcher::nobody()).await
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic").expect("it is taken");
        }
    });
    assert_eq!(run(place.store.list()).expect("a list").len(), 4);
}

#[test]
fn while_another_process_changes_it_one_is_told() {
    let place = Place::new();
    place.import(rootfs(&place, "one", "1"), "it").expect("it is taken");
    let lock = std::fs::OpenOptions::new().read(true).open(place.path("images/lock")).expect("the lock");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("it is ours");
    put(&place.path("images/staging/half"), b"x");
    let error = place.import(rootfs(&place, "two", "2"), "two").expect_err("it is busy");
    assert_eq!(error.code(), ErrorCode::Busy);
    assert!(matches!(run(place.store.remove("it")), Err(ImageError::Busy)));
    // Reading goes on, and nobody sweeps what is being worked on.
    let other = Store::open(Options::new(place.path("images"))).expect("it opens");
    assert_eq!(run(other.list()).expect("a list").len(), 1);
    assert_eq!(place.count("staging"), 1);
    drop(lock);
    Store::open(Options::new(place.path("images"))).expect("it opens");
    assert_eq!(place.count("staging"), 0);
}

#[test]
fn what_was_left_in_the_middle_is_swept() {
    let place = Place::new();
    let staging = place.path("images/staging");
    std::fs::create_dir_all(staging.join("x/root/deep")).expect("a folder");
    std::os::unix::fs::symlink(place.path("outside"), staging.join("x/root/deep/out")).expect("a link");
    std::os::unix::fs::symlink(place.path("outside"), staging.join("out")).expect("a link");
    put(&staging.join("blob"), b"x");
    Store::open(Options::new(place.path("images"))).expect("it opens");
    place.is_untouched();
}

#[test]
fn a_full_store_takes_no_more_and_keeps_what_it_has() {
    let place = Place::with(|options| options.most = 300_000);
    place.import(rootfs(&place, "one", &"1".repeat(100_000)), "one").expect("it is taken");
    let before = (place.count("blobs"), place.count("trees"));
    let error = place.import(rootfs(&place, "two", &"2".repeat(100_000)), "two").expect_err("it is full");
    assert_eq!(error.code(), ErrorCode::DiskLimit);
    assert!(error.hint().expect("a hint").contains("images.most"));
    assert_eq!((place.count("blobs"), place.count("trees"), place.count("staging")), (before.0, before.1, 0));
    run(place.store.remove("one")).expect("it goes");
    place.import(rootfs(&place, "two", &"2".repeat(100_000)), "two").expect("there is room");
}

#[test]
fn a_folder_that_others_write_to_is_no_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("a mode");
    let error = Store::open(Options::new(folder.path())).expect_err("anybody writes to it");
    assert!(error.to_string().contains("chmod"), "{error}");
    let link = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink("/tmp", link.path().join("images")).expect("a link");
    Store::open(Options::new(link.path().join("images"))).expect_err("it is a link");
}

#[test]
fn a_damaged_store_is_told_and_not_used() {
    let place = Place::new();
    place.import(rootfs(&place, "one", "1"), "it").expect("it is taken");
    let names = place.path("images/names");
    let text = get(&names);
    let manifest = text.split("sha256:").nth(1).and_then(|rest| rest.get(..64)).expect("a digest");
    put(&place.path("images/blobs/sha256").join(manifest), b"{}");
    assert!(matches!(run(place.store.hold("it")), Err(ImageError::Digest { .. })));
    assert!(run(place.store.collect()).is_err(), "nothing is removed where nobody knows what is needed");
    put(&names, b"{\"version\": 2, \"names\": {}}");
    assert!(matches!(run(place.store.list()), Err(ImageError::Unsupported(_))));
}

/// The variable that makes this program the one that is killed.
const ROLE: &str = "BAILIWICK_IMAGE_TEST_STORE";

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the child of the test below finds its folder in its environment"
)]
fn one_that_stops_in_the_middle_for_the_test_that_kills_it() {
    let Ok(folder) = std::env::var(ROLE) else { return };
    let folder = std::path::Path::new(&folder);
    let store = Store::open(Options::new(folder.join("images"))).expect("a store");
    let watcher = Watcher::new(|progress| {
        if progress.phase == Phase::Unpacking && progress.done > 0 {
            let _ = writeln!(std::io::stdout(), "\nunpacking");
            let _ = std::io::stdout().flush();
            loop {
                std::thread::park();
            }
        }
    });
    let source = Source::Layout(folder.join("layout").into());
    run(store.import(source, &named("killed"), &watcher)).expect("it is never done");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts itself as the one that is killed")]
fn one_that_is_killed_in_the_middle_leaves_nothing_half() {
    let place = Place::new();
    place.import(rootfs(&place, "one", "1"), "kept").expect("it is taken");
    let big = "x".repeat(300_000);
    let layers = vec![Layer::new().file("a", &big), Layer::new().file("b", "b")];
    // Not packed: so that progress is told in the middle of it.
    let plain: Vec<_> = layers.into_iter().map(Layer::done).collect();
    Made::packed(&plain, plain.clone()).layout(&place.path("layout"));
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "stores::one_that_stops_in_the_middle_for_the_test_that_kills_it", "--nocapture"])
        .env(ROLE, place.folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let said = std::io::BufReader::new(child.stdout.take().expect("its output")).lines();
    assert!(said.map_while(Result::ok).any(|line| line == "unpacking"), "it got that far");
    assert!(place.count("staging") > 2, "it is in the middle of something");
    assert!(matches!(run(place.store.collect()), Err(ImageError::Busy)));
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    let store = Store::open(Options::new(place.path("images"))).expect("it opens");
    assert_eq!(place.count("staging"), 0);
    let names: Vec<_> = run(store.list()).expect("a list").into_iter().map(|image| image.name).collect();
    assert_eq!(names, ["kept:latest"]);
    run(store.collect()).expect("it is collected");
    assert_eq!(place.count("blobs/sha256"), 3);
    run(store.import(Source::Layout(place.path("layout").into()), &named("killed"), &Watcher::nobody()))
        .expect("it works now");
}
