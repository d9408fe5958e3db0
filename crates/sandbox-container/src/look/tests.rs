use super::*;

#[track_caller]
fn check(line: &str, expected: Option<(&str, bool, Option<u64>)>) {
    let expected = expected.map(|(at, read_only, bytes)| Mounted { at: at.to_owned(), read_only, bytes });
    assert_eq!(read_mount(line), expected, "{line}");
}

#[test]
fn the_kernels_list_of_mounts_is_read() {
    check("612 540 0:61 / / ro,relatime - overlay overlay rw,lowerdir=/l", Some(("/", true, None)));
    check(
        "620 612 0:70 / /work rw,nosuid,nodev,relatime shared:3 - tmpfs tmpfs rw,size=131072k,mode=700",
        Some(("/work", false, Some(131_072 << 10))),
    );
    check(
        "621 612 8:1 /a\\040b /with\\040space\\134 ro - ext4 /dev/vda rw",
        Some(("/with space\\", true, None)),
    );
    check("", None);
    check("621 612 8:1 / /x", None);
}
