//! Files of a sandbox, by its agent: whatever a name leads to in there, it leads nowhere else.

use bailiwick_sandbox::{Entry, EntryKind, Put, SandboxError, SandboxPath};
use bailiwick_types::ErrorCode;
use bailiwick_wire::agent::{CHUNK, FromAgent, Listed, Stream, ToAgent, WINDOW};
use bytes::{Bytes, BytesMut};

use crate::job::Job;
use crate::{Attended, Wall};

/// The most entries of a folder that are listed.
const MOST_ENTRIES: usize = 100_000;
/// The most bytes that their names may have in all.
const MOST_NAMES: usize = 32 << 20;
/// The most answers with nothing in them.
const MOST_EMPTY: usize = 1000;
/// The longest name.
const LONGEST_NAME: usize = 3 * 255;

const ENOENT: i32 = 2;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

/// What went wrong with a file.
pub(crate) fn failed(path: &SandboxPath, step: &str, errno: i32) -> SandboxError {
    let code = match errno {
        ENOENT => ErrorCode::NotFound,
        EFBIG => ErrorCode::OutputLimit,
        ENOSPC | EDQUOT => ErrorCode::DiskLimit,
        _ => ErrorCode::FsFailed,
    };
    let system = std::io::Error::from_raw_os_error(errno);
    SandboxError::File { path: path.to_string(), why: format!("{step}: {system}"), code }
}

/// Sends bytes as data of a job, as far as there is credit, and waits for the last answer.
pub(crate) async fn send<W: Wall>(
    inner: &Attended<W>,
    job: &mut Job<'_, W>,
    mut next: impl FnMut() -> Result<Option<Bytes>, SandboxError> + Send,
) -> Result<FromAgent, SandboxError> {
    let mut credit = Credit(WINDOW as usize);
    let id = job.id();
    while let Some(mut bytes) = next()? {
        while !bytes.is_empty() {
            while credit.0 == 0 {
                match job.next().await? {
                    FromAgent::Credit { bytes, .. } => credit.comes(inner, bytes)?,
                    // It has failed, and says why.
                    other => return Ok(other),
                }
            }
            let piece = bytes.split_to(bytes.len().min(credit.0).min(CHUNK));
            credit.0 -= piece.len();
            inner.say(&ToAgent::Data { id, bytes: piece.to_vec() }).await?;
        }
    }
    inner.say(&ToAgent::DataEnd { id }).await?;
    loop {
        match job.next().await? {
            FromAgent::Credit { bytes, .. } => credit.comes(inner, bytes)?,
            other => return Ok(other),
        }
    }
}

/// How much an agent takes now.
struct Credit(usize);

impl Credit {
    /// More comes: for something that was sent, so it ends some day.
    fn comes<W: Wall>(&mut self, inner: &Attended<W>, bytes: u32) -> Result<(), SandboxError> {
        self.0 = self.0.saturating_add(bytes as usize);
        if bytes == 0 || self.0 > WINDOW as usize {
            return Err(inner.broken());
        }
        Ok(())
    }
}

pub(crate) async fn write<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
    bytes: Bytes,
    executable: bool,
) -> Result<(), SandboxError> {
    write_as(inner, path, bytes, if executable { 0o755 } else { 0o644 }).await
}

/// Puts something in the place of whatever is at a path.
pub(crate) async fn put<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
    what: Put,
) -> Result<(), SandboxError> {
    let (link, mode) = match what {
        Put::File { bytes, mode } => return write_as(inner, path, bytes, mode).await,
        Put::Folder { mode } => (None, mode),
        Put::Link { to } => (Some(to), 0),
    };
    let at = inner.places.found(path);
    done(inner, path, |id| ToAgent::Make { id, path: at, link, mode }).await
}

/// Has something done to a path that is answered by one word.
async fn done<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
    message: impl FnOnce(u32) -> ToAgent,
) -> Result<(), SandboxError> {
    let answer = Job::begin(inner, message).await?.next().await?;
    is_done(inner, path, answer)
}

