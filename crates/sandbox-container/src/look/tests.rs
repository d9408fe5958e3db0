use super::*;
use crate::image::Begins;
use crate::plan::Scratch;

#[track_caller]
fn check(line: &str, expected: Option<(&str, bool, &str, Option<u64>)>) {
    let expected = expected.map(|(at, read_only, system, bytes)| Mounted {
        number: line.split(' ').next().expect("a number").parse().expect("a number"),
        at: at.to_owned(),
        read_only,
        system: system.to_owned(),
        bytes,
    });
    assert_eq!(read_mount(line), expected, "{line}");
}

#[test]
fn the_kernels_list_of_mounts_is_read() {
    check(
        "612 540 0:61 / / ro,relatime - overlay overlay rw,lowerdir=/l",
        Some(("/", true, "overlay", None)),
    );
    check(
        "620 612 0:70 / /work rw,nosuid,nodev,relatime shared:3 - tmpfs tmpfs rw,size=131072k,mode=700",
        Some(("/work", false, "tmpfs", Some(131_072 << 10))),
    );
    check(
        "621 612 8:1 /a\\040b /with\\040space\\134 ro - ext4 /dev/vda rw",
        Some(("/with space\\", true, "ext4", None)),
    );
    check("", None);
    check("621 612 8:1 / /x", None);
}

#[test]
fn what_can_be_written_to_and_was_not_planned_is_told() {
    let bound = |to: &str, writable| Bound {
        from: "/somewhere".to_owned(),
        to: to.to_owned(),
        writable,
        checked: None,
    };
    let plan = Plan {
        bounds: vec![bound("/project", true), bound("/etc/hosts", false)],
        scratch: vec![Scratch { at: "/work".to_owned(), bytes: 4096 }],
        memory: 1,
        beside: 0,
        cpu: 1,
        pids: None,
        own_network: true,
        begins: Begins::default(),
    };
    let planned = [
        "1 0 0:1 / / ro - overlay overlay rw",
        "2 1 0:2 / /proc rw - proc proc rw",
        "3 1 0:3 / /dev rw - tmpfs tmpfs rw,size=65536k",
        "4 3 0:4 / /dev/pts rw - devpts devpts rw",
        "5 2 0:3 /null /proc/kcore rw - tmpfs tmpfs rw",
        "6 1 8:1 /p /project rw - ext4 /dev/vda rw",
        "7 1 8:1 /h /etc/hosts ro - ext4 /dev/vda rw",
        "8 1 0:5 / /work rw - tmpfs tmpfs rw,size=4k",
    ];
    let told = |lines: &[&str]| {
        let mounted: Vec<Mounted> = lines.iter().filter_map(|line| read_mount(line)).collect();
        assert_eq!(mounted.len(), lines.len());
        more(&mounted, &plan, |one| one.at == "/proc/kcore")
    };
    assert_eq!(told(&planned), None);
    for unplanned in [
        "9 8 8:1 /volumes/x/_data /work/cache rw - ext4 /dev/vda rw",
        "9 8 8:1 /volumes/x/_data /project/cache rw - ext4 /dev/vda rw",
        "9 8 0:9 / /run rw - tmpfs tmpfs rw",
        "9 8 8:1 /h /etc/hosts rw - ext4 /dev/vda rw",
        "9 8 8:1 / / rw - ext4 /dev/vda rw",
    ] {
        let why = told(&[&planned[..], &[unplanned]].concat());
        assert!(why.is_some_and(|why| why.contains("nobody asked for it")), "{unplanned}");
    }
    let point = |at: &str, rw| MountPoint { destination: Some(at.to_owned()), rw, ..MountPoint::default() };
    let check = |points: &[MountPoint], is_wrong: bool| {
        assert_eq!(told_of_more(points, &plan).is_some(), is_wrong, "{points:?}");
    };
    check(&[point("/project", Some(true)), point("/etc/hosts", Some(false))], false);
    check(&[point("/work", Some(true)), point("/work/cache", Some(true))], true);
    check(&[point("/etc/hosts", None)], true);
}
