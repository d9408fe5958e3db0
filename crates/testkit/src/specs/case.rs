//! One case, as its `case.toml` says, and whether a run is what it promises.
//!
//! `about` (a sentence), `args`, `exit`, and lists of texts that `stdout` and `stderr` must contain (`never`: must not
//! contain). `input` names a file of the folder for standard input; in `args`, `{work}` and `{home}` are the folders of
//! the machine. `only = "root"` or `"user"` leaves a case to one of the two, `most` bounds the bytes of each stream, and
//! `watch = "host"` demands that the host goes on answering meanwhile.

use std::path::Path;

use bailiwick_document::{Bounds, DocPath, Entry, Format, Reader, parse};

use crate::program::{Program, Run};

/// One case.
pub(super) struct Case {
    pub(super) args: Vec<String>,
    pub(super) input: Option<String>,
    pub(super) only: Option<Who>,
    pub(super) is_host_watched: bool,
    exit: i32,
    stdout: Vec<String>,
    stderr: Vec<String>,
    never: Vec<String>,
    most: Option<usize>,
}

/// Who runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// Root.
    Root,
    /// Anybody else.
    User,
}

impl Case {
    /// Reads it.
    #[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.display().to_string();
        let tree = parse(&name, &text, Format::Toml, Bounds::WRITTEN_BY_HAND)
            .map_err(|problems| problems.to_string())?;
        let mut reader = Reader::new(name);
        let root = Entry { node: &tree, path: DocPath::root() };
        let mut record = reader.record(&root).ok_or("case.toml is not a table")?;
        let about = record.take("about");
        if about.and_then(|entry| reader.text(&entry)).is_none() {
            return Err("case.toml does not say what it is `about`".to_owned());
        }
        let mut texts = |reader: &mut Reader, field: &'static str| -> Vec<String> {
            let items = record.take(field).map(|entry| reader.list(&entry)).unwrap_or_default();
            items.iter().filter_map(|item| reader.text(item)).map(str::to_owned).collect()
        };
        let args = texts(&mut reader, "args");
        let stdout = texts(&mut reader, "stdout");
        let stderr = texts(&mut reader, "stderr");
        let never = texts(&mut reader, "never");
        let mut word = |reader: &mut Reader, field: &'static str| -> Option<String> {
            record.take(field).and_then(|entry| reader.text(&entry).map(str::to_owned))
        };
        let input = word(&mut reader, "input");
        let only = match word(&mut reader, "only").as_deref() {
            None => None,
            Some("root") => Some(Who::Root),
            Some("user") => Some(Who::User),
            Some(other) => return Err(format!("`only` is `root` or `user`, not `{other}`")),
        };
        let is_host_watched = match word(&mut reader, "watch").as_deref() {
            None => false,
            Some("host") => true,
            Some(other) => return Err(format!("`watch` is `host`, not `{other}`")),
        };
        let exit = record.take("exit").and_then(|entry| reader.count(&entry)).unwrap_or_default();
        let most = record.take("most").and_then(|entry| reader.count(&entry));
        record.close(&mut reader);
        let exit = i32::try_from(exit).map_err(|_| "exit is not an exit code".to_owned())?;
        let most = most.map(usize::try_from).transpose().map_err(|_| "most is not a size".to_owned())?;
        let case = Self { args, input, only, is_host_watched, exit, stdout, stderr, never, most };
        reader.finish(case).map_err(|problems| problems.to_string())
    }

    /// Its arguments on this machine.
    pub(super) fn args_on(&self, machine: &Program) -> Vec<String> {
        let work = machine.working_folder().display().to_string();
        let home = machine.home().display().to_string();
        self.args.iter().map(|word| word.replace("{work}", &work).replace("{home}", &home)).collect()
    }

    /// What a run has not, or has and should not.
    pub(super) fn what_is_wrong_with(&self, run: &Run) -> Vec<String> {
        let mut wrong = Vec::new();
        if run.code != Some(self.exit) {
            wrong.push(format!("exit {:?} instead of {}", run.code, self.exit));
        }
        for (stream, text, wanted) in
            [("stdout", &run.stdout, &self.stdout), ("stderr", &run.stderr, &self.stderr)]
        {
            for want in wanted.iter().filter(|want| !text.contains(want.as_str())) {
                wrong.push(format!("{stream} lacks `{want}`"));
            }
            for never in self.never.iter().filter(|never| text.contains(never.as_str())) {
                wrong.push(format!("{stream} holds `{never}`"));
            }
            if self.most.is_some_and(|most| text.len() > most) {
                wrong.push(format!("{stream} has {} bytes", text.len()));
            }
        }
        wrong
    }
}

/// The files of a case, by their path below its folder.
#[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
pub(super) fn files_below(folder: &Path, prefix: &str) -> Result<Vec<(String, String)>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files.extend(files_below(&entry.path(), &format!("{name}/"))?);
        } else {
            files.push((name, std::fs::read_to_string(entry.path()).map_err(failed)?));
        }
    }
    Ok(files)
}
