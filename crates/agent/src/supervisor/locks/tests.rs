use std::os::fd::AsRawFd as _;

use super::*;

#[test]
fn at_the_bound_it_matters_how_many_locks_there_are() {
    let mut locks = Locks { taken: MOST, ..Locks::default() };
    // The processes of this machine, of which not all may be looked at.
    let has_room = count(0).is_ok_and(|found| found + BY_A_RANGE <= MOST);
    assert_eq!(locks.range().is_none(), has_room);
    assert_eq!(locks.full.is_none(), has_room);
}

#[test]
fn ranges_for_open_files_are_so_many() {
    let mut locks = Locks::default();
    assert!((0..MOST_OF_OPEN_FILES).all(|_| locks.range_of_open_file().is_none()));
    assert_eq!(locks.range_of_open_file(), Some(Errno::NOLCK));
}

#[test]
fn after_a_count_that_found_too_many_nothing_is_counted_for_a_while() {
    let mut locks = Locks { taken: MOST, full: Some(Instant::now()), ..Locks::default() };
    assert_eq!(locks.file(), Some(Errno::NOLCK));
    assert_eq!(locks.taken, MOST, "nothing was counted");
}

#[test]
fn locks_of_every_kind_and_mappings_are_found() {
    let file = rustix::fs::open("/proc/self/exe", OFlags::RDONLY, Mode::empty()).expect("a file");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockShared).expect("a lock");
    let info = format!("/proc/self/fdinfo/{}", file.as_raw_fd());
    assert_eq!(lines(&info, |line| line.starts_with(b"lock:")), Ok(1));
    let mut found = Found::default();
    found.process("self", true).expect("this process");
    assert!(found.locks >= 1 && found.mappings > 1 && found.open_files > 3, "{found:?}");
}
