//! The mcp section: which native tools agents are offered, and what the sandboxes of these may do. What an image, a network or
//! a mount is, is for its consumers to say.

use std::collections::BTreeSet;

use bailiwick_types::{NATIVE_TOOLS, NATIVE_TOOLS_THAT_RUN, did_you_mean, shortened};

use super::each;
use super::sandbox::{PRESETS, words};
use crate::error::{ConfigError, SettingProblem};
use crate::merge::Config;
use crate::value::Value;

/// The mcp section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mcp {
    /// Native tools that are switched on, each once.
    pub tools: Vec<String>,
    /// Native tools whose calls always wait for a person, switched on or not.
    pub ask: Vec<String>,
    /// The sandboxes that native tools make.
    pub sandbox: AgentSandboxes,
}

/// What the sandboxes of native tools are: an agent chooses none of this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSandboxes {
    /// The image; the host's own programs where it is empty.
    pub image: String,
    /// The image of Python; that of all others where it is empty.
    pub python_image: String,
    /// What they reach, as `--net` takes it.
    pub network: String,
    /// The preset of their limits; that of all sandboxes where it is empty.
    pub preset: String,
    /// What of the host is in them, as `--mount` takes it.
    pub mounts: Vec<String>,
    /// How many one caller keeps at once.
    pub most: u32,
}

impl Mcp {
    pub(super) fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let preset = take!(config, "mcp.sandbox.preset", Text);
        if !preset.is_empty() {
            words("mcp.sandbox.preset", vec![preset.clone()], PRESETS)?;
        }
        Ok(Self {
            tools: native_tools("mcp.tools", take!(config, "mcp.tools", Texts))?,
            ask: asked_for(native_tools("mcp.ask", take!(config, "mcp.ask", Texts))?)?,
            sandbox: AgentSandboxes {
                image: take!(config, "mcp.sandbox.image", Text),
                python_image: take!(config, "mcp.python.image", Text),
                network: take!(config, "mcp.sandbox.network", Text),
                preset,
                mounts: take!(config, "mcp.sandbox.mounts", Texts),
                most: u32::try_from(take!(config, "mcp.sandbox.most", Count)).unwrap_or(u32::MAX),
            },
        })
    }
}

/// Names of native tools, each once.
fn native_tools(key: &str, listed: Vec<String>) -> Result<Vec<String>, ConfigError> {
    let mut names = each(listed, |name| {
        if NATIVE_TOOLS.contains(&name.as_str()) {
            return Ok(name);
        }
        let known = || format!("there are {}", NATIVE_TOOLS.join(", "));
        Err(SettingProblem {
            message: format!("`{key}`: `{}` is no native tool", shortened(&name)),
            hint: did_you_mean(&name, NATIVE_TOOLS.iter().copied(), known),
        })
    })?;
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Ok(names)
}

/// Native tools whose calls wait for a person: nobody is asked about what runs nothing, so that is not promised.
fn asked_for(names: Vec<String>) -> Result<Vec<String>, ConfigError> {
    each(names, |name| {
        if NATIVE_TOOLS_THAT_RUN.contains(&name.as_str()) {
            return Ok(name);
        }
        Err(SettingProblem {
            message: format!("`mcp.ask`: `{name}` runs nothing, so nobody would be asked"),
            hint: "leave it out, or leave it out of `mcp.tools` to have it off".to_owned(),
        })
    })
}
