//! Layers whose author wants out, or wants everything.

use bailiwick_image::Bounds;
use bailiwick_types::ErrorCode;
use tar::EntryType;

use crate::made::{Layer, Made, Place, get, gzip, xz};

/// These layers are refused with these words, and leave nothing anywhere.
#[track_caller]
fn refused(layers: Vec<Layer>, why: &str) {
    let place = Place::new();
    let error = place.take(Made::of(layers)).expect_err(why);
    assert!(error.to_string().contains(why), "{error}");
    place.is_untouched();
}

/// These layers are taken, and nothing outside is touched.
#[track_caller]
fn taken(layers: Vec<Layer>) -> Place {
    let place = Place::new();
    place.take(Made::of(layers)).expect("it is taken");
    assert_eq!(get(&place.path("outside/canary")), "alive");
    place
}

fn outside() -> String {
    // From the root of a staged tree: staging/<x>/root.
    "../../../../outside".to_owned()
}

#[test]
fn names_that_climb_out_are_refused() {
    let out = outside();
    let names = ["..", "../x", "a/../../x", "./../x", "/../x", "a/..", &format!("{out}/canary")];
    for name in names {
        refused(vec![Layer::new().file(name, "x")], "climb out");
        refused(vec![Layer::new().folder(name)], "climb out");
    }
    refused(vec![Layer::new().pax(&[("path", b"../../x")]).file("harmless", "x")], "climb out");
    refused(vec![Layer::new().file(&format!("{}x", "../".repeat(60)), "x")], "climb out");
}

#[test]
fn absolute_names_lie_in_the_image() {
    let place = taken(vec![Layer::new().file("/etc/name", "x").file("//usr//./bin/y", "y")]);
    assert_eq!(get(&place.root("it:1").join("etc/name")), "x");
    assert_eq!(get(&place.root("it:1").join("usr/bin/y")), "y");
}

#[test]
fn no_way_leads_through_a_link() {
    let why = "lies behind a link";
    for target in [&*outside(), "/", "/tmp", ".", "real"] {
        let link = || Layer::new().folder("real").link("door", target);
        refused(vec![link().file("door/canary", "dead")], why);
        refused(vec![link().folder("door/x")], why);
        refused(vec![link().link("door/x", "y")], why);
        refused(vec![link().file("door/x/y", "dead")], why);
        refused(vec![link(), Layer::new().file("door/canary", "dead")], why);
        refused(vec![link(), Layer::new().file("door/.wh.canary", "")], why);
        refused(vec![link(), Layer::new().file("door/.wh..wh..opq", "")], why);
        refused(vec![link().file("x", "x").hard_link("door/canary", "x")], why);
    }
    refused(vec![Layer::new().file("a", "a").file("a/b", "b")], why);
}

#[test]
fn an_entry_that_changes_its_kind_is_replaced_and_never_written_through() {
    let canary = format!("{}/canary", outside());
    refused(
        vec![Layer::new().folder("a").link("a", &outside()).file("a/canary", "dead")],
        "lies behind a link",
    );
    let place = taken(vec![Layer::new().link("a", &canary).file("a", "own")]);
    let seen = place.root("it:1").join("a");
    assert!(seen.symlink_metadata().expect("it is there").is_file());
    assert_eq!(get(&seen), "own");
    let place = taken(vec![Layer::new().link("a", &outside()).folder("a").file("a/canary", "own")]);
    assert_eq!(get(&place.root("it:1").join("a/canary")), "own");
    let place = taken(vec![Layer::new().folder("a").file("a/b", "b"), Layer::new().file("a", "a")]);
    assert_eq!(get(&place.root("it:1").join("a")), "a");
}

#[test]
fn hard_links_lead_to_files_of_the_image_only() {
    let refuse = |target: &str, why: &str| {
        refused(vec![Layer::new().folder("f").link("door", &outside()).hard_link("x", target)], why);
    };
    refuse(&format!("{}/canary", outside()), "climb out");
    refuse("../../names", "climb out");
    refuse("/etc/passwd", "not in the image");
    refuse("nothing", "not in the image");
    refuse("door/canary", "behind a link");
    refuse("f", "for a folder");
    refuse("", "for the root");
    refuse("/", "for the root");
    refused(vec![Layer::new().file("a/b", "x").hard_link("a", "a/b")], "not in the image");
}

