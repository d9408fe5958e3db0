//! The operator's file, `bailiwick.toml`: which keys there are, where each value came from, and what a folder's
//! own file may say.
//!
//! One table ([`KEYS`]) names every key with its kind, its meaning and how a value of it may be narrowed. The
//! shipped default is a documented file of the same form inside the program. Settings are layers, the later wins:
//! built-in, `/etc/bailiwick/`, `~/.config/bailiwick/`, `BAILIWICK_*`, `--set`. A `./bailiwick.toml` comes from
//! whoever wrote the folder, so it may only narrow until [`Trust`] knows its hash.
//!
//! What this crate must never do: take a value from a folder that widens anything; read a file under a workspace
//! or a mount as configuration; guess at an unknown key.
//!
//! Start reading at [`load`].

mod environment;
mod error;
pub mod files;
mod keys;
mod load;
mod merge;
mod narrow;
mod read;
mod settings;
mod trust;
mod value;

pub use environment::Environment;
pub use error::{ConfigError, SettingProblem};
pub use keys::{KEYS, Key, Kind, Narrowing, Used};
pub use load::{DEFAULT_FILE, FOLDER_FILE, FolderFile, Loaded, Request, load};
pub use merge::{Config, Origin, Setting};
pub use settings::{
    AgentSandboxes, Approvals, Audit, ContainerSettings, Fetch, GvisorSettings, ImageSettings, JwksPlace,
    Jwt, Mcp, MicrovmSettings, Notify, RemoteSettings, SandboxCeilings, SandboxSettings, Server, Settings,
    TlsFiles, Witness,
};
pub use trust::{Trust, Trusted};
pub use value::Value;

#[cfg(test)]
mod tests;
