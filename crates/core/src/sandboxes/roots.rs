//! The directories of `fs.mounts`, held from when the settings were read.
//!
//! Links in the path of an entry are followed once, here. From then on an entry is its descriptor: what callers name below it is
//! opened beneath that descriptor, and no link is followed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_sys::Errno;
use bailiwick_sys::held::{HeldFile, Leads, Unheld, WeakHeldFile};

/// The entries of `fs.mounts`, and what sandboxes may write to now. Clones share both.
#[derive(Debug, Clone, Default)]
pub struct MountRoots {
    entries: Arc<[Entry]>,
    /// Writable mounts of sandboxes that live, or are being made.
    written: Arc<Mutex<Vec<WeakHeldFile>>>,
}

#[derive(Debug)]
struct Entry {
    /// As it is in the settings.
    listed: PathBuf,
    held: Result<Root, Unheld>,
}

#[derive(Debug)]
struct Root {
    source: HeldFile,
    /// Its path without links when it was held.
    real: PathBuf,
}

impl MountRoots {
    /// Holds every entry. One that is missing is an error once a mount below it is asked for.
    pub fn open(listed: &[PathBuf]) -> Self {
        let all: Vec<HeldFile> = listed.iter().filter_map(|path| hold(path, &[]).ok()).collect();
        let entries = listed.iter().map(|path| {
            // A guest may write to another entry that this one lies in: no link is followed there either.
            let held = hold(path, &all).and_then(|source| {
                let unknown = |errno| Unheld::System { at: path.clone(), errno };
                let real = source.real_path().map_err(unknown)?;
                Ok(Root { source, real })
            });
            Entry { listed: path.clone(), held }
        });
        Self { entries: entries.collect(), written: Arc::default() }
    }

    /// Opens a path below an entry, beneath its descriptor and without any link.
    pub(super) fn beneath(&self, path: &Path) -> Result<HeldFile, String> {
        let matches = self.entries.iter().filter_map(|entry| Some((entry, entry.rest(path)?)));
        // The innermost of entries that lie in each other.
        let Some((entry, rest)) = matches.min_by_key(|(_, rest)| rest.components().count()) else {
            return Err("it lies under none of the folders that the operator listed in fs.mounts".to_owned());
        };
        let listed = entry.listed.display();
        let root = entry.held.as_ref().map_err(|unheld| {
            format!(
                "the entry {listed} of fs.mounts could not be opened when the settings were read: {unheld}"
            )
        })?;
        let others: Vec<HeldFile> = self.directories().filter(|held| *held != root.source).collect();
        if hold(&entry.listed, &others).ok().as_ref() != Some(&root.source) {
            return Err(format!(
                "the entry {listed} of fs.mounts is missing, or is not the directory that it was when the settings were \
                 read; put it back, or start the server again to take what is there now"
            ));
        }
        root.source.beneath(rest).map_err(|errno| match errno {
            Errno::LOOP => format!(
                "there is a symbolic link in it, and no link is followed below the entry {listed} of fs.mounts; name the \
                 directory that the link leads to"
            ),
            errno => errno.to_string(),
        })
    }

    /// The directories that a guest may write to: the entries, and writable mounts of sandboxes that live.
    pub fn guarded(&self) -> Vec<HeldFile> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.retain(|held| held.upgrade().is_some());
        self.directories().chain(written.iter().filter_map(WeakHeldFile::upgrade)).collect()
    }

    /// Whether a file lies in a directory that a guest may write to. The directory itself does not: its name is elsewhere.
    pub(super) fn contain(&self, source: &HeldFile) -> Result<bool, Errno> {
        for guarded in self.guarded() {
            if guarded != *source && source.is_within(&guarded)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Remembers a writable mount for as long as its sandbox holds it.
    pub(super) fn is_written(&self, source: &HeldFile) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(source.downgrade());
    }

    fn directories(&self) -> impl Iterator<Item = HeldFile> {
        self.entries.iter().filter_map(|entry| Some(entry.held.as_ref().ok()?.source.clone()))
    }
}

impl Entry {
    /// What is left of a path below this entry, by its name in the settings or its real one.
    fn rest<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let real = self.held.as_ref().ok().map(|root| root.real.as_path());
        let names = [Some(self.listed.as_path()), real];
        names.into_iter().flatten().find_map(|name| path.strip_prefix(name).ok())
    }
}

/// Holds an entry: links may lead anywhere, unless they lie in one of these.
fn hold(path: &Path, others: &[HeldFile]) -> Result<HeldFile, Unheld> {
    HeldFile::follow(path, Leads::Anywhere, others)
}