#[test]
fn a_hard_link_to_a_link_is_a_link_and_a_file_in_its_place_is_a_file() {
    let canary = format!("{}/canary", outside());
    let layer = Layer::new().link("a", &canary).hard_link("b", "a").hard_link("c", "b").file("c", "own");
    let place = taken(vec![layer]);
    let root = place.root("it:1");
    assert_eq!(std::fs::read_link(root.join("b")).expect("a link").to_str(), Some(canary.as_str()));
    assert_eq!(get(&root.join("c")), "own");
}

#[test]
fn a_file_in_the_place_of_one_name_leaves_the_other_names_alone() {
    let layer = Layer::new().file("a", "old").hard_link("b", "a").hard_link("b", "a");
    let place = taken(vec![layer, Layer::new().file("b", "new")]);
    let root = place.root("it:1");
    assert_eq!((get(&root.join("a")), get(&root.join("b"))), ("old".to_owned(), "new".to_owned()));
}

#[test]
fn a_whiteout_takes_away_nothing_but_files_of_the_image() {
    for name in [".wh.", ".wh..", ".wh...", "a/.wh...", "a/.wh.."] {
        refused(vec![Layer::new().folder("a").file(name, "")], "no file of the image");
    }
    refused(vec![Layer::new().file("../.wh.canary", "")], "climb out");
    let place = taken(vec![Layer::new().link("a", &outside()), Layer::new().file(".wh.a", "")]);
    assert!(place.root("it:1").join("a").symlink_metadata().is_err());
}

#[test]
fn the_root_is_a_folder() {
    for name in [".", "/", "./", "././/"] {
        refused(vec![Layer::new().link(name, "/tmp")], "root itself");
        refused(vec![Layer::new().entry(EntryType::Regular, name, "", 0o644, b"x")], "root itself");
        taken(vec![Layer::new().folder(name).file("a", "a")]);
    }
}

#[test]
fn devices_and_pipes_are_left_out_and_bits_are_dropped() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let layer = Layer::new()
        .entry(EntryType::Char, "null", "", 0o666, b"")
        .entry(EntryType::Block, "disk", "", 0o666, b"")
        .entry(EntryType::Fifo, "pipe", "", 0o666, b"")
        .entry(EntryType::new(b'V'), "label", "", 0o666, b"")
        .entry(EntryType::Regular, "su", "", 0o6755, b"x")
        .entry(EntryType::Directory, "d", "", 0o7777, b"")
        .pax(&[("SCHILY.xattr.security.capability", b"\x01\x00\x00\x02\xff\xff\xff\xff")])
        .entry(EntryType::Regular, "capable", "", 0o755, b"x");
    let image = place.take(Made::of(vec![layer])).expect("it is taken");
    let left = image.left_out;
    assert_eq!((left.special, left.set_id, left.attributes), (4, 1, 1));
    let root = place.root("it:1");
    let mode = |name: &str| root.join(name).symlink_metadata().expect(name).permissions().mode() & 0o7777;
    assert_eq!((mode("su"), mode("d"), mode("capable")), (0o755, 0o755, 0o755));
    for name in ["null", "disk", "pipe", "label"] {
        assert!(root.join(name).symlink_metadata().is_err(), "{name}");
    }
    let mut value = [0; 64];
    assert!(rustix::fs::lgetxattr(root.join("capable"), "security.capability", &mut value).is_err());
}

#[test]
fn names_are_bounded() {
    refused(vec![Layer::new().file(&"a".repeat(256), "x")], "longer than any");
    refused(vec![Layer::new().file(&"a/".repeat(2100), "x")], "longer than any");
    refused(vec![Layer::new().file(&format!("{}x", "a/".repeat(100)), "x")], "deeper than anything");
    refused(vec![Layer::new().pax(&[("path", b"a\0b")]).file("x", "x")], "zero byte");
    refused(vec![Layer::new().pax(&[("path", b"a\0/../../b")]).file("x", "x")], "zero byte");
    refused(vec![Layer::new().link("a", &"a".repeat(5000))], "too long a way");
    refused(vec![Layer::new().link("a", "")], "leads nowhere");
    // A name of ten megabytes, of which no more is held than a name may have.
    refused(vec![Layer::new().file(&"a".repeat(10 << 20), "x")], "longer than any");
    taken(vec![Layer::new().file(&format!("{}x", "a/".repeat(99)), "x").file(&"b".repeat(255), "x")]);
}

