//! From the machine to settings: which files are read, in which order, and which are not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_document::{Bounds, Format, Place, Problem, Problems, parse};
use bailiwick_types::closest;

use crate::environment::Environment;
use crate::error::ConfigError;
use crate::keys::{KEYS, Key};
use crate::merge::{Config, Origin};
use crate::settings::Settings;
use crate::trust::Trust;
use crate::{files, narrow, read};

/// The documented default that is part of the program.
pub const DEFAULT_FILE: &str = include_str!("default.toml");

/// What a folder's own file is called.
pub const FOLDER_FILE: &str = "bailiwick.toml";

/// Variables that are not keys.
const OTHER_VARIABLES: &[&str] = &[
    "BAILIWICK_CONFIG",
    "BAILIWICK_DATA",
    "BAILIWICK_SERVER",
    "BAILIWICK_KEY",
    "BAILIWICK_LOG",
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
}

/// Reads every layer of settings.
pub fn load(environment: &Environment, request: &Request) -> Result<Loaded, ConfigError> {
    let data_folder = request
        .data
        .as_ref()
        .map(|data| environment.working_folder.join(data))
        .or_else(|| environment.data_folder());
    let mut loading = Loading { config: built_in()?, files: Vec::new(), notes: Vec::new() };
    let named = request
        .config
        .clone()
        .or_else(|| environment.variables.get("BAILIWICK_CONFIG").map(PathBuf::from))
        .map(|path| environment.working_folder.join(path));
    if let Some(path) = named {
        if !loading.add_file(&path)? {
            return Err(ConfigError::Missing { path });
        }
    } else {
        loading.add_file(&environment.system_folder.join(FOLDER_FILE))?;
        if let Some(folder) = environment.config_folder() {
            loading.add_file(&folder.join(FOLDER_FILE))?;
        }
    }
    loading.add_folder_file(environment, data_folder.as_deref())?;
    loading.add_variables(environment)?;
    loading.add_flags(&request.set)?;
    let Loading { config, files, mut notes } = loading;
    for (key, setting) in config.entries() {
        if let crate::keys::Used::WaitsFor(part) = key.used
            && setting.origin != Origin::BuiltIn
        {
            notes.push(format!(
                "{} ({}) is read, but has no effect before {part} exists",
                key.path, setting.origin
            ));
        }
    }
    let settings = Settings::from_config(&config)?;
    refuse_own_folders(&settings, data_folder.as_deref(), environment.config_folder().as_deref())?;
    Ok(Loaded { config, settings, data_folder, files, notes })
}

/// The shipped settings.
fn built_in() -> Result<Config, ConfigError> {
    let mut config = Config::default();
    let tree = parse("built-in", DEFAULT_FILE, Format::Toml, Bounds::WRITTEN_BY_HAND)?;
    config.apply(read::sheet("built-in", &tree)?, |_| Origin::BuiltIn);
    Ok(config)
}

struct Loading {
    config: Config,
    files: Vec<PathBuf>,
    notes: Vec<String>,
}

impl Loading {
    /// Lays a file of the operator on top; says whether there was one.
    fn add_file(&mut self, path: &Path) -> Result<bool, ConfigError> {
        let Some(text) = files::read_config(path)? else { return Ok(false) };
        self.apply_text(path, &text)?;
        Ok(true)
    }

    fn apply_text(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let name: Arc<str> = path.display().to_string().into();
        let tree = parse(&name, text, Format::Toml, Bounds::WRITTEN_BY_HAND)?;
        let sheet = read::sheet(&name, &tree)?;
        self.config.apply(sheet, |place| Origin::File { path: name.clone(), place });
        self.files.push(path.to_owned());
        Ok(())
    }

