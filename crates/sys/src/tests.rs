use std::collections::BTreeSet;
use std::os::fd::AsFd as _;

use crate::alone::Alone;
use crate::hot::Account;
use crate::namespaces::Differs;
use crate::seccomp::{self, Filter};
use crate::{bounds, packets};

#[test]
fn every_allowed_system_call_says_which_code_needs_it() {
    for allowed in seccomp::nursery::with_cells() {
        let number = u32::try_from(allowed.number).unwrap();
        assert!(seccomp::name(number).is_some(), "{number} has no name");
        assert!(allowed.why.len() > 6, "{number} has no reason");
    }
}

#[test]
fn a_cell_may_do_nothing_that_its_nursery_may_not() {
    let numbers = |list: &[seccomp::Allowed]| list.iter().map(|one| one.number).collect::<BTreeSet<_>>();
    let all = seccomp::nursery::with_cells();
    assert!(numbers(seccomp::cell::ALLOWED).is_subset(&numbers(&all)));
    for dangerous in [
        "open",
        "openat",
        "openat2",
        "socket",
        "connect",
        "execve",
        "execveat",
        "fork",
        "vfork",
        "clone",
        "clone3",
        "ptrace",
        "kill",
        "tkill",
        "tgkill",
        "sendmsg",
        "sendto",
        "recvmsg",
        "mprotect",
        "ioctl",
        "bpf",
        "io_uring_setup",
        "userfaultfd",
        "keyctl",
        "mount",
        "unshare",
        "setns",
        "process_vm_readv",
        "memfd_create",
        "shmget",
        "prctl",
    ] {
        let Some(number) = seccomp::number(dangerous) else { continue };
        let listed = seccomp::cell::ALLOWED.iter().any(|one| one.number == i64::from(number));
        assert!(!listed, "{dangerous} is allowed in a cell");
    }
}

#[test]
fn the_filters_compile_and_stay_small() {
    let cell = Filter::narrow(seccomp::nursery::ALLOWED, seccomp::cell::ALLOWED).unwrap();
    let nursery = Filter::compile(&seccomp::nursery::with_cells()).unwrap();
    assert!(cell.length() < nursery.length());
    assert!(nursery.length() < 400, "{}", nursery.length());
}

/// A cell's filter takes away what is the nursery's own: where both lists name a call, it must be for other arguments.
#[test]
fn what_a_nursery_may_beside_its_cells_never_overlaps_with_what_they_may() {
    use seccomp::When;
    for own in seccomp::nursery::ALLOWED {
        for shared in seccomp::cell::ALLOWED.iter().filter(|one| one.number == own.number) {
            let apart = match (own.when, shared.when) {
                (When::Both(_, one), When::Both(_, other)) => one.0 == other.0 && one.1 != other.1,
                _ => false,
            };
            assert!(apart, "{own:?} and {shared:?}");
        }
    }
}

/// What a filter says of a call, by going through it as the kernel does.
#[track_caller]
fn verdict(program: &[seccompiler::sock_filter], number: u32, arguments: [u64; 6]) -> u32 {
    let (mut at, mut loaded) = (0, 0);
    loop {
        let line = &program[at];
        at += 1;
        let jump = |holds: bool| usize::from(if holds { line.jt } else { line.jf });
        match u32::from(line.code) {
            0x20 if line.k == 0 => loaded = number,
            0x20 => loaded = u32::try_from(arguments[(line.k as usize - 16) / 8]).unwrap(),
            0x15 => at += jump(loaded == line.k),
            0x25 => at += jump(loaded > line.k),
            0x35 => at += jump(loaded >= line.k),
            0x06 => return line.k,
            code => panic!("{code:#x} is not among what the filter is written in"),
        }
    }
}

