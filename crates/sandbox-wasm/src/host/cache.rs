//! Compiled code, kept by what it was made from. The folder is this user's alone; a file that is not as it was left is looked at from its
//! first byte to its last, and made again where it has changed.

use std::fs::{File, Metadata};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bailiwick_sandbox::SandboxError;
use sha2::{Digest as _, Sha256};

use crate::hex::hex;

/// How a record about compiled code is named, beside it.
const RECORD: &str = "record";
/// `O_NOFOLLOW`.
const NO_LINKS: i32 = 0o400_000;
/// The longest record.
const LONGEST_RECORD: u64 = 4096;
/// How the name of a file ends that is not whole yet.
const FRESH: &str = "new";
/// After so many seconds nobody writes to such a file any more: whoever did is gone.
const ABANDONED: i64 = 3600;

/// The folder.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    most: u64,
    /// One module is compiled at a time: a compiler takes what memory and time it gets.
    pub(crate) compiling: tokio::sync::Mutex<()>,
}

/// What is known about a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    sha256: String,
    /// What the system says of the file as it was left.
    left: Left,
}

/// What changes when anybody writes to a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Left {
    device: u64,
    number: u64,
    length: u64,
    changed: (i64, i64),
}

impl Left {
    fn of(seen: &Metadata) -> Self {
        let changed = (seen.ctime(), seen.ctime_nsec());
        Self { device: seen.dev(), number: seen.ino(), length: seen.len(), changed }
    }
}

fn failed(step: &'static str) -> impl Fn(std::io::Error) -> SandboxError {
    move |error| SandboxError::Failed { step: step.to_owned(), reason: error.to_string() }
}

/// A key: what the code was made from, and what for.
pub(crate) fn key(compatibility: &str, image: &str, module: &str) -> String {
    let mut hash = Sha256::new();
    for part in [compatibility, image, module] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}

impl Cache {
    /// In this folder, at most so many bytes.
    pub(crate) fn new(folder: PathBuf, most: u64) -> Self {
        Self { folder, most, compiling: tokio::sync::Mutex::default() }
    }

    /// The folder with no link on the way, made if it is not there. One that others could write to is not used.
    pub(crate) fn folder(&self) -> Result<PathBuf, SandboxError> {
        const STEP: &str = "open the folder of compiled code";
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(failed(STEP))?;
        let folder = self.folder.canonicalize().map_err(failed(STEP))?;
        let seen = std::fs::symlink_metadata(&folder).map_err(failed(STEP))?;
        let (own, _) = bailiwick_sys::privileges::identity();
        if seen.uid() != own || seen.mode() & 0o022 != 0 {
            return Err(SandboxError::Failed {
                step: STEP.to_owned(),
                reason: format!(
                    "others can write to `{}`, so what is in it is not run; make it this user's with mode 700, or remove it",
                    folder.display()
                ),
            });
        }
        Ok(folder)
    }

    /// The code of this key, if it is there as it was left.
    pub(crate) fn find(&self, key: &str) -> Result<Option<PathBuf>, SandboxError> {
        let folder = self.folder()?;
        let path = folder.join(key);
        let Some(file) = opened(&path) else { return Ok(None) };
        let Ok(seen) = file.metadata() else { return Ok(None) };
        let (own, _) = bailiwick_sys::privileges::identity();
        let is_ours = seen.is_file() && seen.uid() == own && seen.mode() & 0o022 == 0;
        let Some(record) = read_record(&beside(&path)).filter(|_| is_ours) else { return Ok(None) };
        if record.left == Left::of(&seen) {
            return Ok(Some(path));
        }
        // Copied or restored, maybe: what it says counts, and is remembered.
        if hash(file).ok().as_deref() != Some(record.sha256.as_str()) {
            tracing::warn!(path = %path.display(), "compiled code has changed, and is made again");
            return Ok(None);
        }
        write_record(&path, &Record { left: Left::of(&seen), ..record })?;
        Ok(Some(path))
    }

