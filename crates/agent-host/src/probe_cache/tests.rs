use bailiwick_sandbox::Demand;
use bailiwick_types::Wallpart;

use super::*;

fn probe(status: WallStatus) -> Probe {
    let part = |demand: Demand| Wallpart {
        demand: demand.name().to_owned(),
        mechanism: "a mechanism".to_owned(),
        status,
    };
    let enforces = Demand::ALL.into_iter().map(part).collect();
    Probe { availability: Available::Yes, enforces, found: vec!["version 1".to_owned()] }
}

#[test]
fn a_result_counts_under_the_same_circumstances_only() {
    let directory = tempfile::tempdir().unwrap();
    let engine = directory.path().join("engine");
    folders::write(&engine, b"one").unwrap();
    let cache = |settings: &str| ProbeCache::new(directory.path(), "some", &settings, &[&engine]);
    assert_eq!(cache("a").read(), None);
    let found = (probe(WallStatus::Enforced), Tier::UserKernel);
    cache("a").write(&found.0, found.1);
    assert_eq!(cache("a").read(), Some(found));
    assert_eq!(cache("b").read(), None, "other settings");
    assert_eq!(ProbeCache::new(directory.path(), "other", &"a", &[&engine]).read(), None, "another backend");
    folders::write(&engine, b"another version").unwrap();
    assert_eq!(cache("a").read(), None, "another engine");
}

#[test]
fn a_result_in_a_directory_that_others_can_write_to_does_not_count() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let cache = ProbeCache::new(directory.path(), "some", &(), &[]);
    cache.write(&probe(WallStatus::Enforced), Tier::Container);
    for (mode, counts) in [(0o700, true), (0o755, true), (0o770, false), (0o707, false)] {
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(cache.read().is_some(), counts, "{mode:o}");
    }
}

#[test]
fn a_result_counts_for_a_minute() {
    let directory = tempfile::tempdir().unwrap();
    let cache = ProbeCache::new(directory.path(), "some", &(), &[]);
    let store = |at| {
        let circumstances = cache.circumstances.clone();
        let stored = Stored { circumstances, at, tier: Tier::Container, probe: probe(WallStatus::Enforced) };
        remembered::write(&cache.file, &stored);
        cache.read().is_some()
    };
    let now = remembered::now();
    assert!(store(now));
    assert!(!store(now - COUNTS_FOR.as_secs()), "too old");
    assert!(!store(now + 3600), "of a clock that was set back since");
}

#[test]
fn a_wall_that_did_not_stand_is_looked_at_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = ProbeCache::new(directory.path(), "some", &(), &[]);
    cache.write(&probe(WallStatus::Partial), Tier::Container);
    cache.write(&Probe::unusable("no engine".to_owned(), None, Vec::new()), Tier::Container);
    assert_eq!(cache.read(), None);
    folders::write(&cache.file, b"not a result").unwrap();
    assert_eq!(cache.read(), None);
}
