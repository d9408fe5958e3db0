//! The one place where the process's surroundings are read; everything else gets them as a value.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a process is told by where it runs. Tests make their own.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The working folder.
    pub working_folder: PathBuf,
    /// The folder of the configuration for every user of the machine.
    pub system_folder: PathBuf,
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `$XDG_DATA_HOME`.
    pub data_home: Option<PathBuf>,
    /// `$BAILIWICK_DATA`, where it is not empty.
    pub data: Option<PathBuf>,
    /// `$BAILIWICK_CONFIG`, where it is not empty.
    pub config: Option<PathBuf>,
    /// Every other variable that begins with `BAILIWICK_`, but the key; what is not UTF-8 in a value shows as such.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// Reads the surroundings of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the front door for the environment and the working folder"
    )]
    pub fn of_this_process() -> std::io::Result<Self> {
        let folder = |name: &str| {
            // A relative XDG folder is invalid by its specification and would depend on the working folder.
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| {
                let name = name.into_string().ok()?;
                // This value can be shown, so the key is not in it.
                let apart = ["BAILIWICK_DATA", "BAILIWICK_CONFIG", "BAILIWICK_KEY"];
                let other = name.starts_with("BAILIWICK_") && !apart.contains(&name.as_str());
                other.then(|| (name, value.to_string_lossy().into_owned()))
            })
            .collect();
        Ok(Self {
            working_folder: std::env::current_dir()?,
            system_folder: PathBuf::from("/etc/bailiwick"),
            home: folder("HOME"),
            config_home: folder("XDG_CONFIG_HOME"),
            data_home: folder("XDG_DATA_HOME"),
            data: path("BAILIWICK_DATA"),
            config: path("BAILIWICK_CONFIG"),
            variables,
        })
    }

    /// A variable that the operator named, as it is. Not part of the value above, which can be shown: it may be a secret.
    #[expect(clippy::disallowed_methods, reason = "the front door for the environment")]
    pub fn variable(name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    /// Where the operator's own configuration lives.
    pub fn config_folder(&self) -> Option<PathBuf> {
        let base =
            self.config_home.clone().or_else(|| self.home.as_ref().map(|home| home.join(".config")))?;
        Some(base.join("bailiwick"))
    }

    /// Where store, workspaces, keys and images live.
    pub fn data_folder(&self) -> Option<PathBuf> {
        match &self.data {
            Some(data) => Some(self.working_folder.join(data)),
            None => self.default_data_folder(),
        }
    }

    /// Where they live when nothing else is said.
    pub fn default_data_folder(&self) -> Option<PathBuf> {
        let base = self
            .data_home
            .clone()
            .or_else(|| self.home.as_ref().map(|home| home.join(".local").join("share")))?;
        Some(base.join("bailiwick"))
    }
}
