//! Files of a sandbox, by its agent: whatever a name leads to in there, it leads nowhere else.

use bailiwick_sandbox::{Entry, EntryKind, Put, SandboxError, SandboxPath};
use bailiwick_types::ErrorCode;
use bailiwick_wire::agent::{CHUNK, FromAgent, Listed, Stream, ToAgent, WINDOW};
use bytes::{Bytes, BytesMut};

use crate::link::Ask;
use crate::{Attended, Wall};

/// The most entries of a folder that are listed.
const MOST_ENTRIES: usize = 100_000;

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

/// Sends bytes as data of an ask, as far as there is credit, and waits for the answer.
pub(crate) async fn send<W: Wall>(
    inner: &Attended<W>,
    ask: &mut Ask,
    mut next: impl FnMut() -> Result<Option<Bytes>, SandboxError> + Send,
) -> Result<FromAgent, SandboxError> {
    let mut credit = WINDOW as usize;
    let id = ask.id;
    while let Some(mut bytes) = next()? {
        while !bytes.is_empty() {
            while credit == 0 {
                match inner.answer(ask).await {
                    Some(FromAgent::Credit { bytes, .. }) => {
                        credit = credit.saturating_add(bytes as usize).min(WINDOW as usize);
                    }
                    // It has failed, and says why.
                    Some(other) => return Ok(other),
                    None => return Err(inner.gone()),
                }
            }
            let piece = bytes.split_to(bytes.len().min(credit).min(CHUNK));
            credit -= piece.len();
            inner.say(&ToAgent::Data { id, bytes: piece.to_vec() }).await?;
        }
    }
    inner.say(&ToAgent::DataEnd { id }).await?;
    loop {
        match inner.answer(ask).await {
            Some(FromAgent::Credit { .. }) => {}
            Some(other) => return Ok(other),
            None => return Err(inner.gone()),
        }
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
    let mut ask = inner.ask().await?;
    inner.say(&ToAgent::Make { id: ask.id, path: inner.places.found(path), link, mode }).await?;
    match inner.answer(&mut ask).await {
        Some(FromAgent::Done { .. }) => Ok(()),
        Some(FromAgent::Failed { step, errno, .. }) => Err(failed(path, &step, errno)),
        Some(_) => Err(inner.broken()),
        None => Err(inner.gone()),
    }
}

async fn write_as<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
    bytes: Bytes,
    mode: u32,
) -> Result<(), SandboxError> {
    let mut ask = inner.ask().await?;
    inner.say(&ToAgent::Write { id: ask.id, path: inner.places.found(path), mode }).await?;
    let mut all = Some(bytes);
    match send(inner, &mut ask, || Ok(all.take())).await? {
        FromAgent::Done { .. } => Ok(()),
        FromAgent::Failed { step, errno, .. } => Err(failed(path, &step, errno)),
        _ => Err(inner.broken()),
    }
}

pub(crate) async fn read<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
    most: u64,
) -> Result<Bytes, SandboxError> {
    let mut ask = inner.ask().await?;
    let id = ask.id;
    inner.say(&ToAgent::Read { id, path: inner.places.found(path), most }).await?;
    let mut all = BytesMut::new();
    loop {
        match inner.answer(&mut ask).await {
            Some(FromAgent::Data { bytes, .. }) => {
                all.extend_from_slice(&bytes);
                if all.len() as u64 > most {
                    return Err(inner.broken());
                }
                let bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                inner.say(&ToAgent::Credit { id, stream: Stream::Stdout, bytes }).await?;
            }
            Some(FromAgent::Done { .. }) => return Ok(all.freeze()),
            Some(FromAgent::Failed { step, errno, .. }) => return Err(failed(path, &step, errno)),
            Some(_) => return Err(inner.broken()),
            None => return Err(inner.gone()),
        }
    }
}

pub(crate) async fn list<W: Wall>(
    inner: &Attended<W>,
    path: &SandboxPath,
) -> Result<Vec<Entry>, SandboxError> {
    let mut ask = inner.ask().await?;
    inner.say(&ToAgent::List { id: ask.id, path: inner.places.found(path) }).await?;
    let mut all = Vec::new();
    loop {
        match inner.answer(&mut ask).await {
            Some(FromAgent::Listed { entries, .. }) => {
                all.extend(entries.into_iter().map(entry));
                if all.len() > MOST_ENTRIES {
                    inner.say(&ToAgent::Cancel { id: ask.id }).await?;
                    return Err(SandboxError::File {
                        path: path.to_string(),
                        why: format!("it holds more than {MOST_ENTRIES} entries"),
                        code: ErrorCode::OutputLimit,
                    });
                }
            }
            Some(FromAgent::Done { .. }) => {
                all.sort_by(|one, other| one.name.cmp(&other.name));
                return Ok(all);
            }
            Some(FromAgent::Failed { step, errno, .. }) => return Err(failed(path, &step, errno)),
            Some(_) => return Err(inner.broken()),
            None => return Err(inner.gone()),
        }
    }
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
    let mut ask = inner.ask().await?;
    inner.say(&ToAgent::Remove { id: ask.id, path: inner.places.found(path) }).await?;
    match inner.answer(&mut ask).await {
        Some(FromAgent::Done { .. }) => Ok(()),
        Some(FromAgent::Failed { step, errno, .. }) => Err(failed(path, &step, errno)),
        Some(_) => Err(inner.broken()),
        None => Err(inner.gone()),
    }
}
