//! The parts of an image that comes as files: of a folder, or of an archive that was taken apart into staging first.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Links};

use super::copied;
use crate::bounds::Spending;
use crate::manifest::MOST;
use crate::progress::{Phase, Steps, Watcher};
use crate::store::{Arriving, Places};
use crate::unpack::{Kind, each, opened};
use crate::{Digest, ImageError};

/// The most files of an archive of an image.
const MOST_PARTS: usize = 10_000;

/// The parts, by their names.
pub(super) enum Parts {
    Folder(OwnedFd),
    /// Every file of an archive is a blob of the store already; those that nothing names are collected later.
    Staged(HashMap<Vec<u8>, (Digest, u64)>, Arc<Places>),
}

impl Parts {
    /// Takes an archive apart.
    pub(super) fn staged(
        file: File,
        size: u64,
        places: &Arc<Places>,
        spending: &mut Spending,
        watcher: &Watcher,
    ) -> Result<Self, ImageError> {
        let mut parts = HashMap::new();
        let mut steps = Steps::new(watcher, Phase::Reading, Some(size));
        let bounds = *spending.bounds();
        let mut reader = opened(file, size, &bounds)?;
        each(&mut reader, &bounds, |member| {
            if member.kind != Kind::File {
                return Ok(());
            }
            if parts.len() == MOST_PARTS {
                return Err(ImageError::Bound { what: "more parts", most: MOST_PARTS as u64 });
            }
            let mut arriving = Arriving::begin(places, "a part of the archive", Some(member.size))?;
            let mut data = member.data.take(member.size);
            let mut buffer = vec![0; 128 * 1024];
            loop {
                let read =
                    data.read(&mut buffer).map_err(|error| crate::unpack::unwrapped("the archive", error))?;
                if read == 0 {
                    break;
                }
                arriving.take(buffer.get(..read).unwrap_or_default(), spending)?;
                steps.add(read as u64);
            }
            let name = member.path.strip_prefix(b"./").unwrap_or(&member.path).to_vec();
            if parts.insert(name, arriving.keep(None)?).is_some() {
                return Err(ImageError::malformed("the archive", "two of its parts have one name"));
            }
            Ok(())
        })?;
        Ok(Self::Staged(parts, Arc::clone(places)))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        matches!(self.open(name), Ok(Some(_)))
    }

    fn open(&self, name: &str) -> Result<Option<(File, u64)>, ImageError> {
        match self {
            Self::Folder(held) => {
                let broken =
                    |errno: Errno| ImageError::Source { path: name.to_owned(), why: errno.to_string() };
                let path = CString::new(name)
                    .map_err(|_| ImageError::malformed(name, "its name has a zero byte"))?;
                match beneath::look(held, path.as_c_str(), Links::Never) {
                    Err(Errno::NOENT) => Ok(None),
                    Err(errno) => Err(broken(errno)),
                    Ok(found) => {
                        let (file, status) = beneath::read_again(found).map_err(broken)?;
                        Ok(Some((file, status.size)))
                    }
                }
            }
            Self::Staged(parts, places) => match parts.get(name.as_bytes()) {
                Some((digest, _)) => places.blob(digest),
                None => Ok(None),
            },
        }
    }

    fn found(&self, name: &str) -> Result<(File, u64), ImageError> {
        self.open(name)?.ok_or_else(|| ImageError::malformed(name, "it is not there"))
    }

    /// A small part, all of it.
    pub(super) fn small(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        let (file, _) = self.found(name)?;
        let mut bytes = Vec::new();
        let read = file.take(MOST + 1).read_to_end(&mut bytes);
        read.map_err(|error| ImageError::malformed(name, error.to_string()))?;
        if bytes.len() as u64 > MOST {
            return Err(ImageError::malformed(name, format!("it has more than {MOST} bytes")));
        }
        Ok(bytes)
    }

    /// Makes a part a blob of the store.
    pub(super) fn adopt(
        &self,
        name: &str,
        expected: Option<&Digest>,
        declared: Option<u64>,
        (places, spending, steps): (&Arc<Places>, &mut Spending, &mut Steps),
    ) -> Result<(Digest, u64), ImageError> {
        if let Self::Staged(parts, _) = self {
            let (digest, size) = *parts
                .get(name.as_bytes())
                .ok_or_else(|| ImageError::malformed(name, "it is not in the archive"))?;
            if let Some(declared) = declared.filter(|declared| *declared != size) {
                return Err(ImageError::Size { what: name.to_owned(), declared, found: size });
            }
            if let Some(expected) = expected.filter(|expected| **expected != digest) {
                return Err(ImageError::Digest { what: name.to_owned(), expected: *expected, found: digest });
            }
            return Ok((digest, size));
        }
        let (file, size) = self.found(name)?;
        copied(file, name, expected, Some(declared.unwrap_or(size)), places, spending, steps)
    }
}
