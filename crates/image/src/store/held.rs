//! An image in use. Its tree stays while this value does, whoever else removes the name: a shared lock on the folder
//! tells every process of the machine.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use bailiwick_sandbox::Unpacked;
use bailiwick_sys::beneath::{self, Links};
use bailiwick_sys::{Errno, trees};

use super::places::{Places, name};
use crate::manifest::Config;
use crate::{Digest, ImageError};

/// An unpacked image that stays until this is dropped.
#[derive(Debug)]
pub struct Held {
    root: PathBuf,
    digest: String,
    config: Config,
    _share: OwnedFd,
}

impl Held {
    pub(crate) fn take(
        places: &Places,
        manifest: Digest,
        chain: &Digest,
        config: Config,
    ) -> Result<Self, ImageError> {
        let step = ImageError::sys("hold an image");
        let gone = || ImageError::NotFound(manifest.to_string());
        let folder = name(&chain.hex())?;
        let held = match beneath::folder(places.trees(), folder.as_c_str(), Links::Never) {
            Ok(held) => held,
            Err(Errno::NOENT) => return Err(gone()),
            Err(errno) => return Err(step(errno)),
        };
        if !trees::share(&held).map_err(&step)? {
            return Err(gone());
        }
        // Between opening and sharing it may have lost its place.
        let here = beneath::status(&held).map_err(&step)?.identity;
        match beneath::status_of(places.trees(), &folder) {
            Ok(there) if there.identity == here => {}
            Ok(_) | Err(Errno::NOENT) => return Err(gone()),
            Err(errno) => return Err(step(errno)),
        }
        Ok(Self { root: places.root_of(chain), digest: manifest.to_string(), config, _share: held })
    }

    /// How it wants its commands to be started.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

impl Unpacked for Held {
    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn variables(&self) -> &[(String, String)] {
        &self.config.env
    }

    fn workdir(&self) -> Option<&str> {
        self.config.workdir.as_deref()
    }
}
