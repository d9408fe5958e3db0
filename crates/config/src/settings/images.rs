//! The images section, as its consumers take it.

use std::path::PathBuf;

use bailiwick_types::shortened;

use super::each;
use crate::error::{ConfigError, SettingProblem};
use crate::merge::Config;
use crate::value::Value;

/// The images section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSettings {
    /// Registries that are spoken to without TLS: `host` or `host:port`.
    pub insecure: Vec<String>,
    /// Bytes that all images together may take.
    pub most: u64,
    /// The docker config of the operator's own user, whose credentials are used.
    pub docker_config: Option<PathBuf>,
}

impl ImageSettings {
    pub(super) fn from_config(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self {
            insecure: registries(take!(config, "images.insecure", Texts))?,
            most: take!(config, "images.most", Size),
            docker_config: None,
        })
    }
}

fn registries(listed: Vec<String>) -> Result<Vec<String>, ConfigError> {
    each(listed, |registry| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
        if !registry.is_empty() && registry.chars().all(plain) {
            return Ok(registry);
        }
        Err(SettingProblem {
            message: format!("`images.insecure`: `{}` is no registry", shortened(&registry)),
            hint: "write a host, with its port where it has one: registry.example:5000".to_owned(),
        })
    })
}