#[test]
fn a_cells_filter_takes_away_exactly_what_is_its_nurserys_own() {
    let narrow = Filter::narrow(seccomp::nursery::ALLOWED, seccomp::cell::ALLOWED).unwrap();
    let kept = |number: u32| seccomp::cell::ALLOWED.iter().any(|one| one.number == i64::from(number));
    for number in 0..1024 {
        let own = seccomp::nursery::ALLOWED.iter().any(|one| one.number == i64::from(number));
        let verdict = verdict(&narrow.0, number, [0; 6]);
        if kept(number) {
            assert_eq!(verdict, libc::SECCOMP_RET_ALLOW, "{number}");
        } else if own {
            assert_eq!(verdict, libc::SECCOMP_RET_TRAP, "{number}");
        }
    }
    let resource = |one: u32| [0, u64::from(one), 0, 0, 0, 0];
    let bound = u32::try_from(libc::SYS_prlimit64).unwrap();
    for (which, expected) in [
        (libc::RLIMIT_NOFILE, libc::SECCOMP_RET_TRAP),
        (libc::RLIMIT_AS, libc::SECCOMP_RET_ALLOW),
        (libc::RLIMIT_CPU, libc::SECCOMP_RET_ALLOW),
    ] {
        assert_eq!(verdict(&narrow.0, bound, resource(which)), expected, "{which}");
    }
    assert!(narrow.length() < 24, "every cell pays for each of its {} instructions", narrow.length());
}

#[test]
fn what_is_given_to_forks_is_what_was_there() {
    let pid = i32::try_from(std::process::id()).unwrap();
    let (before, done) = (vec![7_u8; 64 * 1024], std::cell::Cell::new(0));
    let work = || done.set(done.get() + 1);
    // Alone or not is of no account here: the one fork does nothing but wait.
    let alone = Alone::assume_just_started();
    Account::open(pid).unwrap().give_to_forks(&alone, work).unwrap();
    assert_eq!((before, done.get()), (vec![7_u8; 64 * 1024], 2));
}

#[test]
fn a_packet_brings_its_descriptors_and_only_whole() {
    let (one, other) = packets::packet_pair().unwrap();
    let (left, right) = packets::stream_pair().unwrap();
    packets::send(&one, b"hello", &[left.as_fd(), right.as_fd()]).unwrap();
    let mut buffer = [0; 16];
    let packet = packets::receive(&other, &mut buffer).unwrap();
    assert_eq!((&buffer[..packet.length], packet.descriptors.len()), (&b"hello"[..], 2));
    packets::send(&one, b"longer than four", &[]).unwrap();
    let mut short = [0; 4];
    assert!(packets::receive(&other, &mut short).is_err());
    drop(one);
    assert_eq!(packets::receive(&other, &mut buffer).unwrap().length, 0);
}

#[test]
fn a_process_with_threads_is_not_alone() {
    // The test harness has at least the thread that waits for this one.
    assert!(Alone::check().is_err());
}

#[test]
fn namespaces_seen_cross_as_one_byte() {
    for byte in 0..64 {
        assert_eq!(Differs::from_byte(byte).to_byte(), byte);
    }
    assert_eq!(Differs::look(i32::try_from(std::process::id()).unwrap()).unwrap(), Differs::default());
}

#[test]
fn the_size_of_memory_is_read_in_pages() {
    let page = rustix::param::page_size() as u64;
    assert_eq!(bounds::memory_size("12 3 4 5\n").unwrap(), 12 * page);
    assert!(bounds::memory_size("").is_err());
}

#[test]
fn landlock_opens_only_what_is_held() {
    use crate::landlock::{How, Opened, Place, close_all_but};
    let held = crate::held::HeldFile::open(std::path::Path::new("/usr")).unwrap();
    let opened = Opened { place: Place::Held(held.descriptor().unwrap()), how: How::Read };
    // Of a thread of its own, which ends behind it. Where there is no Landlock, nothing is opened or closed.
    let closed = std::thread::spawn(|| {
        crate::privileges::never_gain().unwrap();
        close_all_but(vec![opened]).unwrap();
        ["/usr", "/etc"].map(|path| std::fs::read_dir(path).is_ok())
    });
    let seen = closed.join().unwrap();
    assert_eq!(seen, if crate::landlock::version() > 0 { [true, false] } else { [true, true] });
}
