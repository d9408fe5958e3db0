//! From the machine to settings: which files are read, in which order, and which are not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_document::{Bounds, DocPath, Format, Node, Problem, Problems, parse};
use bailiwick_types::did_you_mean;

use crate::environment::Environment;
use crate::error::{ConfigError, SettingProblem};
use crate::keys::{KEYS, Key, Used};
use crate::merge::{Config, Origin};
use crate::settings::Settings;
use crate::trust::Trust;
use crate::value::Value;
use crate::{files, narrow, read};

/// The documented default that is part of the program.
pub const DEFAULT_FILE: &str = include_str!("default.toml");

/// What a folder's own file is called.
pub const FOLDER_FILE: &str = "bailiwick.toml";

/// Variables that are not keys.
const OTHER_VARIABLES: &[&str] = &[
    // the server that commands ask
    "BAILIWICK_SERVER",
    // certificates that such a server may have beside the platform's
    "BAILIWICK_SERVER_CA",
    // the key that is shown to it
    "BAILIWICK_KEY",
    // the file of that key
    "BAILIWICK_KEY_FILE",
    // what is logged
    "BAILIWICK_LOG",
    // tests
    "BAILIWICK_REQUIRE",
];

/// What was asked for on the command line.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `--config FILE`: instead of the system's and the user's file.
    pub config: Option<PathBuf>,
    /// `--data DIR`.
    pub data: Option<PathBuf>,
    /// `--set KEY=VALUE`, in order.
    pub set: Vec<String>,
    /// Whether the working folder's own file is looked at.
    pub folder_file: FolderFile,
}

/// Whether the working folder's own file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FolderFile {
    /// It is.
    #[default]
    Read,
    /// It is not: it is what the command is about.
    Skip,
}

/// Settings, and how they came about.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Every key with its origin.
    pub config: Config,
    /// The same as types.
    pub settings: Settings,
    /// Where data lives.
    pub data_folder: Option<PathBuf>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// What a person should know: a file that was passed over, a key nothing uses yet.
    pub notes: Vec<String>,
    guest_folders: Vec<(PathBuf, String)>,
}

impl Loaded {
    /// Whether a file lies where guests write, so that it is never read as configuration.
    pub fn is_written_by_guests(&self, file: &Path) -> bool {
        lies_in(file, &self.guest_folders).is_some()
    }
}

/// Reads every layer of settings.
pub fn load(environment: &Environment, request: &Request) -> Result<Loaded, ConfigError> {
    let data_folder = match &request.data {
        Some(data) => Some(environment.working_folder.join(data)),
        None => environment.data_folder(),
    };
    let mut loading = Loading { environment, request, data_folder, files: Vec::new(), notes: Vec::new() };
    let config = loading.settle()?;
    let Loading { data_folder, files, mut notes, .. } = loading;
    notes.extend(waiting(&config));
    let mut settings = Settings::from_config(&config, &files)?;
    let own = own(environment, data_folder.as_deref(), &files);
    settings.images.docker_config = environment.home.as_ref().map(|home| home.join(".docker/config.json"));
    settings.sandbox.own = own.into_iter().map(|(path, _)| path).collect();
    refuse_own_folders(environment, &config, data_folder.as_deref(), &files)?;
    let guest_folders = guest_folders(data_folder.as_deref(), environment, &config);
    // Whatever was read, by whatever name, must not lie where guests write.
    for file in &files {
        if let Some(why) = lies_in(file, &guest_folders) {
            return Err(ConfigError::NotConfiguration { path: file.clone(), why });
        }
    }
    Ok(Loaded { config, settings, data_folder, files, notes, guest_folders })
}

/// What is set and has no effect yet.
fn waiting(config: &Config) -> Vec<String> {
    let mut notes = Vec::new();
    for (key, setting) in config.entries() {
        if let Used::WaitsFor(part) = key.used
            && setting.origin != Origin::BuiltIn
        {
            notes.push(format!(
                "{} ({}) is read, but has no effect yet: it waits for {part}",
                key.path, setting.origin
            ));
        }
    }
    notes
}

struct Loading<'a> {
    environment: &'a Environment,
    request: &'a Request,
    data_folder: Option<PathBuf>,
    files: Vec<PathBuf>,
    notes: Vec<String>,
}

