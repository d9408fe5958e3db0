//! Held files: where links lead, and a race against somebody who exchanges directories for links.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{HeldFile, Leads, Unheld};

/// A directory of the test's own, by its path without links. On memory where there is some.
struct Top(PathBuf);

impl Top {
    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn new(name: &str) -> Self {
        let shared = Path::new("/dev/shm");
        let above = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        let top = above.join(format!("bailiwick-held-{}-{name}", std::process::id()));
        for directory in ["entry/d/sub", "outside/sub"] {
            std::fs::create_dir_all(top.join(directory)).unwrap();
        }
        for (file, text) in [("entry/d/sub/mark", "inside"), ("outside/sub/mark", "outside")] {
            std::fs::write(top.join(file), text).unwrap();
        }
        Self(top.canonicalize().unwrap())
    }

    fn join(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }
}

impl Drop for Top {
    #[expect(clippy::disallowed_methods, reason = "a directory of the test's own")]
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

/// What somebody does who checks a path by its name and opens it by its name.
fn naive(entry: &Path, path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok().filter(|real| real.starts_with(entry))?;
    // Checked. Now it is opened, by the name that was checked.
    let opened =
        rustix::fs::open(real, super::HOLD - rustix::fs::OFlags::NOFOLLOW, rustix::fs::Mode::empty()).ok()?;
    crate::beneath::real_path(&opened).ok()
}

#[test]
fn a_swap_for_a_link_never_leads_out_in_a_hundred_thousand_tries() {
    let top = Top::new("race");
    let (entry, outside) = (top.join("entry"), top.join("outside"));
    symlink(&outside, entry.join("trap")).unwrap();
    let root = HeldFile::open(&entry).unwrap();
    let end = AtomicBool::new(false);
    let (mut good, mut refused, mut led_out) = (0_u32, 0_u32, 0_u32);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !end.load(Ordering::Relaxed) {
                renameat_with(CWD, entry.join("d"), CWD, entry.join("trap"), RenameFlags::EXCHANGE).unwrap();
            }
        });
        // The control: a check by name and an opening by name are led out.
        for _ in 0..3_000_000 {
            if led_out == 10 {
                break;
            }
            let found = naive(&entry, &entry.join("d/sub"));
            led_out += u32::from(found.is_some_and(|found| found.starts_with(&outside)));
        }
        for turn in 0..100_000_u32 {
            let guarded = std::slice::from_ref(&root);
            let held = match turn % 3 {
                0 => root.beneath(Path::new("d/sub")).map_err(|_| ()),
                1 => root.beneath(Path::new("d/sub/mark")).map_err(|_| ()),
                _ => HeldFile::follow(&entry.join("d/sub"), Leads::Within, guarded).map_err(|_| ()),
            };
            match held {
                Ok(held) => {
                    let is_inside = held.is_within(&root).unwrap();
                    if !is_inside {
                        end.store(true, Ordering::Relaxed);
                    }
                    assert!(is_inside, "{:?} after {turn} tries", held.real_path());
                    good += 1;
                }
                Err(()) => refused += 1,
            }
        }
        end.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
    });
    assert_eq!(led_out, 10, "the naive opener is not led out, so this is no race");
    assert!(good > 1_000 && refused > 1_000, "{good} were opened, {refused} were refused: no race");
}

#[test]
fn beneath_a_directory_no_link_is_followed_and_nothing_leaves_it() {
    let top = Top::new("beneath");
    symlink("sub", top.join("entry/d/within")).unwrap();
    symlink(top.join("outside"), top.join("entry/out")).unwrap();
    let root = HeldFile::open(&top.join("entry")).unwrap();
    let cases = [
        ("", None),
        ("d", None),
        ("d/sub/mark", None),
        ("d/within", Some(Errno::LOOP)),
        ("d/within/mark", Some(Errno::LOOP)),
        ("out", Some(Errno::LOOP)),
        ("out/sub", Some(Errno::LOOP)),
        ("../outside", Some(Errno::XDEV)),
        ("d/../../outside", Some(Errno::XDEV)),
        ("/etc", Some(Errno::XDEV)),
        ("d/sub/mark/x", Some(Errno::NOTDIR)),
        ("nothing", Some(Errno::NOENT)),
    ];
    for (path, refused) in cases {
        match (root.beneath(Path::new(path)), refused) {
            (Ok(held), None) => assert!(held.is_within(&root).unwrap(), "{path}"),
            (Err(errno), Some(expected)) => assert_eq!(errno, expected, "{path}"),
            (found, _) => panic!("{path}: {found:?}"),
        }
    }
}

#[test]
fn links_lead_where_they_may_and_never_where_a_guest_writes() {
    let top = Top::new("follow");
    std::fs::create_dir_all(top.join("own/real")).unwrap();
    symlink("real", top.join("own/within")).unwrap();
    symlink("../outside", top.join("own/out")).unwrap();
    symlink(top.join("own/real"), top.join("own/absolute")).unwrap();
    symlink("loop", top.join("own/loop")).unwrap();
    symlink("sub", top.join("entry/d/link")).unwrap();
    symlink(top.join("entry/d/link"), top.join("into")).unwrap();
    let guarded = [HeldFile::open(&top.join("entry")).unwrap()];
    let go = |path: &str, leads| {
        HeldFile::follow(&top.join(path), leads, &guarded).map(|held| held.real_path().unwrap())
    };
    for leads in [Leads::Within, Leads::Anywhere] {
        assert_eq!(go("own/within", leads), Ok(top.join("own/real")));
        assert_eq!(go("own/absolute", leads), Ok(top.join("own/real")));
        assert_eq!(go("entry/d/sub/mark", leads), Ok(top.join("entry/d/sub/mark")));
        for guests in ["entry/d/link", "into", "entry/d/link/mark"] {
            assert!(matches!(go(guests, leads), Err(Unheld::Guarded(_))), "{guests}");
        }
        let looped = go("own/loop", leads);
        assert!(matches!(looped, Err(Unheld::System { errno: Errno::LOOP, .. })), "{looped:?}");
    }
    assert_eq!(go("own/out", Leads::Anywhere), Ok(top.join("outside")));
    assert!(matches!(go("own/out/sub", Leads::Within), Err(Unheld::LeadsOut { .. })));
    // `..` leads to the directory above the one that a link led to, as for the kernel.
    assert_eq!(go("own/within/../real", Leads::Anywhere), Ok(top.join("own/real")));
    assert_eq!(go("own/out/../own", Leads::Anywhere), Ok(top.join("own")));
    let relative = HeldFile::follow(Path::new("own"), Leads::Anywhere, &[]);
    assert!(matches!(relative, Err(Unheld::Relative(_))), "{relative:?}");
}

#[test]
fn what_lies_in_a_directory_is_known_by_its_identity() {
    let top = Top::new("within");
    let open = |path: &str| HeldFile::open(&top.join(path)).unwrap();
    let (entry, outside, mark) = (open("entry"), open("outside"), open("entry/d/sub/mark"));
    for inside in [open("entry/d/sub"), mark.clone(), entry.clone()] {
        assert!(inside.is_within(&entry).unwrap());
        assert!(!inside.is_within(&outside).unwrap());
    }
    // A held file stays what it is when its name goes elsewhere.
    std::fs::rename(top.join("entry/d"), top.join("outside/d")).unwrap();
    symlink("/etc", top.join("entry/d")).unwrap();
    assert_eq!(open("outside/d/sub/mark"), mark);
    assert!(HeldFile::open(Path::new("/")).unwrap().is_directory());
}
