//! Tests of `safety.fs` as a cell sees it: requests in, answers or refusals out.
#![expect(clippy::disallowed_methods, reason = "the tests set the stage, on the host's side, by plain means")]

mod attacks;
mod operations;
mod quota;
mod race;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_document::{Bounds, Format, parse};
use bailiwick_policy::{Baseline, EffectivePolicy, GuestPath, Layer};
use bailiwick_types::{FileAnswer, FileRequest, LayerName, Matching};

use super::{Files, Opening, Quota};
use crate::person::{Answered, Nobody};

const ALL: &str = "fileRead: true\nfileWrite: true\ndestructive: true";
const SECRET: &str = "outside";

/// A workspace, a secret outside it, and a call that works there.
struct Stage {
    top: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    files: Files,
}

fn policy(text: &str, roots: &[&Path]) -> Arc<EffectivePolicy> {
    let tree = parse("o.yaml", text, Format::Yaml, Bounds::WRITTEN_BY_HAND).unwrap();
    let layer = Layer::read("o.yaml", &tree, LayerName::Tool).unwrap();
    let mut baseline = Baseline::shipped();
    baseline.read_roots =
        roots.iter().map(|root| GuestPath::parse(root.to_str().unwrap()).unwrap()).collect();
    Arc::new(bailiwick_policy::resolve(&Arc::new(baseline), None, Some(&Arc::new(layer))).unwrap())
}

impl Stage {
    fn new() -> Self {
        Self::with(ALL, Quota::USUAL)
    }

    fn with(text: &str, quota: Quota) -> Self {
        Self::at(tempfile::tempdir().unwrap(), text, quota)
    }

    fn at(top: tempfile::TempDir, text: &str, quota: Quota) -> Self {
        for folder in ["data/workspaces", "config", "elsewhere", "root"] {
            std::fs::create_dir_all(top.path().join(folder)).unwrap();
        }
        std::fs::write(top.path().join("elsewhere/secret"), SECRET).unwrap();
        let files = open(top.path(), text, quota);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { top, runtime, files }
    }

    fn workspace(&self) -> PathBuf {
        self.top.path().join("data/workspaces/w")
    }

    fn secret(&self) -> PathBuf {
        self.top.path().join("elsewhere/secret")
    }

    /// The answer as text, or the code and the reason of the refusal.
    fn ask(&self, request: FileRequest) -> Result<String, String> {
        match self.runtime.block_on(self.files.serve(request)) {
            Ok(FileAnswer::Text(text) | FileAnswer::Json(text)) => Ok(text),
            Ok(FileAnswer::Bytes(bytes)) => Ok(format!("{:?}", bytes.0)),
            Err(refused) => {
                let shown = format!("{refused:?}");
                assert!(!shown.contains(self.top.path().to_str().unwrap()), "a host path is shown: {shown}");
                Err(format!("{} {}", refused.code, refused.reason))
            }
        }
    }

    #[track_caller]
    fn check(&self, request: FileRequest, expected: &str) {
        let shown = format!("{request:?}");
        let answer = self.ask(request).unwrap_or_else(|refused| refused);
        assert_eq!(answer, expected, "{shown}");
    }
}

fn open(top: &Path, text: &str, quota: Quota) -> Files {
    Files::open(Opening {
        workspace: &top.join("data/workspaces/w"),
        data: &top.join("data"),
        config: &top.join("config"),
        policy: policy(text, &[&top.join("root"), &top.join("config"), Path::new("/proc/self")]),
        answered: Arc::new(Answered::default()),
        person: Arc::new(Nobody),
        quota,
    })
    .unwrap()
}

fn read(path: &str) -> FileRequest {
    FileRequest::ReadText { path: path.to_owned() }
}

fn write(path: &str, text: &str) -> FileRequest {
    FileRequest::Write { path: path.to_owned(), content: text.as_bytes().to_vec().into() }
}

fn append(path: &str, text: &str) -> FileRequest {
    FileRequest::Append { path: path.to_owned(), content: text.as_bytes().to_vec().into() }
}

fn edit(path: &str, old: &str, new: &str, all: bool) -> FileRequest {
    FileRequest::Edit { path: path.to_owned(), old: old.to_owned(), new: new.to_owned(), all }
}

fn copy(from: &str, to: &str) -> FileRequest {
    FileRequest::Copy { from: from.to_owned(), to: to.to_owned() }
}

fn rename(from: &str, to: &str) -> FileRequest {
    FileRequest::Move { from: from.to_owned(), to: to.to_owned() }
}

fn mkdir(path: &str) -> FileRequest {
    FileRequest::MakeDir { path: path.to_owned() }
}

fn delete(path: &str) -> FileRequest {
    FileRequest::Delete { path: path.to_owned() }
}

fn delete_dir(path: &str, recursive: bool) -> FileRequest {
    FileRequest::DeleteDir { path: path.to_owned(), recursive }
}

fn list(path: &str, recursive: bool) -> FileRequest {
    FileRequest::List { path: path.to_owned(), recursive }
}

fn grep(path: &str, pattern: &str) -> FileRequest {
    FileRequest::Grep { path: path.to_owned(), pattern: pattern.to_owned(), how: Matching::default() }
}

fn exists(path: &str) -> FileRequest {
    FileRequest::Exists { path: path.to_owned() }
}