    /// Keeps code, and removes the oldest where there is too much.
    pub(crate) fn keep(&self, key: &str, code: &[u8]) -> Result<PathBuf, SandboxError> {
        const STEP: &str = "keep compiled code";
        let folder = self.folder()?;
        let path = folder.join(key);
        let mut sha256 = Sha256::new();
        sha256.update(code);
        // It is read behind the wall, by whoever a sandbox is there; nobody else gets as far as this folder.
        let file = replace(&path, code, 0o444)?;
        let seen = file.metadata().map_err(failed(STEP))?;
        write_record(&path, &Record { sha256: hex(&sha256.finalize()), left: Left::of(&seen) })?;
        self.collect(&folder, &path);
        Ok(path)
    }

    /// Removes the oldest until the rest is within the bound, and what nobody will finish. Who still runs from one keeps it.
    fn collect(&self, folder: &Path, but: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let all = entries.flatten().filter_map(|entry| Some((entry.metadata().ok()?, entry.path())));
        let files: Vec<(Metadata, PathBuf)> = all.filter(|(seen, _)| seen.is_file()).collect();
        let newest = files.iter().map(|(seen, _)| seen.mtime()).max().unwrap_or_default();
        for (seen, path) in &files {
            let is_fresh = path.extension().is_some_and(|extension| extension == FRESH);
            if is_fresh && newest.saturating_sub(seen.mtime()) > ABANDONED {
                remove(path);
            }
        }
        let mut found: Vec<(i64, u64, PathBuf)> = files
            .into_iter()
            .filter(|(_, path)| path.extension().is_none())
            .map(|(seen, path)| (seen.mtime(), seen.len(), path))
            .collect();
        found.sort();
        let mut all: u64 = found.iter().map(|(_, length, _)| *length).fold(0, u64::saturating_add);
        for (_, length, path) in found {
            if all <= self.most {
                break;
            }
            if path == but {
                continue;
            }
            for gone in [beside(&path), path] {
                remove(&gone);
            }
            all = all.saturating_sub(length);
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!(path = %path.display(), %error, "old compiled code could not be removed; the next clean-up tries again");
    }
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension(RECORD)
}

fn opened(path: &Path) -> Option<File> {
    std::fs::OpenOptions::new().read(true).custom_flags(NO_LINKS).open(path).ok()
}

/// Whether a file is there and holds exactly this.
pub(super) fn holds(path: &Path, bytes: &[u8]) -> bool {
    let most = u64::try_from(bytes.len()).unwrap_or(u64::MAX).saturating_add(1);
    let mut found = Vec::new();
    opened(path).is_some_and(|file| file.take(most).read_to_end(&mut found).is_ok()) && found == bytes
}

fn hash(mut file: File) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

fn read_record(path: &Path) -> Option<Record> {
    let mut text = String::new();
    opened(path)?.take(LONGEST_RECORD).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn write_record(path: &Path, record: &Record) -> Result<(), SandboxError> {
    let text = serde_json::to_string(record)
        .map_err(|error| failed("keep compiled code")(std::io::Error::other(error)))?;
    replace(&beside(path), text.as_bytes(), 0o600).map(drop)
}

/// Puts a whole file in the place of another, and gives it as it lies there.
pub(super) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<File, SandboxError> {
    const STEP: &str = "keep compiled code";
    let random = bailiwick_sys::beneath::unguessable().map_err(|errno| failed(STEP)(errno.into()))?;
    let fresh = path.with_extension(format!("{}.{FRESH}", hex(&random)));
    let write = || -> std::io::Result<File> {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        file.write_all(bytes)?;
        file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)?;
        Ok(file)
    };
    write().map_err(|error| {
        // Nothing half-written stays, if it is there at all.
        let _not_there = std::fs::remove_file(&fresh);
        failed(STEP)(error)
    })
}
