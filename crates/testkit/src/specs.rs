//! `specs/<area>/<case>/`: a behaviour or an attack as a folder. Adding one is adding a folder.
//!
//! `case.toml` holds `about`, `args`, `exit`, and lists of texts that `stdout` and `stderr` must contain (`never`:
//! must not contain). Every other file of the folder is put into the working folder of a fresh machine, those
//! under `home/` into its home. A `prepare.sh` is run by a shell in the working folder before the program, a `check.sh`
//! after it; both find the program as `$PROGRAM`, and a case is wrong when they end with anything but 0.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bailiwick_document::{Bounds, DocPath, Entry, Format, Reader, parse};

use crate::Program;
use crate::netns::Netns;

/// One case, as its `case.toml` says.
struct Case {
    args: Vec<String>,
    exit: i32,
    stdout: Vec<String>,
    stderr: Vec<String>,
    never: Vec<String>,
}

/// An area of cases, and what all of them have in common.
#[derive(Debug)]
pub struct Specs {
    program: PathBuf,
    area: PathBuf,
    variables: Vec<(String, String)>,
    home_files: Vec<(String, String)>,
    network: Option<Netns>,
}

/// Runs every case of an area against a program; gives the name of each case and what was wrong with it, if
/// anything.
///
/// # Panics
/// When the area cannot be read or has no cases: a suite that runs nothing proves nothing.
pub fn run_specs(program: &Path, area: &Path) -> Vec<(String, Option<String>)> {
    Specs::new(program, area).run()
}

impl Specs {
    /// The cases of an area, for a program.
    pub fn new(program: &Path, area: &Path) -> Self {
        Self {
            program: program.to_owned(),
            area: area.to_owned(),
            variables: Vec::new(),
            home_files: Vec::new(),
            network: None,
        }
    }

    /// With an environment variable in every case.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a file in the home of every case, unless the case has one of its own there.
    #[must_use]
    pub fn home_file(mut self, name: &str, text: &str) -> Self {
        self.home_files.push((name.to_owned(), text.to_owned()));
        self
    }

    /// With a network of its own for every case. Where cases need servers, run all of them inside of one network
    /// instead, by [`Netns::run`].
    #[must_use]
    pub fn within(mut self, network: &Netns) -> Self {
        self.network = Some(network.clone());
        self
    }

    /// Runs every case; gives its name and what was wrong with it, if anything.
    ///
    /// # Panics
    /// When the area cannot be read or has no cases: a suite that runs nothing proves nothing.
    #[expect(clippy::panic, reason = "a suite that cannot be read ends its test")]
    pub fn run(&self) -> Vec<(String, Option<String>)> {
        let area = &self.area;
        let Ok(folders) = std::fs::read_dir(area) else { panic!("{} cannot be read", area.display()) };
        let mut cases: Vec<_> =
            folders.filter_map(Result::ok).filter(|entry| entry.path().is_dir()).collect();
        cases.sort_by_key(std::fs::DirEntry::file_name);
        assert!(!cases.is_empty(), "{} has no cases", area.display());
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(cases.len()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
                scope.spawn(|| {
                    while let Some(entry) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let name = entry.file_name().to_string_lossy().into_owned();
                        let result = (name, self.run_case(&entry.path()).err());
                        results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort();
        results
    }

    fn run_case(&self, folder: &Path) -> Result<(), String> {
        let case = read_case(&folder.join("case.toml"))?;
        let mut stage = self.stage();
        for (name, text) in files_below(folder, "")? {
            stage = match name.strip_prefix("home/") {
                Some(name) => stage.with_home_file(name, &text),
                None if name == "case.toml" => stage,
                None => stage.with_file(&name, &text),
            };
        }
        let mut wrong = Vec::new();
        wrong.extend(stage.run_script("prepare.sh").map(|told| format!("prepare.sh: {told}")));
        let arguments: Vec<&str> = case.args.iter().map(String::as_str).collect();
        let run = stage.run(&arguments);
        wrong.extend(stage.run_script("check.sh").map(|told| format!("check.sh: {told}")));
        if run.code != Some(case.exit) {
            wrong.push(format!("exit {:?} instead of {}", run.code, case.exit));
        }
        for (stream, text, wanted) in
            [("stdout", &run.stdout, &case.stdout), ("stderr", &run.stderr, &case.stderr)]
        {
            for want in wanted.iter().filter(|want| !text.contains(want.as_str())) {
                wrong.push(format!("{stream} lacks `{want}`"));
            }
            for never in case.never.iter().filter(|never| text.contains(never.as_str())) {
                wrong.push(format!("{stream} holds `{never}`"));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(format!("{}\n--- stdout\n{}--- stderr\n{}", wrong.join("\n"), run.stdout, run.stderr))
    }

    /// What every case begins with.
    fn stage(&self) -> Program {
        let mut stage = Program::new(&self.program);
        if let Some(network) = &self.network {
            stage = stage.within(network);
        }
        for (name, value) in &self.variables {
            stage = stage.with_variable(name, value);
        }
        self.home_files.iter().fold(stage, |stage, (name, text)| stage.with_home_file(name, text))
    }
}

#[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
fn read_case(path: &Path) -> Result<Case, String> {
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
    let exit = record.take("exit").and_then(|entry| reader.count(&entry)).unwrap_or_default();
    record.close(&mut reader);
    let exit = i32::try_from(exit).map_err(|_| "exit is not an exit code".to_owned())?;
    reader.finish(Case { args, exit, stdout, stderr, never }).map_err(|problems| problems.to_string())
}

/// The files of a case, by their path below its folder.
#[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
fn files_below(folder: &Path, prefix: &str) -> Result<Vec<(String, String)>, String> {
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
