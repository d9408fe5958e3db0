//! `specs/<area>/<case>/`: a behaviour or an attack as a folder. Adding one is adding a folder.
//!
//! What a `case.toml` says is in [`case`]. Every other file of the folder is put into the working folder of a fresh
//! machine, those under `home/` into its home. A `prepare.sh` is run by a shell in the working folder before the program,
//! a `check.sh` after it; both find the program as `$PROGRAM`, and a case is wrong when they end with anything but 0.

mod assembled;
mod case;
mod pulse;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use case::{Case, Who, files_below};
use pulse::Pulse;

use crate::netns::Netns;
use crate::program::{Program, Run, reachable_by_nobody};

/// An area of cases, and what all of them have in common.
#[derive(Debug)]
pub struct Specs {
    program: PathBuf,
    area: PathBuf,
    variables: Vec<(String, String)>,
    home_files: Vec<(String, String)>,
    network: Option<Netns>,
    preamble: String,
    webassembly: Option<String>,
    front: Vec<String>,
    nobody: Option<Arc<tempfile::TempDir>>,
    /// How many times as long everything may take.
    patience: u64,
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
            preamble: String::new(),
            webassembly: None,
            front: Vec::new(),
            nobody: None,
            patience: 1,
        }
    }

    /// Where everything is many times as slow: a deadline of a case, which `--timeout` sets, is so many times as late.
    #[must_use]
    pub const fn patient(mut self, times: u64) -> Self {
        self.patience = times;
        self
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

    /// With this text in front of every input of a case that is Python.
    #[must_use]
    pub fn preamble(mut self, text: &str) -> Self {
        text.clone_into(&mut self.preamble);
        self
    }

    /// With WebAssembly: a file `x.wat` of a case is there as `x.wasm`. Where it is no whole module, it is the rest of one that
    /// begins with this text.
    #[must_use]
    pub fn webassembly(mut self, text: &str) -> Self {
        self.webassembly = Some(text.to_owned());
        self
    }

    /// With this text behind the one in front of every input of a case that is Python.
    #[must_use]
    pub fn also(mut self, text: &str) -> Self {
        self.preamble.push_str(text);
        self
    }

    /// With these words in front of the program: something that starts it.
    #[must_use]
    pub fn behind(mut self, words: &[&str]) -> Self {
        self.front = words.iter().copied().map(str::to_owned).collect();
        self
    }

    /// As a user who is nobody. The tests have to be root's for that.
    ///
    /// # Panics
    /// When the program cannot be put where that user can run it.
    #[must_use]
    pub fn by_nobody(mut self) -> Self {
        let (folder, program) = reachable_by_nobody(&self.program);
        self.program = program;
        self.nobody = Some(Arc::new(folder));
        self
    }

    /// The names of the cases that are for this user, in order.
    ///
    /// # Panics
    /// When the area cannot be read or has no cases: a suite that runs nothing proves nothing.
    #[expect(clippy::panic, reason = "a suite that cannot be read ends its test")]
    pub fn cases(&self) -> Vec<String> {
        let area = &self.area;
        let Ok(folders) = std::fs::read_dir(area) else { panic!("{} cannot be read", area.display()) };
        let folders = folders.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
        let mut cases: Vec<String> =
            folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(!cases.is_empty(), "{} has no cases", area.display());
        let is_for_this_user = |name: &String| match Case::read(&area.join(name).join("case.toml")) {
            Ok(case) => case.only.is_none_or(|who| who == self.who()),
            // Running it says what is wrong.
            Err(_) => true,
        };
        cases.retain(is_for_this_user);
        cases.sort();
        cases
    }

    /// The cases during which the host is watched: whatever else runs then disturbs the measurement.
    pub fn watched_cases(&self) -> Vec<String> {
        let is_watched = |name: &String| {
            Case::read(&self.area.join(name).join("case.toml")).is_ok_and(|case| case.is_host_watched)
        };
        self.cases().into_iter().filter(is_watched).collect()
    }

    /// Runs every case that is for this user, one after the other; gives its name and what was wrong with it, if anything.
    ///
    /// # Panics
    /// When the area cannot be read or has no cases: a suite that runs nothing proves nothing.
    pub fn run(&self) -> Vec<(String, Option<String>)> {
        let cases = self.cases().into_iter();
        cases
            .map(|name| {
                let wrong = self.run_case(&name).err();
                (name, wrong)
            })
            .collect()
    }

    /// Runs one case.
    ///
    /// # Errors
    /// What was wrong with it.
    pub fn run_case(&self, name: &str) -> Result<(), String> {
        let folder = &self.area.join(name);
        let case = Case::read(&folder.join("case.toml"))?;
        let mut stage = self.stage();
        for (name, text) in files_below(folder, "")? {
            stage = match name.strip_prefix("home/") {
                Some(name) => stage.with_home_file(name, &text),
                None if name == "case.toml" => stage,
                None if self.webassembly.is_some()
                    && Path::new(&name).extension().is_some_and(|end| end == "wat") =>
                {
                    let beginning = self.webassembly.as_deref().unwrap_or_default();
                    let bytes =
                        assembled::module(beginning, &text).map_err(|error| format!("{name}: {error}"))?;
                    stage.with_bytes(&name.replace(".wat", ".wasm"), &bytes)
                }
                None => stage.with_file(&name, &text),
            };
        }
        let input = self.input(&case, folder)?;
        if self.nobody.is_some() {
            stage = stage.by_nobody();
        }
        let mut wrong = Vec::new();
        wrong.extend(stage.run_script("prepare.sh").map(|told| format!("prepare.sh: {told}")));
        let args = later(case.args_on(&stage), self.patience);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let pulse = case.is_host_watched.then(Pulse::begin);
        let run = stage.run_with_input(&args, &input);
        wrong.extend(pulse.and_then(Pulse::end));
        wrong.extend(stage.run_script("check.sh").map(|told| format!("check.sh: {told}")));
        wrong.extend(case.what_is_wrong_with(&run));
        if wrong.is_empty() {
            return Ok(());
        }
        let Run { stdout, stderr, .. } = &run;
        Err(format!(
            "{}\n--- stdout\n{}--- stderr\n{}",
            wrong.join("\n"),
            beginning(stdout),
            beginning(stderr)
        ))
    }

    /// What a case has on its standard input.
    #[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
    fn input(&self, case: &Case, folder: &Path) -> Result<String, String> {
        let Some(name) = &case.input else { return Ok(String::new()) };
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let is_python = path.extension().is_some_and(|extension| extension == "py");
        Ok(if is_python { format!("{}\n{text}", self.preamble) } else { text })
    }

    fn who(&self) -> Who {
        if self.nobody.is_none() && rustix::process::geteuid().is_root() { Who::Root } else { Who::User }
    }

    /// What every case begins with.
    fn stage(&self) -> Program {
        let mut stage = Program::new(&self.program).behind(&self.front);
        if let Some(network) = &self.network {
            stage = stage.within(network);
        }
        for (name, value) in &self.variables {
            stage = stage.with_variable(name, value);
        }
        self.home_files.iter().fold(stage, |stage, (name, text)| stage.with_home_file(name, text))
    }
}

/// The deadline of a command that has no other, in seconds.
const USUAL: u64 = 30;

/// Words of which each deadline in seconds is so many times as late, and the usual one as well.
fn later(mut words: Vec<String>, times: u64) -> Vec<String> {
    if times == 1 {
        return words;
    }
    let has_none = !words.iter().take_while(|word| *word != "--").any(|word| word == "--timeout");
    if has_none && words.first().is_some_and(|word| word == "exec") {
        words.splice(1..1, ["--timeout".to_owned(), format!("{USUAL}s")]);
    }
    let deadlines: Vec<usize> =
        words.iter().enumerate().filter(|(_, word)| *word == "--timeout").map(|(at, _)| at + 1).collect();
    for at in deadlines {
        let Some(word) = words.get_mut(at) else { continue };
        if let Some(seconds) = word.strip_suffix('s').and_then(|number| number.parse::<u64>().ok()) {
            *word = format!("{}s", seconds.saturating_mul(times));
        }
    }
    words
}

/// As much of a text as a person reads.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(4000)).unwrap_or_default()
}
