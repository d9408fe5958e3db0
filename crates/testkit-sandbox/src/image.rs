//! An image of a test's own: a folder with one static program in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::{Doing, Images, SandboxError, Unpacked};

/// One image, which is a folder.
#[derive(Debug, Clone)]
pub struct Folder(pub PathBuf);

impl Images for Folder {
    fn find<'a>(&'a self, _: &'a str) -> Doing<'a, Result<Arc<dyn Unpacked>, SandboxError>> {
        Box::pin(async { Ok(Arc::new(self.clone()) as Arc<dyn Unpacked>) })
    }
}

impl Unpacked for Folder {
    fn root(&self) -> PathBuf {
        self.0.clone()
    }

    fn digest(&self) -> &'static str {
        "sha256:of-a-test"
    }

    fn variables(&self) -> &[(String, String)] {
        &[]
    }

    fn workdir(&self) -> Option<&str> {
        None
    }
}

/// Where this machine has a shell that needs nothing else.
fn static_shell() -> Option<&'static str> {
    ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|one| Path::new(one).is_file())
}

/// Whether an image has a shell: whether this machine has one for it.
pub fn has_shell() -> bool {
    static_shell().is_some()
}

/// Makes a root in this folder, with one static program in it and a few files.
pub fn image(within: &Path) -> PathBuf {
    let root = within.canonicalize().expect("a path").join("image");
    for folder in ["bin", "etc/more", "usr/lib", "opt/app", "proc", "var"] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    if let Some(shell) = static_shell() {
        std::fs::copy(shell, root.join("bin/busybox")).expect("a program");
        std::os::unix::fs::symlink("busybox", root.join("bin/sh")).expect("a link");
    }
    std::fs::write(root.join("etc/hosts"), "of the image\n").expect("a file");
    std::fs::write(root.join("etc/issue"), "an image\n").expect("a file");
    std::fs::write(root.join("etc/more/one"), "one\n").expect("a file");
    std::fs::write(root.join("opt/app/two"), "two\n").expect("a file");
    root
}

/// All that is in a folder, however deep.
pub fn entries(root: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
            if entry.file_type().expect("a kind").is_dir() {
                left.push(entry.path());
            }
            all.push(entry.path());
        }
    }
    all.sort();
    all
}
