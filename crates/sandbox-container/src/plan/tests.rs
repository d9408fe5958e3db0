use super::*;

#[track_caller]
fn check(own: &[&str], workdir: &str, disk: u64, expected: &[u64]) {
    let own: Vec<String> = own.iter().map(|at| (*at).to_owned()).collect();
    let parts: Vec<u64> = split(&own, workdir, disk).iter().map(|part| part.bytes).collect();
    assert_eq!(parts, expected);
    assert!(parts.iter().sum::<u64>() <= disk, "{parts:?}");
}

#[test]
fn folders_together_are_never_more_than_the_disk() {
    const MIB: u64 = 1 << 20;
    check(
        &["/work", "/tmp", "/var/tmp", "/dev/shm"],
        "/work",
        96 * MIB,
        &[48 * MIB, 16 * MIB, 16 * MIB, 16 * MIB],
    );
    check(&["/work", "/tmp"], "/work/deeper", 4 * MIB, &[2 * MIB, 2 * MIB]);
    check(&["/tmp", "/dev/shm"], "/project", 4 * MIB, &[2 * MIB, 2 * MIB]);
    check(&["/work"], "/work", MIB, &[MIB]);
    // Where commands begin is the deepest of them.
    check(&["/work", "/tmp", "/work/cache"], "/work/cache/x", 4 * MIB, &[MIB, MIB, 2 * MIB]);
    check(&["/work", "/tmp", "/work/cache"], "/work", 4 * MIB, &[2 * MIB, MIB, MIB]);
    check(&["/work", "/tmp", "/var/tmp"], "/work", 10_000, &[4096, 0, 0]);
    check(&[], "/work", MIB, &[]);
    check(&["/work", "/tmp"], "/work", 0, &[0, 0]);
}

#[test]
fn a_folder_without_a_size_cannot_be_written_to() {
    let none = Scratch { at: "/tmp".to_owned(), bytes: 0 };
    assert!(none.options(Kind::Docker).starts_with("ro,"), "a size of nothing would be no bound");
    let some = Scratch { at: "/tmp".to_owned(), bytes: 8192 };
    assert!(some.options(Kind::Docker).starts_with("rw,nosuid,nodev,exec,size=8192,"));
}
