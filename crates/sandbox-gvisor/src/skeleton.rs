//! The root of a sandbox on the host: a folder of its own that holds links, small files and places for mounts, and nothing that is
//! anybody else's. `runsc` makes places for mounts where there are none, so an image's own folder is never its root.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bailiwick_agent_host::{folders, root};
use bailiwick_wire::jail::{Bind, Place};

use crate::bundle::Mounted;

/// The most things of an image that are mounted each by itself.
const MOST_BINDS: usize = 512;
/// The longest file that is copied instead of mounted.
const LONGEST_COPY: u64 = 1 << 20;
/// What an image has no say about.
const OURS: [&str; 6] = ["proc", "sys", "dev", ".agent", ".aside", ".own"];

/// A root that is being made.
#[derive(Debug)]
pub(crate) struct Skeleton {
    root: PathBuf,
    /// What is mounted into it from the host.
    pub(crate) mounted: Vec<Mounted>,
}

impl Skeleton {
    /// An empty one, in a folder that is made.
    pub(crate) fn new(root: PathBuf) -> io::Result<Self> {
        std::fs::create_dir(&root)?;
        std::fs::set_permissions(&root, Permissions::from_mode(0o755))?;
        Ok(Self { root, mounted: Vec::new() })
    }

    /// Where a path of the sandbox is in it.
    fn place(&self, at: &str) -> PathBuf {
        self.root.join(at.trim_start_matches('/'))
    }

    /// A place whose folders are there, made one by one: a link of an image on the way would lead out of the root.
    fn above(&self, at: &str) -> io::Result<PathBuf> {
        let place = self.place(at);
        let mut walked = self.root.clone();
        let below = place.strip_prefix(&self.root).unwrap_or(&place).parent().unwrap_or(Path::new(""));
        for part in below.components() {
            walked.push(part);
            match std::fs::symlink_metadata(&walked) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(io::Error::other(format!("what is above {at} is no folder, or a link"))),
                Err(_) => std::fs::create_dir(&walked)?,
            }
        }
        Ok(place)
    }

    /// A link.
    pub(crate) fn link(&self, at: &str, to: &Path) -> io::Result<()> {
        symlink(to, self.above(at)?)
    }

    /// A file of ours. Its time is always the same: a sandbox that is kept finds the file that it knew.
    pub(crate) fn file(&self, at: &str, text: &str) -> io::Result<()> {
        let place = self.above(at)?;
        if std::fs::symlink_metadata(&place).is_ok() {
            std::fs::remove_file(&place)?;
        }
        folders::write(&place, text.as_bytes())?;
        aged(&place, SystemTime::UNIX_EPOCH, 0o644)
    }

    /// Something of the host's, mounted.
    pub(crate) fn bind(&mut self, from: &Path, at: &str, writable: bool) -> io::Result<()> {
        let place = self.above(at)?;
        if std::fs::symlink_metadata(&place).is_err() {
            if std::fs::symlink_metadata(from)?.is_dir() {
                std::fs::create_dir(&place)?;
            } else {
                folders::write(&place, b"")?;
            }
        }
        let text = from.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
        if self.mounted.len() >= MOST_BINDS {
            return Err(io::Error::other(format!(
                "more than {MOST_BINDS} things would have to be mounted for it"
            )));
        }
        self.mounted.push(Mounted::Bind { from: text.to_owned(), to: at.to_owned(), writable });
        Ok(())
    }

    /// The host's own programs, for commands of this user.
    pub(crate) fn host(&mut self, user: u32) -> io::Result<()> {
        for place in root::of_the_host(user) {
            match place {
                Place::Link { at, to } => self.link(&at, Path::new(&to))?,
                Place::File { at, text } => self.file(&at, &text)?,
                Place::Bind(Bind { from, to, is_folder: true, .. }) => {
                    self.bind(Path::new(&from), &to, false)?;
                }
                Place::Bind(Bind { from, to, .. }) => self.take(Path::new(&from), &to)?,
                // Those of the kernel inside are brought by it.
                Place::Device { .. } | Place::Folder { .. } => {}
            }
        }
        Ok(())
    }

    /// An image, whose folders are mounted; those in which something else has its place are made here instead, and what is in
    /// them is mounted. Links are kept as links, and small files there are copied.
    pub(crate) fn image(&mut self, image: &Path, places: &[&str]) -> io::Result<()> {
        self.part(image, "", places)
    }

    fn part(&mut self, from: &Path, at: &str, places: &[&str]) -> io::Result<()> {
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(io::Error::other(format!("a name in {} is not UTF-8", from.display())));
            };
            if at.is_empty() && OURS.contains(&name) {
                continue;
            }
            let inside = format!("{at}/{name}");
            let is_around = places.iter().any(|place| place.starts_with(&format!("{inside}/")));
            let is_place = places.contains(&inside.as_str());
            if entry.file_type()?.is_dir() && is_around {
                let place = self.above(&inside)?;
                std::fs::create_dir(&place)?;
                own(&place, &entry.metadata()?)?;
                self.part(&entry.path(), &inside, places)?;
            } else if !is_place {
                self.take(&entry.path(), &inside)?;
            }
        }
        Ok(())
    }

    /// Something as it is: a link, a copy of a small file, or mounted.
    fn take(&mut self, from: &Path, at: &str) -> io::Result<()> {
        let found = std::fs::symlink_metadata(from)?;
        if found.is_symlink() {
            return self.link(at, &std::fs::read_link(from)?);
        }
        if found.is_file() && found.len() <= LONGEST_COPY {
            let place = self.above(at)?;
            std::fs::copy(from, &place)?;
            own(&place, &found)?;
            return aged(&place, found.modified()?, found.mode() & 0o7777);
        }
        if found.is_dir() || found.is_file() {
            return self.bind(from, at, false);
        }
        // Pipes, sockets and devices of an image mean nothing here.
        Ok(())
    }
}

/// Makes a file belong to whom another one does. An ordinary user is the only one whose files there are.
fn own(place: &Path, like: &std::fs::Metadata) -> io::Result<()> {
    if bailiwick_sys::privileges::identity().0 == 0 {
        chown(place, Some(like.uid()), Some(like.gid()))?;
    }
    std::fs::set_permissions(place, Permissions::from_mode(like.mode() & 0o7777))
}

fn aged(place: &Path, time: SystemTime, mode: u32) -> io::Result<()> {
    std::fs::OpenOptions::new().append(true).open(place)?.set_modified(time)?;
    std::fs::set_permissions(place, Permissions::from_mode(mode))
}
