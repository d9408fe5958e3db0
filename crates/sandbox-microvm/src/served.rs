//! The files of the host that a machine sees: a few folders by name, below one root that is none. The machine's kernel asks in its own
//! words (FUSE), over a stream; it is as hostile as its guest.
//!
//! Nothing is kept for a question but which name has which number, so a machine that goes on elsewhere is served by a copy of that.
//! Every path is looked up beneath the folder that is served, with no link on the way, and permissions are looked at here too: what the
//! sandbox's user may not read on the host is not read for its kernel.

mod answer;
mod attributes;
mod changes;
mod names;
mod question;
mod shares;

use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};

use bailiwick_wire::machine::{ANSWER_HEAD, LONGEST, QUESTION_HEAD};

pub(crate) use answer::Server;
pub(crate) use names::Names;
pub(crate) use question::Question;
pub(crate) use shares::{Owner, Share, Shares};

/// Serves a machine until its stream ends. What is no question of a kernel's ends it too.
pub(crate) fn serve(stream: &UnixStream, server: &Mutex<Server>) -> std::io::Result<()> {
    let mut from = BufReader::with_capacity(LONGEST, stream);
    let mut frame = Vec::with_capacity(LONGEST);
    loop {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let whole = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if !(QUESTION_HEAD..=LONGEST).contains(&whole) {
            return Err(std::io::Error::other("a question of that length is none"));
        }
        frame.clear();
        frame.extend(length);
        frame.resize(whole, 0);
        from.read_exact(frame.get_mut(4..).unwrap_or_default())?;
        let Some(question) = Question::read(&frame) else {
            return Err(std::io::Error::other("it asked what no kernel asks"));
        };
        let answer = server.lock().unwrap_or_else(PoisonError::into_inner).answer(&question);
        match answer {
            None => {}
            Some(Ok(body)) => say(stream, 0, question.id, &body)?,
            Some(Err(errno)) => say(stream, -errno.raw_os_error(), question.id, &[])?,
        }
    }
}

fn say(mut to: &UnixStream, error: i32, id: u64, body: &[u8]) -> std::io::Result<()> {
    let length = u32::try_from(ANSWER_HEAD + body.len()).map_err(std::io::Error::other)?;
    let mut frame = Vec::with_capacity(ANSWER_HEAD + body.len());
    frame.extend(length.to_le_bytes());
    frame.extend(error.to_le_bytes());
    frame.extend(id.to_le_bytes());
    frame.extend(body);
    to.write_all(&frame)
}

#[cfg(test)]
mod tests;
