//! The state of a sandbox's files, kept in one file each. What is in it is packed and unpacked inside of sandboxes only: the host
//! carries bytes that it never reads.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use bailiwick_sandbox::{SandboxError, Snapshot};
use bailiwick_types::SnapshotId;
use bailiwick_wire::agent::{CHUNK, FromAgent, Stream, ToAgent};
use bytes::Bytes;

use super::ID;
use super::backend::Inner as Backend;
use super::sandbox::{Inner, ProcessSandbox};
use super::{create, files, scratch};

/// Where snapshots are, below the backend's folder.
const FOLDER: &str = "snapshots";
/// What a pack may take beside the bytes of the files: names, and what is said of each.
const BESIDE: u64 = 64 << 20;

/// The folder of an owner's snapshots, by its name. They end with their owner: nobody else knows their ids.
pub(crate) fn folder(state: &Path, owner: &str) -> PathBuf {
    state.join(FOLDER).join(owner)
}

/// Removes the snapshots of owners that are gone.
pub(crate) fn sweep(state: &Path) {
    scratch::sweep_folder(&state.join(FOLDER));
}

fn failed(step: &str, error: &std::io::Error) -> SandboxError {
    SandboxError::Failed { step: step.to_owned(), reason: error.to_string() }
}

/// Packs the files of a sandbox.
pub(crate) async fn pack(inner: &Inner) -> Result<Snapshot, SandboxError> {
    if create::changes_elsewhere(&inner.spec) {
        return Err(create::unpacked_elsewhere());
    }
    let (now, random) = Backend::random()?;
    let id = SnapshotId::from_parts(now, &random);
    let folder = inner.backend.snapshots();
    private_folder(&folder).map_err(|error| failed("make the folder of snapshots", &error))?;
    let unfinished = tempfile::NamedTempFile::new_in(&folder)
        .map_err(|error| failed("make the file of a snapshot", &error))?;
    let (mut file, path) = unfinished.into_parts();
    let mut ask = inner.ask().await?;
    let number = ask.id;
    let most = inner.spec.limits.disk.value.saturating_add(BESIDE);
    let folders = inner.layout.own_found();
    inner.say(&ToAgent::Pack { id: number, folders, most }).await?;
    let mut bytes = 0_u64;
    loop {
        match inner.answer(&mut ask).await {
            Some(FromAgent::Data { bytes: piece, .. }) => {
                bytes = bytes.saturating_add(piece.len() as u64);
                if bytes > most {
                    return Err(inner.broken());
                }
                file.write_all(&piece).map_err(|error| failed("write a snapshot", &error))?;
                let taken = u32::try_from(piece.len()).unwrap_or(u32::MAX);
                inner.say(&ToAgent::Credit { id: number, stream: Stream::Stdout, bytes: taken }).await?;
            }
            Some(FromAgent::Done { .. }) => break,
            Some(FromAgent::Failed { step, errno, .. }) => {
                return Err(files::failed(&inner.spec.workdir, &step, errno));
            }
            Some(_) => return Err(inner.broken()),
            None => return Err(inner.gone()),
        }
    }
    file.sync_all().map_err(|error| failed("write a snapshot", &error))?;
    path.persist(folder.join(id.to_string())).map_err(|error| failed("keep a snapshot", &error.error))?;
    Ok(Snapshot { id, backend: ID.to_owned(), bytes })
}

/// Fills a sandbox with what a snapshot holds.
pub(crate) async fn unpack(sandbox: &ProcessSandbox, snapshot: &Snapshot) -> Result<(), SandboxError> {
    let inner = &sandbox.inner;
    let mut file = open(&inner.backend, snapshot)?;
    let mut ask = inner.ask().await?;
    inner.say(&ToAgent::Unpack { id: ask.id, folders: inner.layout.own_found() }).await?;
    let next = || {
        let mut piece = vec![0; CHUNK];
        let read = file.read(&mut piece).map_err(|error| failed("read a snapshot", &error))?;
        piece.truncate(read);
        Ok((read > 0).then(|| Bytes::from(piece)))
    };
    match files::send(inner, &mut ask, next).await? {
        FromAgent::Done { .. } => Ok(()),
        FromAgent::Failed { step, errno, .. } => Err(files::failed(&inner.spec.workdir, &step, errno)),
        _ => Err(inner.broken()),
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of our own, by an id that is no path")]
fn open(backend: &Backend, snapshot: &Snapshot) -> Result<std::fs::File, SandboxError> {
    std::fs::File::open(backend.snapshots().join(snapshot.id.to_string())).map_err(|error| {
        match error.kind() {
            std::io::ErrorKind::NotFound => SandboxError::NoSnapshot(snapshot.id.to_string()),
            _ => failed("open a snapshot", &error),
        }
    })
}

/// Removes a snapshot.
pub(crate) fn forget(backend: &Backend, snapshot: &Snapshot) -> Result<(), SandboxError> {
    std::fs::remove_file(backend.snapshots().join(snapshot.id.to_string())).map_err(|error| {
        match error.kind() {
            std::io::ErrorKind::NotFound => SandboxError::NoSnapshot(snapshot.id.to_string()),
            _ => failed("remove a snapshot", &error),
        }
    })
}

/// Makes a folder that nobody else looks into.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
