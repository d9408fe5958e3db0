//! What a guest sees: which folders are opened for it, by which names, and where they are in the sandbox behind.

use bailiwick_sandbox::{SandboxError, SandboxPath, SandboxSpec};
use bailiwick_types::ErrorCode;

use crate::order::{IMAGE, Open};

/// Folders of every sandbox that it can write to.
const OWN: [&str; 2] = ["/work", "/tmp"];
/// What a guest calls the folder that it begins in.
const HERE: &str = ".";

/// The folders of a sandbox.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The shortest names first.
    places: Vec<Place>,
}

#[derive(Debug, Clone)]
struct Place {
    named: SandboxPath,
    at: String,
    writable: bool,
    /// Whether a guest can be handed it: files are seen only in folders.
    is_folder: bool,
}

impl View {
    /// Of a sandbox with an image that has these folders.
    pub(crate) fn new(spec: &SandboxSpec, folders: &[String]) -> Result<Self, SandboxError> {
        let mut places: Vec<Place> = Vec::new();
        let mut put = |named: SandboxPath, at: String, writable, is_folder| {
            // What is asked for is before what the image has.
            places.retain(|place| place.named != named);
            places.push(Place { named, at, writable, is_folder });
        };
        for folder in folders {
            put(SandboxPath::new(&format!("/{folder}"))?, format!("{IMAGE}/{folder}"), false, true);
        }
        for own in OWN {
            put(SandboxPath::new(own)?, own.to_owned(), true, true);
        }
        for mount in &spec.mounts {
            put(
                mount.to.clone(),
                mount.to.as_str().to_owned(),
                mount.writable,
                mount.source().is_directory(),
            );
        }
        for overlay in &spec.overlays {
            put(overlay.to.clone(), overlay.to.as_str().to_owned(), true, true);
        }
        // The folder in which commands begin is made if it is nowhere.
        let workdir = &spec.workdir;
        if workdir.as_str() != "/" && !places.iter().any(|place| workdir.is_within(&place.named)) {
            places.push(Place {
                named: workdir.clone(),
                at: workdir.as_str().to_owned(),
                writable: true,
                is_folder: true,
            });
        }
        places.sort_by_key(|place| place.named.as_str().len());
        let view = Self { places };
        view.check(spec)?;
        Ok(view)
    }

    fn check(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        for mount in &spec.mounts {
            // What lies in a folder of the image is seen through the image's own folder, which it is not in.
            let around = self
                .places
                .iter()
                .rev()
                .find(|place| place.named != mount.to && mount.to.is_within(&place.named));
            let is_hidden = around.is_none_or(|around| around.at.starts_with(IMAGE));
            if is_hidden && !self.places.iter().any(|place| place.named == mount.to && place.is_folder) {
                return Err(SandboxError::Mount {
                    path: mount.from.display().to_string(),
                    why: "a program in WebAssembly sees folders; mount the folder that it lies in, or mount it below `/work`"
                        .to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The folders that a command is handed, the one where it begins last: programs take relative paths, and those that nothing
    /// else is the beginning of, to be there.
    pub(crate) fn opens(&self, cwd: &SandboxPath) -> Result<Vec<Open>, SandboxError> {
        let folders = self.places.iter().filter(|place| place.is_folder);
        let mut opens: Vec<Open> = folders
            .map(|place| Open {
                at: place.at.clone(),
                named: place.named.as_str().to_owned(),
                writable: place.writable,
            })
            .collect();
        if cwd.as_str() != "/" {
            let (at, writable) = self.found(cwd).ok_or_else(|| unseen(cwd))?;
            opens.push(Open { at, named: HERE.to_owned(), writable });
        }
        Ok(opens)
    }

    /// Where a path is in the sandbox behind, and whether it can be written to; none for one that no guest sees.
    fn found(&self, path: &SandboxPath) -> Option<(String, bool)> {
        let place = self.places.iter().rev().find(|place| path.is_within(&place.named))?;
        let rest = path.as_str().strip_prefix(place.named.as_str()).unwrap_or_default();
        Some((format!("{}{rest}", place.at), place.writable))
    }

    /// A path of the sandbox behind, for whoever reads files from outside.
    pub(crate) fn path(&self, path: &SandboxPath) -> Result<SandboxPath, SandboxError> {
        let (at, _) = self.found(path).ok_or_else(|| unseen(path))?;
        Ok(SandboxPath::new(&at)?)
    }
}

fn unseen(path: &SandboxPath) -> SandboxError {
    SandboxError::File {
        path: path.as_str().to_owned(),
        why: "there is nothing there: the sandbox has its own folders, those of its image, and mounts"
            .to_owned(),
        code: ErrorCode::NotFound,
    }
}