fn is_done<W: Wall>(inner: &Attended<W>, path: &SandboxPath, answer: FromAgent) -> Result<(), SandboxError> {
    match answer {
        FromAgent::Done { .. } => Ok(()),
        FromAgent::Failed { step, errno, .. } => Err(failed(path, &step, errno)),
        _ => Err(inner.broken()),
    }
}

async fn write_as<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
    bytes: Bytes,
    mode: u32,
) -> Result<(), SandboxError> {
    let at = inner.places.found(path);
    let mut job = Job::begin(inner, |id| ToAgent::Write { id, path: at, mode }).await?;
    let mut all = Some(bytes);
    let answer = send(inner, &mut job, || Ok(all.take())).await?;
    is_done(inner, path, answer)
}

pub(crate) async fn read<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
    most: u64,
) -> Result<Bytes, SandboxError> {
    let at = inner.places.found(path);
    let mut job = Job::begin(inner, |id| ToAgent::Read { id, path: at, most }).await?;
    let id = job.id();
    let mut all = BytesMut::new();
    loop {
        match job.next().await? {
            FromAgent::Data { bytes, .. } => {
                all.extend_from_slice(&bytes);
                if bytes.is_empty() || all.len() as u64 > most {
                    return Err(inner.broken());
                }
                let bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                inner.say(&ToAgent::Credit { id, stream: Stream::Stdout, bytes }).await?;
            }
            FromAgent::Done { .. } => return Ok(all.freeze()),
            FromAgent::Failed { step, errno, .. } => return Err(failed(path, &step, errno)),
            _ => return Err(inner.broken()),
        }
    }
}

pub(crate) async fn list<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
) -> Result<Vec<Entry>, SandboxError> {
    let at = inner.places.found(path);
    let mut job = Job::begin(inner, |id| ToAgent::List { id, path: at }).await?;
    let (mut all, mut bytes, mut empty) = (Vec::new(), 0, 0);
    loop {
        match job.next().await? {
            FromAgent::Listed { entries, .. } => {
                // What went while the others were told leaves an answer with nothing in it.
                empty += usize::from(entries.is_empty());
                if empty > MOST_EMPTY || !entries.iter().all(|entry| is_name(&entry.name)) {
                    return Err(inner.broken());
                }
                bytes += entries.iter().map(|entry| entry.name.len()).sum::<usize>();
                all.extend(entries.into_iter().map(entry));
                if all.len() > MOST_ENTRIES || bytes > MOST_NAMES {
                    return Err(SandboxError::File {
                        path: path.to_string(),
                        why: format!(
                            "it holds more than {MOST_ENTRIES} entries, or {MOST_NAMES} bytes of names"
                        ),
                        code: ErrorCode::OutputLimit,
                    });
                }
            }
            FromAgent::Done { .. } => {
                all.sort_by(|one, other| one.name.cmp(&other.name));
                return Ok(all);
            }
            FromAgent::Failed { step, errno, .. } => return Err(failed(path, &step, errno)),
            _ => return Err(inner.broken()),
        }
    }
}

/// Whether something can be the name of an entry: nothing that leads elsewhere, and no longer than names are, where each byte that
/// is no letter may have become three.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.contains(['/', '\0'])
        && name != "."
        && name != ".."
}

fn entry(listed: Listed) -> Entry {
    let Listed { name, kind, bytes, mode } = listed;
    let kind = match kind {
        'f' => EntryKind::File,
        'd' => EntryKind::Folder,
        'l' => EntryKind::Link,
        _ => EntryKind::Other,
    };
    Entry { name, kind, bytes, mode }
}

pub(crate) async fn remove<W: Wall>(inner: &Attended<W>, path: &SandboxPath) -> Result<(), SandboxError> {
    let at = inner.places.found(path);
    done(inner, path, |id| ToAgent::Remove { id, path: at }).await
}