#[test]
fn nothing_is_said_in_two_ways() {
    refused(vec![Layer::new().pax(&[("path", b"a"), ("path", b"b")]).file("x", "x")], "said twice");
    refused(vec![Layer::new().pax(&[("path", b"a")]).pax(&[("path", b"b")]).file("x", "x")], "said twice");
    refused(vec![Layer::new().pax(&[("path", b"a")]).file(&"x".repeat(200), "x")], "two names");
    refused(vec![Layer::new().pax(&[("size", b"99999")]).file("x", "x")], "two sizes");
    refused(vec![Layer::new().pax(&[("size", b"-1")]).file("x", "x")], "a number");
    let global = Layer::new().pax(&[("path", b"all")]).done();
    let mut header = global.get(..1024).expect("an entry").to_vec();
    header[156] = b'g';
    let sum: u32 = header[..512]
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
        .sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    refused(vec![Layer::new().raw(&header).file("x", "x")], "one name or size for all");
    refused(vec![Layer::new().raw(&global[..1024])], "announced");
    refused(
        vec![Layer::new().bytes(EntryType::XHeader, b"x", b"", 0o644, b"9999 path=x\n").file("x", "x")],
        "is none",
    );
}

#[test]
fn files_with_holes_are_refused_however_large_they_claim_to_be() {
    refused(vec![Layer::new().entry(EntryType::GNUSparse, "x", "", 0o644, b"")], "holes");
    let words: [(&str, &[u8]); 2] = [("GNU.sparse.major", b"1"), ("GNU.sparse.realsize", b"1099511627776")];
    refused(vec![Layer::new().pax(&words).file("x", "x")], "holes");
}

/// With these bounds the image is refused with these words.
#[track_caller]
fn beyond(change: impl FnOnce(&mut Bounds), made: Made, why: &str) {
    let place = Place::with(|options| change(&mut options.bounds));
    let error = place.take(made).expect_err(why);
    assert!(error.to_string().contains(why), "{error}");
    assert_eq!(error.code(), ErrorCode::DiskLimit);
    place.is_untouched();
}

#[test]
fn bombs_end_at_their_bounds() {
    let megabyte = "0".repeat(1 << 20);
    let files = || Layer::new().file("a", &megabyte).file("b", &megabyte);
    beyond(|bounds| bounds.bytes = 3 << 19, Made::of(vec![files()]), "more bytes of files");
    beyond(|bounds| bounds.bytes = 5 << 19, Made::of(vec![files(), files()]), "more bytes of files");
    let many = (0..50).fold(Layer::new(), |layer, number| layer.file(&format!("{number}"), ""));
    beyond(|bounds| bounds.entries = 49, Made::of(vec![many]), "more files");
    let deep = Layer::new().file("a/b/c/d/e/f/g/h", "x");
    beyond(|bounds| bounds.entries = 5, Made::of(vec![deep]), "more files");
    let layers = (0..4).map(|_| Layer::new().file("a", "a")).collect();
    beyond(|bounds| bounds.layers = 3, Made::of(layers), "more layers");
}

#[test]
fn what_was_packed_too_tightly_is_not_unpacked() {
    // Behind the end of the archive, where nothing would be written: only the packed size speaks against it.
    let mut plain = Layer::new().file("a", "a").done();
    plain.resize(3 << 20, 0);
    let packed = gzip(&plain);
    assert!(packed.len() < 1 << 17);
    let place = Place::with(|options| (options.bounds.free, options.bounds.ratio) = (1 << 21, 200));
    place.take(Made::packed(std::slice::from_ref(&plain), vec![packed.clone()])).expect("not too tightly");
    let tight = |bounds: &mut Bounds| (bounds.free, bounds.ratio) = (1 << 20, 2);
    beyond(tight, Made::packed(&[plain], vec![packed]), "of its packed size");
}

#[test]
fn xz_takes_no_more_memory_and_no_more_room_than_the_others() {
    let mut plain = Layer::new().file("a", "a").done();
    plain.resize(3 << 20, 0);
    let tight = |bounds: &mut Bounds| (bounds.free, bounds.ratio) = (1 << 20, 2);
    beyond(tight, Made::packed(std::slice::from_ref(&plain), vec![xz(&plain)]), "of its packed size");
    // The header of a block says that 4 GiB are needed to undo it: size, flags, filter, its length, and the power of two.
    let mut greedy = xz(&plain);
    assert_eq!(greedy[14..16], [0x21, 1]);
    greedy[16] = 40;
    let end = 12 + usize::from(greedy[12]) * 4;
    let mut sum = flate2::Crc::new();
    sum.update(&greedy[12..end]);
    greedy[end..end + 4].copy_from_slice(&sum.sum().to_le_bytes());
    let place = Place::new();
    let error =
        place.take(Made::packed(std::slice::from_ref(&plain), vec![greedy])).expect_err("it is greedy");
    assert!(error.to_string().contains("memory"), "{error}");
    place.is_untouched();
    let mut torn = xz(&plain);
    torn.truncate(torn.len() - 3);
    Place::new().take(Made::packed(&[plain], vec![torn])).expect_err("it is torn");
}

