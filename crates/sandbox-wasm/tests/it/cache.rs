//! Compiled code: kept, found again, and never run where it is not as it was left.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::time::Duration;

use bailiwick_sandbox::{Available, Backend};
use bailiwick_testkit::tests;

use crate::guests::{exits, says};
use crate::place::{Place, said, spec, wait, words};

tests!(
    code_is_compiled_once,
    code_that_was_changed_is_compiled_again,
    code_that_was_copied_is_taken_if_it_is_the_same,
    a_folder_that_others_can_write_to_is_not_used,
    the_oldest_is_removed_where_there_is_too_much,
    what_nobody_will_finish_is_removed,
    the_smallest_program_is_written_again_where_it_is_not_whole,
);

fn kept(place: &Place) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(place.compiled()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut kept: Vec<PathBuf> = entries.filter(|path| path.extension().is_none()).collect();
    kept.sort();
    kept
}

fn only(place: &Place) -> PathBuf {
    let mut kept = kept(place);
    assert_eq!(kept.len(), 1, "{kept:?}");
    kept.remove(0)
}

async fn runs(place: &Place, image: &str) {
    let sandbox = place.create(spec(image)).await.expect("a sandbox");
    assert_eq!(said(&sandbox.exec(words(&["guest"])).await.expect("it runs")), "hello");
}

fn code_is_compiled_once() {
    let mut place = Place::new();
    let image = place.image("hello.wasm", &says("hello"));
    wait(runs(&place, &image));
    let first = std::fs::metadata(only(&place)).expect("it is there");
    assert_eq!(first.mode() & 0o777, 0o444);
    place.again();
    wait(runs(&place, &image));
    let second = std::fs::metadata(only(&place)).expect("it is there");
    assert_eq!((first.ino(), first.ctime_nsec()), (second.ino(), second.ctime_nsec()));
}

fn code_that_was_changed_is_compiled_again() {
    let place = Place::new();
    let image = place.image("hello.wasm", &says("hello"));
    wait(runs(&place, &image));
    let file = only(&place);
    let good = std::fs::read(&file).expect("read");
    let half = good.len() / 2;
    let mut flipped = good.clone();
    for byte in flipped.iter_mut().skip(half).take(64) {
        *byte ^= 0x55;
    }
    for bad in [flipped, good.get(..half).expect("half").to_vec(), Vec::new()] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("set");
        std::fs::write(&file, &bad).expect("written");
        wait(runs(&place, &image));
        assert!(std::fs::read(&file).expect("read") == good, "it was made again");
    }
}

fn code_that_was_copied_is_taken_if_it_is_the_same() {
    let place = Place::new();
    let image = place.image("hello.wasm", &says("hello"));
    wait(runs(&place, &image));
    let file = only(&place);
    let copy = file.with_extension("copy");
    std::fs::copy(&file, &copy).expect("copied");
    std::fs::rename(&copy, &file).expect("moved");
    let number = std::fs::metadata(&file).expect("there").ino();
    wait(runs(&place, &image));
    assert_eq!(std::fs::metadata(&file).expect("there").ino(), number, "it was not made again");
}

fn a_folder_that_others_can_write_to_is_not_used() {
    let place = Place::new();
    let image = place.image("hello.wasm", &says("hello"));
    wait(runs(&place, &image));
    for (mode, used) in [(0o770, false), (0o702, false), (0o700, true)] {
        std::fs::set_permissions(place.compiled(), std::fs::Permissions::from_mode(mode)).expect("set");
        let made = wait(place.create(spec(&image)));
        assert_eq!(made.is_ok(), used, "{mode:o}: {made:?}");
        if let Err(error) = made {
            assert!(error.to_string().contains("others can write to"), "{error}");
        }
    }
    // Nor is a file that others could have written.
    let file = only(&place);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).expect("set");
    wait(runs(&place, &image));
    assert_eq!(std::fs::metadata(&file).expect("there").mode() & 0o777, 0o444, "it was made again");
}

fn the_oldest_is_removed_where_there_is_too_much() {
    let place = Place::with(|options| options.most_compiled = 1);
    wait(async {
        for code in [1, 2, 3] {
            let image = place.image(&format!("{code}.wasm"), &exits(code));
            place.create(spec(&image)).await.expect("a sandbox");
        }
    });
    only(&place);
}

fn what_nobody_will_finish_is_removed() {
    let place = Place::new();
    std::fs::create_dir_all(place.compiled()).expect("a folder");
    std::fs::set_permissions(place.compiled(), std::fs::Permissions::from_mode(0o700)).expect("set");
    let [old, young] = ["old", "young"].map(|name| place.compiled().join(format!("{name}.00.new")));
    for (path, hours) in [(&old, 2), (&young, 0)] {
        let file = std::fs::File::create(path).expect("a file");
        let then = std::time::SystemTime::now() - Duration::from_hours(hours);
        file.set_modified(then).expect("a time");
    }
    let image = place.image("hello.wasm", &says("hello"));
    wait(runs(&place, &image));
    assert_eq!((old.exists(), young.exists()), (false, true));
}

fn the_smallest_program_is_written_again_where_it_is_not_whole() {
    let place = Place::new();
    let folder = place.path().join("state/nothing");
    std::fs::create_dir_all(&folder).expect("a folder");
    for left in ["", "half"] {
        std::fs::write(folder.join("nothing.wasm"), left).expect("a file");
        let (spec, command) = place.backend.simplest().expect("a sandbox");
        let ran = wait(async { place.create(spec).await.expect("a sandbox").exec(command).await });
        assert_eq!(said(&ran.expect("it runs")), "");
    }
    assert_eq!(wait(place.backend.probe()).availability, Available::Yes);
}
