//! A forge: git's own server behind an upstream, so that what goes over the wire is what git really says.
//!
//! Requests for repositories are answered by `git http-backend`, run as a CGI over one folder. It serves to anybody what is
//! there; a repository takes a push only where its own settings say so (`http.receivepack`). Answers come in chunks, as those
//! of forges do.

use std::io::{Error, Result, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::message::{bytes_of, header, text_of};
use crate::upstream::{Answer, Framing, Piece, Request};

/// The program, which is that of the machine.
const GIT: &str = "/usr/bin/git";
/// The largest piece of a body that is a chunk of its own.
const CHUNK: usize = 32 * 1024;

/// A folder of bare repositories, served by git.
#[derive(Debug, Clone)]
pub struct Forge {
    root: PathBuf,
}

impl Forge {
    /// Over this folder.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// What git answers to a request.
    ///
    /// # Panics
    /// When git's server cannot be run, or gives no answer that is one.
    #[expect(clippy::expect_used, reason = "a test fixture that does not work ends its test")]
    pub fn answer(&self, request: &Request) -> Answer {
        let said = self.run(request).expect("git http-backend runs");
        read(&said).expect("git http-backend gives an answer")
    }

    #[expect(clippy::disallowed_methods, reason = "a program of the tests, on folders of a test's own")]
    fn run(&self, request: &Request) -> Result<Vec<u8>> {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let mut backend = Command::new(GIT);
        backend.arg("http-backend").env_clear().env("PATH", "/usr/bin:/bin");
        backend.env("HOME", &self.root).env("GIT_CONFIG_NOSYSTEM", "1");
        backend.env("GIT_PROJECT_ROOT", &self.root).env("GIT_HTTP_EXPORT_ALL", "1");
        backend.env("REQUEST_METHOD", &request.method).env("PATH_INFO", path).env("QUERY_STRING", query);
        backend.env("REMOTE_ADDR", request.peer.ip().to_string());
        backend.env("CONTENT_LENGTH", request.body.len().to_string());
        let passed = [
            ("CONTENT_TYPE", "content-type"),
            ("HTTP_CONTENT_ENCODING", "content-encoding"),
            ("HTTP_GIT_PROTOCOL", "git-protocol"),
        ];
        for (variable, name) in passed {
            if let Some(value) = request.header(name) {
                backend.env(variable, value);
            }
        }
        // What it complains of is for whoever reads the test's output.
        let mut child =
            backend.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let mut input = child.stdin.take().ok_or_else(|| Error::other("no input"))?;
        std::thread::scope(|threads| {
            // It may answer before it has read everything, and then reads no more.
            threads.spawn(move || input.write_all(&request.body));
            child.wait_with_output().map(|output| output.stdout)
        })
    }
}

/// The answer that a CGI wrote.
fn read(said: &[u8]) -> Option<Answer> {
    let end = said.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (text_of(said.get(..end)?), said.get(end + 4..)?);
    let headers: Vec<(String, String)> = head
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let status = match header(&headers, "status") {
        Some(status) => status.split(' ').next()?.parse().ok()?,
        None => 200,
    };
    let answer = headers
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "status" | "content-length"))
        .fold(Answer::new(status), |answer, (name, value)| answer.header(name, bytes_of(value)));
    let chunks = body.chunks(CHUNK).map(|chunk| Piece::Bytes(chunk.to_vec()));
    Some(chunks.fold(answer.framing(Framing::Chunked), Answer::piece))
}

#[cfg(test)]
mod tests;
