//! The state of a sandbox's files, kept in one file each. What is in it is packed and unpacked inside of sandboxes only: the host
//! carries bytes that it never reads.

use std::io::{Read as _, Write as _};
use std::path::Path;

use bailiwick_sandbox::{SandboxError, Snapshot};
use bailiwick_types::SnapshotId;
use bailiwick_wire::agent::{CHUNK, FromAgent, Stream, ToAgent};
use bytes::Bytes;

use crate::job::Job;
use crate::{Attended, Wall, files, folders};

/// What a pack may take beside the bytes of the files: names, and what is said of each.
const BESIDE: u64 = 64 << 20;

fn failed(step: &str, error: &std::io::Error) -> SandboxError {
    SandboxError::Failed { step: step.to_owned(), reason: error.to_string() }
}

/// Packs the files of a sandbox into a file of this folder, which is made if it is not there.
pub async fn pack<W: Wall>(
    inner: &Attended<W>,
    folder: &Path,
    id: SnapshotId,
) -> Result<Snapshot, SandboxError> {
    folders::private(folder).map_err(|error| failed("make the folder of snapshots", &error))?;
    let unfinished = tempfile::NamedTempFile::new_in(folder)
        .map_err(|error| failed("make the file of a snapshot", &error))?;
    let (mut file, path) = unfinished.into_parts();
    let most = inner.spec.limits.scratch().saturating_add(BESIDE);
    let own = inner.places.own_found();
    let mut job = Job::begin(inner, |id| ToAgent::Pack { id, folders: own, most }).await?;
    let number = job.id();
    let mut bytes = 0_u64;
    loop {
        match job.next().await? {
            FromAgent::Data { bytes: piece, .. } => {
                bytes = bytes.saturating_add(piece.len() as u64);
                if piece.is_empty() || bytes > most {
                    return Err(inner.broken());
                }
                file.write_all(&piece).map_err(|error| failed("write a snapshot", &error))?;
                let taken = u32::try_from(piece.len()).unwrap_or(u32::MAX);
                inner.say(&ToAgent::Credit { id: number, stream: Stream::Stdout, bytes: taken }).await?;
            }
            FromAgent::Done { .. } => break,
            FromAgent::Failed { step, errno, .. } => {
                return Err(files::failed(&inner.spec.workdir, &step, errno));
            }
            _ => return Err(inner.broken()),
        }
    }
    file.sync_all().map_err(|error| failed("write a snapshot", &error))?;
    path.persist(folder.join(id.to_string())).map_err(|error| failed("keep a snapshot", &error.error))?;
    Ok(Snapshot { id, backend: inner.wall.backend().to_owned(), bytes })
}

/// Fills a sandbox with what a snapshot holds.
pub async fn unpack<W: Wall>(
    inner: &Attended<W>,
    folder: &Path,
    snapshot: &Snapshot,
) -> Result<(), SandboxError> {
    let mut file = open(folder, snapshot)?;
    let own = inner.places.own_found();
    let mut job = Job::begin(inner, |id| ToAgent::Unpack { id, folders: own }).await?;
    let next = || {
        let mut piece = vec![0; CHUNK];
        let read = file.read(&mut piece).map_err(|error| failed("read a snapshot", &error))?;
        piece.truncate(read);
        Ok((read > 0).then(|| Bytes::from(piece)))
    };
    match files::send(inner, &mut job, next).await? {
        FromAgent::Done { .. } => Ok(()),
        FromAgent::Failed { step, errno, .. } => Err(files::failed(&inner.spec.workdir, &step, errno)),
        _ => Err(inner.broken()),
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of our own, by an id that is no path")]
fn open(folder: &Path, snapshot: &Snapshot) -> Result<std::fs::File, SandboxError> {
    std::fs::File::open(folder.join(snapshot.id.to_string())).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SandboxError::NoSnapshot(snapshot.id.to_string()),
        _ => failed("open a snapshot", &error),
    })
}

/// Removes a snapshot.
pub fn forget(folder: &Path, snapshot: &Snapshot) -> Result<(), SandboxError> {
    std::fs::remove_file(folder.join(snapshot.id.to_string())).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SandboxError::NoSnapshot(snapshot.id.to_string()),
        _ => failed("remove a snapshot", &error),
    })
}