impl Loading<'_> {
    fn settle(&mut self) -> Result<Config, ConfigError> {
        let mut by_files = built_in()?;
        self.add_operator_files(&mut by_files)?;
        let mut settled = self.with_variables_and_flags(by_files.clone())?;
        // A profile nobody can use is a mistake of the operator's file, not of the tool that names it.
        let operator = Settings::from_config(&settled, &self.files)?;
        operator.baseline.check_profiles().map_err(ConfigError::Profiles)?;
        let Some((path, text)) = self.folder_file(&settled)? else { return Ok(settled) };
        let trusted = match self.environment.config_folder() {
            // A record that guests could write says nothing.
            Some(folder) if self.written_by_guests(&folder.join(FOLDER_FILE), &settled).is_some() => false,
            Some(folder) => Trust::open(&folder)?.covers(&path, &text),
            None => false,
        };
        if trusted {
            apply_text(&mut by_files, &path, &text)?;
            settled = self.with_variables_and_flags(by_files)?;
            let operator = Settings::from_config(&settled, &self.files)?;
            operator.baseline.check_profiles().map_err(ConfigError::Profiles)?;
        } else {
            // The folder's word is the last, because it can only narrow.
            let name = path.display().to_string();
            let sheet = read::sheet(&name, &tree_of(&name, &text)?)?;
            narrow::apply(&mut settled, &by_files, sheet)?;
        }
        self.files.push(path);
        Ok(settled)
    }

    fn add_operator_files(&mut self, config: &mut Config) -> Result<(), ConfigError> {
        let named = self.request.config.as_ref().or(self.environment.config.as_ref());
        if let Some(named) = named {
            let path = self.environment.working_folder.join(named);
            if !self.add_file(config, &path)? {
                return Err(ConfigError::Missing { path });
            }
            return Ok(());
        }
        self.add_file(config, &self.environment.system_folder.join(FOLDER_FILE))?;
        if let Some(folder) = self.environment.config_folder() {
            self.add_file(config, &folder.join(FOLDER_FILE))?;
        }
        Ok(())
    }

    /// Lays a file of the operator on top; says whether there was one.
    fn add_file(&mut self, config: &mut Config, path: &Path) -> Result<bool, ConfigError> {
        let Some(text) = files::read_config(path)? else { return Ok(false) };
        apply_text(config, path, &text)?;
        self.files.push(path.to_owned());
        Ok(true)
    }

    /// The working folder's own file, unless it is to be passed over.
    fn folder_file(&mut self, settled: &Config) -> Result<Option<(PathBuf, String)>, ConfigError> {
        let path = self.environment.working_folder.join(FOLDER_FILE);
        let already = self.files.iter().any(|file| real(file) == real(&path));
        if self.request.folder_file == FolderFile::Skip || already {
            return Ok(None);
        }
        if let Some(why) = self.written_by_guests(&path, settled) {
            if path.symlink_metadata().is_ok() {
                self.notes.push(format!("{} is not read as configuration: {why}", path.display()));
            }
            return Ok(None);
        }
        Ok(files::read_config(&path)?.map(|text| (path, text)))
    }

    /// Why a file may not be read as configuration, if so.
    fn written_by_guests(&self, file: &Path, config: &Config) -> Option<String> {
        lies_in(file, &guest_folders(self.data_folder.as_deref(), self.environment, config))
    }

    fn with_variables_and_flags(&self, mut config: Config) -> Result<Config, ConfigError> {
        let mut unknown = Vec::new();
        for (name, text) in &self.environment.variables {
            if OTHER_VARIABLES.contains(&name.as_str()) {
                continue;
            }
            match KEYS.iter().find(|key| key.variable() == *name) {
                Some(key) => {
                    let value = read::single(&format!("${name}"), key, text)?;
                    config.set(key, value, Origin::Variable(name.clone()));
                }
                None => unknown.push(unknown_variable(name)),
            }
        }
        if let Some(problems) = Problems::from_list("environment", unknown) {
            return Err(problems.into());
        }
        for flag in &self.request.set {
            let (key, text) = flag_parts(flag).map_err(|problem| Problems::one("--set", problem))?;
            config.set(key, read::single("--set", key, text)?, Origin::Flag);
        }
        Ok(config)
    }
}

/// The folders guests write to, each with the reason to give.
fn guest_folders(data: Option<&Path>, environment: &Environment, config: &Config) -> Vec<(PathBuf, String)> {
    let data = data.map(Path::to_owned).into_iter().chain(environment.default_data_folder());
    let mut folders: Vec<(PathBuf, String)> =
        data.map(|folder| (folder, "it lies in the data folder, where tools write".to_owned())).collect();
    if let Some(Value::Folders(mounts)) = config.get("fs.mounts").map(|setting| &setting.value) {
        folders.extend(mounts.iter().map(|mount| {
            let mount = mount.to_string();
            let why = format!("it lies under the mount {mount}, where commands write");
            (PathBuf::from(mount), why)
        }));
    }
    folders
}

