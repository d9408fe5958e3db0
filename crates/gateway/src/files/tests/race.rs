//! Races: somebody on the host swaps files and folders for links, as fast as possible, while the guest works.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;

/// On memory where there is some: what is tested is the way to a file, not the disk.
fn stage() -> Stage {
    let shared = Path::new("/dev/shm");
    let top = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
    Stage::at(top.unwrap(), ALL, Quota::USUAL)
}

/// Swaps `f` between a file and a link, and `d` between a folder and a link, until told to end.
fn swap(top: &Path, end: &AtomicBool) {
    let workspace = top.join("data/workspaces/w");
    let (aside, secret) = (top.join("aside"), top.join("elsewhere/secret"));
    while !end.load(Ordering::Relaxed) {
        symlink(&secret, &aside).unwrap();
        std::fs::rename(&aside, workspace.join("f")).unwrap();
        renameat_with(CWD, workspace.join("d"), CWD, top.join("trap"), RenameFlags::EXCHANGE).unwrap();
        std::fs::write(&aside, "inside").unwrap();
        std::fs::rename(&aside, workspace.join("f")).unwrap();
    }
}

#[test]
fn a_swap_for_a_link_never_leads_out_in_a_hundred_thousand_tries() {
    let stage = stage();
    let (top, workspace) = (stage.top.path(), stage.workspace());
    std::fs::create_dir(workspace.join("d")).unwrap();
    std::fs::write(workspace.join("d/secret"), "inside").unwrap();
    symlink(top.join("elsewhere"), top.join("trap")).unwrap();
    let end = AtomicBool::new(false);
    let (mut good, mut refused) = (0_u32, 0_u32);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| swap(top, &end));
        // The control: whoever opens by name is led out.
        let naive =
            (0..1_000_000).any(|_| std::fs::read_to_string(workspace.join("f")).is_ok_and(|t| t == SECRET));
        let naive_folder = (0..1_000_000)
            .any(|_| std::fs::read_to_string(workspace.join("d/secret")).is_ok_and(|t| t == SECRET));
        for turn in 0..100_000_u32 {
            let path = if turn % 2 == 0 { "f" } else { "d/secret" };
            let request = if turn % 20 < 18 { read(path) } else { write(path, "inside") };
            match stage.ask(request) {
                Ok(text) if text == SECRET => {
                    end.store(true, Ordering::Relaxed);
                    panic!("{path} led out");
                }
                Ok(_) => good += 1,
                Err(_) => refused += 1,
            }
        }
        end.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
        assert!(naive && naive_folder, "the race does not show what it should");
    });
    assert!(good > 1_000 && refused > 1_000, "{good} went through, {refused} were refused: no race");
    assert_eq!(std::fs::read_to_string(stage.secret()).unwrap(), SECRET);
    assert_eq!(std::fs::read_dir(top.join("elsewhere")).unwrap().count(), 1);
}

#[test]
fn a_reader_sees_the_old_content_or_the_new() {
    let stage = stage();
    let sizes = [1_000, 700_000];
    let text = |turn: usize| ["a", "b"][turn % 2].repeat(sizes[turn % 2]);
    stage.ask(write("f", &text(0))).unwrap();
    let (path, end) = (stage.workspace().join("f"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !end.load(Ordering::Relaxed) {
                let now = std::fs::read_to_string(&path).unwrap();
                assert!(now == text(0) || now == text(1), "half a file: {} bytes", now.len());
                seen += 1;
            }
            seen
        });
        for turn in 0..300 {
            stage.ask(write("f", &text(turn))).unwrap();
        }
        end.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}

#[test]
fn changes_of_many_calls_at_once_are_all_made() {
    let stage = stage();
    let top = stage.top.path();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let files = open(top, ALL, Quota::USUAL);
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                for _ in 0..50 {
                    runtime.block_on(files.serve(append("log", "x\n"))).unwrap();
                }
            });
        }
    });
    stage.check(FileRequest::LineCount { path: "log".to_owned() }, "200");
}
