//! Machines that go on from one that is ready, in place of starting a kernel.

use std::path::{Path, PathBuf};

use bailiwick_sandbox::{Backend as _, Sandbox};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, machines, sh, spec, wait};

tests!(
    machines_that_go_on_from_one_that_is_ready_share_neither_files_nor_random_numbers_nor_time,
    one_that_is_ready_and_does_not_go_on_is_replaced,
    a_folder_that_others_can_write_to_holds_no_machine,
    a_machine_that_nobody_waits_for_any_more_leaves_nothing,
);

/// What is of a machine alone: random numbers, and the number of its start.
const OWN: &str = "head -c 16 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/boot_id";

fn ready(cache: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cache.join("ready")).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

async fn own(sandbox: &dyn Sandbox) -> Vec<String> {
    sh(sandbox, OWN).await.lines().map(str::to_owned).collect()
}

fn machines_that_go_on_from_one_that_is_ready_share_neither_files_nor_random_numbers_nor_time() {
    requires!("qemu", is_possible());
    let place = Place::with(|options| options.cache = None);
    let cache = place.path().join("state/microvm");
    wait(async {
        let first = place.sandbox().await;
        sh(first.as_ref(), "echo first > /tmp/mark").await;
        let [kept] = ready(&cache).try_into().expect("it is kept for the next");
        let length = |path: &Path| std::fs::metadata(path).expect("a file").len();
        let (before, begun) = (length(&kept), std::time::SystemTime::now());
        let mut seen = vec![own(first.as_ref()).await];
        let mut others = Vec::new();
        for _ in 0..2 {
            let other = place.sandbox().await;
            assert_eq!(sh(other.as_ref(), "ls -A /tmp").await, "");
            seen.push(own(other.as_ref()).await);
            let now = sh(other.as_ref(), "date +%s").await.trim().parse::<u64>().expect("seconds");
            let epoch = begun.duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
            assert!(now >= epoch, "its clock is behind: {now} before {epoch}");
            others.push(other);
        }
        for line in 0..2 {
            let mut all: Vec<_> = seen.iter().map(|told| told.get(line).expect("a line")).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), seen.len(), "{seen:?}");
        }
        assert_eq!((ready(&cache), length(&kept)), (vec![kept.clone()], before), "nothing of them is in it");
        drop((first, others));
        place.backend.close().await;
    });
}

fn one_that_is_ready_and_does_not_go_on_is_replaced() {
    requires!("qemu", is_possible());
    let place = Place::with(|options| options.cache = None);
    let cache = place.path().join("state/microvm");
    wait(async {
        place.sandbox().await.terminate().await.expect("it ends");
        let [kept] = ready(&cache).try_into().expect("it is kept for the next");
        std::fs::write(&kept, "no memory of a machine").expect("it is written to");
        let sandbox = place.sandbox().await;
        assert_eq!(sh(sandbox.as_ref(), "echo up").await, "up\n");
        assert!(std::fs::metadata(&kept).expect("another one is there").len() > 1 << 20);
        sandbox.terminate().await.expect("it ends");
        place.backend.close().await;
    });
}

fn a_folder_that_others_can_write_to_holds_no_machine() {
    use std::os::unix::fs::PermissionsExt as _;
    requires!("qemu", is_possible());
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache");
    std::fs::create_dir(&cache).expect("a folder");
    std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o777)).expect("it is opened");
    let place = Place::with(|options| options.cache = Some(cache.clone()));
    wait(async {
        let refused = place.create(spec()).await.expect_err("others could write one");
        assert!(refused.to_string().contains("others can write to it"), "{refused}");
        assert!(refused.hint().is_some_and(|hint| hint.contains("sandbox.microvm.cache")), "{refused:?}");
    });
    assert!(ready(&cache).is_empty());
}

fn a_machine_that_nobody_waits_for_any_more_leaves_nothing() {
    requires!("qemu", is_possible());
    let place = Place::with(|options| options.cache = None);
    let above = place.path().join("state/microvm");
    wait(async {
        // Its kernel takes longer than this to start.
        let begun = std::time::Instant::now();
        let patience = std::time::Duration::from_secs(1);
        let made = tokio::time::timeout(patience, place.create(spec())).await;
        assert!(made.is_err(), "it stood after {:?}", begun.elapsed());
        let ended = std::time::Duration::from_secs(30);
        tokio::time::timeout(ended, place.backend.close()).await.expect("somebody removes it");
        assert_eq!(machines(), [0; 0]);
        let boxes = std::fs::read_dir(&above).expect("a folder").map(|entry| entry.expect("an entry").path());
        let left: Vec<PathBuf> = boxes
            .flat_map(|owner| std::fs::read_dir(owner.join("boxes")).into_iter().flatten())
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(left.is_empty(), "{left:?}");
    });
}