#[test]
fn xz_with_any_byte_changed_is_refused() {
    let plain = Layer::new().file("a", "some text").done();
    let whole = xz(&plain);
    let place = Place::new();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        let made = Made::packed(std::slice::from_ref(&plain), vec![changed]);
        place.take(made).map(|_| ()).expect_err("one byte is another");
    }
}

#[test]
fn words_about_one_file_are_bounded() {
    let words = vec![b'x'; 2 << 20];
    let layer = Layer::new().pax(&[("comment", &words)]).file("x", "x");
    beyond(|_| (), Made::of(vec![layer]), "more words about one file");
    let pile = (0..20).fold(Layer::new(), |layer, _| layer.pax(&[("comment", b"x")]));
    refused(vec![pile.file("x", "x")], "too many words");
}

#[test]
fn case_is_told_apart() {
    let layer =
        Layer::new().file("a", "small").file("A", "large").link("D", "/tmp").folder("d").file("d/x", "x");
    let place = taken(vec![layer, Layer::new().file(".WH.a", "no whiteout")]);
    let root = place.root("it:1");
    assert_eq!((get(&root.join("a")), get(&root.join("A"))), ("small".to_owned(), "large".to_owned()));
    assert_eq!(get(&root.join("d/x")), "x");
}

#[test]
fn names_that_are_no_text_are_names() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = taken(vec![Layer::new().bytes(EntryType::Regular, b"\xff\xfe\n\x1b[2J", b"", 0o644, b"x")]);
    let name = std::ffi::OsStr::from_bytes(b"\xff\xfe\n\x1b[2J");
    assert_eq!(get(&place.root("it:1").join(name)), "x");
    let place = Place::new();
    let error = place.take(Made::of(vec![Layer::new().file("\u{1b}[2J/../x", "x")])).expect_err("it climbs");
    assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
}

#[test]
fn what_is_not_what_it_is_called_is_refused() {
    let layer = || Layer::new().file("a", "a");
    let spoil = |change: &dyn Fn(&mut Made), why: &str| {
        let place = Place::new();
        let mut made = Made::of(vec![layer()]);
        change(&mut made);
        let error = place.take(made).expect_err(why);
        assert!(error.to_string().contains(why), "{error}");
        place.is_untouched();
    };
    spoil(&|made| made.blobs[0].1 = gzip(&Layer::new().file("a", "b").done()), "the digest");
    spoil(&|made| made.manifest["layers"][0]["size"] = 10.into(), "10 were declared");
    spoil(&|made| made.manifest["layers"][0]["size"] = 100_000.into(), "100000 were declared");
    spoil(
        &|made| made.config["rootfs"]["diff_ids"][0] = bailiwick_image::Digest::of(b"x").to_string().into(),
        "unpacked",
    );
    spoil(&|made| made.config["rootfs"]["diff_ids"] = serde_json::json!([]), "as many layers");
    spoil(&|made| drop(made.blobs.pop()), "not there");
    spoil(&|made| made.config["architecture"] = "s390x".into(), "linux/s390x");
    spoil(&|made| made.config["os"] = "windows".into(), "windows/");
    spoil(
        &|made| {
            made.manifest["layers"][0]["mediaType"] =
                "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip".into();
        },
        "not taken",
    );
    spoil(&|made| made.manifest["layers"][0]["digest"] = "sha512:00".into(), "cannot be read");
    spoil(
        &|made| made.manifest["layers"][0]["digest"] = "sha256:../../../../outside/canary".into(),
        "cannot be read",
    );
}

#[test]
fn archives_that_break_off_are_refused() {
    let whole = Layer::new().file("a", &"x".repeat(2000)).file("b", "b").done();
    for end in [100, 512, 1000, 2000] {
        let plain = whole.get(..end).expect("long enough").to_vec();
        let place = Place::new();
        place
            .take(Made::packed(std::slice::from_ref(&plain), vec![gzip(&plain)]))
            .map(drop)
            .expect_err("it breaks off");
        place.is_untouched();
    }
    let mut torn = gzip(&whole);
    torn.truncate(torn.len() - 10);
    let place = Place::new();
    place.take(Made::packed(&[whole], vec![torn])).map(drop).expect_err("it breaks off");
    place.is_untouched();
}