/// Why a file, or what it links to, lies in one of these folders, if so.
fn lies_in(file: &Path, folders: &[(PathBuf, String)]) -> Option<String> {
    let places = [real(file), real(file.parent().unwrap_or(file))];
    let inside = |folder: &Path| places.iter().any(|place| place.starts_with(real(folder)));
    folders.iter().find(|(folder, _)| inside(folder)).map(|(_, why)| why.clone())
}

/// The shipped settings.
fn built_in() -> Result<Config, ConfigError> {
    let mut config = Config::default();
    config.apply(read::sheet("built-in", &tree_of("built-in", DEFAULT_FILE)?)?, |_| Origin::BuiltIn);
    Ok(config)
}

fn tree_of(name: &str, text: &str) -> Result<Node, Problems> {
    parse(name, text, Format::Toml, Bounds::WRITTEN_BY_HAND)
}

fn apply_text(config: &mut Config, path: &Path, text: &str) -> Result<(), ConfigError> {
    let name: Arc<str> = path.display().to_string().into();
    let sheet = read::sheet(&name, &tree_of(&name, text)?)?;
    config.apply(sheet, |place| Origin::File { path: name.clone(), place });
    Ok(())
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn flag_parts(flag: &str) -> Result<(&'static Key, &str), Problem> {
    let problem = |message: String, hint: String| Problem {
        place: None,
        path: DocPath::root(),
        message,
        hint: Some(hint),
    };
    let Some((path, text)) = flag.split_once('=') else {
        return Err(problem(format!("`{flag}` is not KEY=VALUE"), "for example limits.wall=3s".to_owned()));
    };
    let path = path.trim();
    KEYS.iter().find(|key| key.path == path).map(|key| (key, text)).ok_or_else(|| {
        let known = KEYS.iter().map(|key| key.path.as_str());
        let hint = did_you_mean(path, known, || "`bailiwick config show` lists the keys".to_owned());
        problem(format!("unknown key `{path}`"), hint)
    })
}

fn unknown_variable(name: &str) -> Problem {
    let mut names: Vec<String> = KEYS.iter().map(Key::variable).collect();
    names.extend(OTHER_VARIABLES.iter().map(|name| (*name).to_owned()));
    names.extend(["BAILIWICK_CONFIG".to_owned(), "BAILIWICK_DATA".to_owned()]);
    let hint = did_you_mean(name, names.iter().map(String::as_str), || "unset it".to_owned());
    let message = format!("the environment variable `{name}` sets nothing");
    Problem { place: None, path: DocPath::root(), message, hint: Some(hint) }
}

/// Our own folders and files, and what is in each.
fn own(environment: &Environment, data: Option<&Path>, files: &[PathBuf]) -> Vec<(PathBuf, &'static str)> {
    let mut own = vec![(environment.system_folder.clone(), "configuration")];
    own.extend(environment.config_folder().map(|folder| (folder, "configuration")));
    own.extend(data.map(|folder| (folder.to_owned(), "data")));
    // The working folder's own file is no secret of the operator's.
    let folder_file = environment.working_folder.join(FOLDER_FILE);
    own.extend(files.iter().filter(|file| **file != folder_file).map(|file| (file.clone(), "configuration")));
    own
}

/// A folder that is opened for tools or commands must not show them our own data or configuration.
fn refuse_own_folders(
    environment: &Environment,
    config: &Config,
    data: Option<&Path>,
    files: &[PathBuf],
) -> Result<(), ConfigError> {
    let own = own(environment, data, files);
    let mut problems = Vec::new();
    for key in ["fs.readRoots", "fs.mounts"] {
        let Some(Value::Folders(folders)) = config.get(key).map(|setting| &setting.value) else { continue };
        for folder in folders {
            let opened = real(Path::new(&folder.to_string()));
            let shown = own.iter().find(|(own, _)| {
                let own = real(own);
                own.starts_with(&opened) || opened.starts_with(&own)
            });
            if let Some((own, what)) = shown {
                problems.push(SettingProblem {
                    message: format!("{key}: {folder} and our {what} {} lie in one another", own.display()),
                    hint: "who can read there could read secrets; name a narrower folder".to_owned(),
                });
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(ConfigError::Settings(problems)) }
}
