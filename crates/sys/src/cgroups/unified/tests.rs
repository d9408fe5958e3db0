use std::path::{Path, PathBuf};

use super::*;

/// A tree of plain files in place of the kernel's: which cgroups there are, who lives in them, and what they hand on.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("bailiwick-unified-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&top).expect("a folder");
        Self(top)
    }

    fn with(self, cgroup: &str, members: &str, offered: &str, handed_on: &str) -> Self {
        let folder = self.0.join(cgroup);
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut files = vec![
            ("cgroup.procs", members),
            ("cgroup.controllers", offered),
            ("cgroup.subtree_control", handed_on),
        ];
        if !cgroup.is_empty() {
            files.push(("cgroup.type", "domain\n"));
        }
        for (file, text) in files {
            write(&folder.join(file), text).expect("a file");
        }
        self
    }

    fn find(&self, own: &str) -> Option<PathBuf> {
        find(&self.0, Some(Path::new(own)))
            .map(|path| path.strip_prefix(&self.0).expect("below it").to_owned())
    }

    fn handed_on(&self, cgroup: &str) -> Vec<String> {
        handed_on(&self.0.join(cgroup))
    }
}

impl Drop for Tree {
    #[expect(clippy::disallowed_methods, reason = "a folder of the test's own")]
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

const ALL: &str = "cpu io memory pids";

#[test]
fn the_root_hands_on_controllers_though_it_has_processes() {
    let tree = Tree::new("root").with("", "1\n2\n", ALL, ALL);
    assert_eq!(tree.find(""), Some(PathBuf::from(OURS)));
}

#[test]
fn the_cgroup_of_a_login_session_is_left_alone_and_one_beside_it_is_made() {
    let tree = Tree::new("session")
        .with("", "1\n", ALL, ALL)
        .with("user.slice", "", ALL, ALL)
        .with("user.slice/user-0.slice", "", ALL, ALL)
        .with("user.slice/user-0.slice/session-1.scope", "7\n8\n", ALL, "");
    assert_eq!(
        tree.find("user.slice/user-0.slice/session-1.scope"),
        Some(Path::new("user.slice/user-0.slice").join(OURS))
    );
    assert_eq!(tree.handed_on("user.slice/user-0.slice/session-1.scope"), Vec::<String>::new());
}

#[test]
fn no_cgroup_with_processes_is_chosen_or_told_to_hand_on_anything() {
    let tree =
        Tree::new("busy").with("", "1\n", ALL, ALL).with("a", "5\n", "memory", "").with("a/b", "6\n", "", "");
    assert_eq!(tree.find("a/b"), Some(PathBuf::from(OURS)));
    assert_eq!(tree.handed_on("a"), Vec::<String>::new());
}

#[test]
fn without_the_memory_controller_there_is_no_home() {
    let tree = Tree::new("none").with("", "1\n", "cpu pids", "cpu pids");
    assert_eq!(tree.find(""), None);
}