    /// The working folder's own file: narrows, or was trusted, or is an error.
    fn add_folder_file(&mut self, environment: &Environment, data: Option<&Path>) -> Result<(), ConfigError> {
        let path = environment.working_folder.join(FOLDER_FILE);
        if self.files.contains(&path) {
            return Ok(());
        }
        if let Some(why) = self.not_configuration(&environment.working_folder, data) {
            if path.symlink_metadata().is_ok() {
                self.notes.push(format!("{} is not read as configuration: {why}", path.display()));
            }
            return Ok(());
        }
        let Some(text) = files::read_config(&path)? else { return Ok(()) };
        let trusted = match data {
            Some(folder) => Trust::open(folder)?.covers(&path, &text),
            None => false,
        };
        if trusted {
            return self.apply_text(&path, &text);
        }
        let name = path.display().to_string();
        let tree = parse(&name, &text, Format::Toml, Bounds::WRITTEN_BY_HAND)?;
        narrow::apply(&mut self.config, read::sheet(&name, &tree)?)?;
        self.files.push(path);
        Ok(())
    }

    /// Why no file of a folder may be read as configuration, if so: a guest may have written it.
    fn not_configuration(&self, folder: &Path, data: Option<&Path>) -> Option<String> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real(folder);
        if let Some(data) = data
            && folder.starts_with(real(data))
        {
            return Some("it lies in the data folder, where tools write".to_owned());
        }
        let mounts = self.config.get("fs.mounts").map(|setting| setting.value.clone());
        if let Some(crate::Value::Folders(mounts)) = mounts {
            let inside = mounts
                .iter()
                .map(ToString::to_string)
                .find(|mount| folder.starts_with(real(Path::new(mount))));
            return inside.map(|mount| format!("it lies under the mount {mount}, where commands write"));
        }
        None
    }

    fn add_variables(&mut self, environment: &Environment) -> Result<(), ConfigError> {
        for (name, text) in &environment.variables {
            if OTHER_VARIABLES.contains(&name.as_str()) {
                continue;
            }
            let Some(key) = KEYS.iter().find(|key| key.variable() == *name) else {
                return Err(unknown_variable(name).into());
            };
            let value = read::single(&format!("${name}"), key, text)?;
            self.config.set(key, value, Origin::Variable(name.clone()));
        }
        Ok(())
    }

    fn add_flags(&mut self, flags: &[String]) -> Result<(), ConfigError> {
        for flag in flags {
            let Some((path, text)) = flag.split_once('=') else {
                let problem = Problem::at(Place::START, format!("`{flag}` is not KEY=VALUE"));
                return Err(Problems::one("--set", problem.with_hint("for example limits.wall=3s")).into());
            };
            let Some(key) = find(path.trim()) else {
                let near = closest(path, KEYS.iter().map(|key| key.path.as_str()));
                let hint = near.map_or_else(
                    || "`bailiwick config show` lists the keys".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                let problem = Problem::at(Place::START, format!("unknown key `{path}`")).with_hint(hint);
                return Err(Problems::one("--set", problem).into());
            };
            self.config.set(key, read::single("--set", key, text)?, Origin::Flag);
        }
        Ok(())
    }
}

fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

fn unknown_variable(name: &str) -> Problems {
    let mut names: Vec<String> = KEYS.iter().map(Key::variable).collect();
    names.extend(OTHER_VARIABLES.iter().map(|name| (*name).to_owned()));
    let near = closest(name, names.iter().map(String::as_str));
    let hint = near.map_or_else(|| "unset it".to_owned(), |near| format!("did you mean `{near}`?"));
    let problem =
        Problem::at(Place::START, format!("the environment variable `{name}` sets nothing")).with_hint(hint);
    Problems::one("environment", problem)
}

/// A read root must not show a tool our own data or configuration.
fn refuse_own_folders(
    settings: &Settings,
    data: Option<&Path>,
    config: Option<&Path>,
) -> Result<(), ConfigError> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for root in &settings.baseline.read_roots {
        let root = real(Path::new(&root.to_string()));
        for (own, what) in [(data, "data"), (config, "configuration")] {
            let Some(own) = own.map(real) else { continue };
            if own.starts_with(&root) || root.starts_with(&own) {
                return Err(ConfigError::Setting {
                    message: format!(
                        "fs.readRoots: {} and the {what} folder {} lie in one another",
                        root.display(),
                        own.display()
                    ),
                    hint: "a tool that can read there could read secrets; name a narrower folder".to_owned(),
                });
            }
        }
    }
    Ok(())
}
