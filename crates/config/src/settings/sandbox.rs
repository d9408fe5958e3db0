//! The sandbox section, as its consumers take it. What a limit or a network is, is for them to say.

use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_policy::{HostRule, Sourced};
use bailiwick_types::{Tier, did_you_mean, shortened};

use super::each;
use crate::error::{ConfigError, SettingProblem};
use crate::merge::Config;
use crate::value::Value;

/// The backends that there are.
const BACKENDS: &[&str] = &["process", "container", "gvisor", "microvm", "wasm", "remote"];
/// The ways in which gVisor can run programs.
const PLATFORMS: &[&str] = &["systrap", "kvm", "ptrace"];
/// Who may make the machines of the backend `microvm`.
const MONITORS: &[&str] = &["auto", "qemu", "firecracker"];
/// The presets that there are.
pub(super) const PRESETS: &[&str] = &["minimal", "standard", "dev"];
/// The limits that can be required, and the demand that is made only where it is.
const REQUIRABLE: &[&str] = &["memory", "cpu", "disk", "processes", "uid"];
/// The walls that may stand in part. The others are never lenient: without them there is no sandbox.
const LENIENT: &[&str] = &["privilege", "kill"];
/// What can be asked to reach.
const NETWORKS: &[&str] = &["none", "allow", "git", "full", "host"];

/// The sandbox section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The backends that may be used.
    pub backends: Vec<String>,
    /// The weakest wall.
    pub floor: Tier,
    /// The preset of a sandbox that names none.
    pub preset: String,
    /// Limits, and `uid`, that must be held.
    pub require: Vec<String>,
    /// Walls that may stand in part.
    pub accept: Vec<String>,
    /// What may be asked to reach.
    pub network: Vec<String>,
    /// Hosts whose addresses may be private.
    pub private: Vec<HostRule>,
    /// Methods and paths of hosts.
    pub requests: Vec<HostRule>,
    /// Whether each sandbox has an authority of its own.
    pub authority: bool,
    /// Sandboxes that are kept at once.
    pub most: u32,
    /// How long one lives that nobody uses, in milliseconds.
    pub idle_ms: u64,
    /// How long one lives at most, in milliseconds.
    pub absolute_ms: u64,
    /// How much one may use at most.
    pub ceilings: SandboxCeilings,
    /// Where results of probes are kept.
    pub probe_cache: Option<PathBuf>,
    /// The engine of the backend `container`.
    pub container: ContainerSettings,
    /// What the backend `gvisor` is told.
    pub gvisor: GvisorSettings,
    /// What the backend `microvm` is told.
    pub microvm: MicrovmSettings,
    /// How many steps a command in WebAssembly may take, where they are counted.
    pub wasm_fuel: Option<u64>,
    /// What the backend `remote` is told.
    pub remote: RemoteSettings,
    /// Host folders that may be mounted by whoever is not the operator's own user.
    pub mounts: Vec<PathBuf>,
    /// Our own folders and files, which are never mounted.
    pub own: Vec<PathBuf>,
}

/// What the backend `gvisor` is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GvisorSettings {
    /// The program `runsc`.
    pub program: PathBuf,
    /// How it runs programs.
    pub platform: String,
}

/// What the backend `microvm` is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MicrovmSettings {
    /// Who makes machines: `auto`, `qemu`, `firecracker`.
    pub monitor: String,
    /// The program `firecracker`.
    pub firecracker: PathBuf,
    /// The program `qemu-system-x86_64`.
    pub program: PathBuf,
    /// The kernel of machines, or the folder that it is in.
    pub kernel: PathBuf,
    /// Whether machines may be emulated.
    pub emulation: bool,
    /// Where machines that are ready are kept.
    pub cache: Option<PathBuf>,
}

/// What the backend `remote` is told. What is not said is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteSettings {
    /// The address of the server.
    pub url: Option<String>,
    /// The name of the secret that holds its key.
    pub key: Option<String>,
    /// A file of certificates.
    pub ca: Option<PathBuf>,
    /// The backend that is asked for there.
    pub backend: Option<String>,
}

/// How much one sandbox may use at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxCeilings {
    /// Thousandths of a core.
    pub cpu: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of its files.
    pub disk: u64,
    /// Milliseconds of one command.
    pub timeout_ms: u64,
    /// Processes at once.
    pub processes: u32,
    /// Bytes of each stream.
    pub output: u64,
}

/// The engine that containers are made by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContainerSettings {
    /// Its socket; none for the usual ones.
    pub socket: Option<PathBuf>,
    /// The runtime that it is to use; none for its own choice.
    pub runtime: Option<String>,
}

impl ContainerSettings {
    fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let socket = take!(config, "sandbox.container.socket", Text);
        let runtime = take!(config, "sandbox.container.runtime", Text);
        let some = |text: String| (!text.is_empty()).then_some(text);
        let socket = each(some(socket).into_iter().collect(), |text| {
            let path = PathBuf::from(text.strip_prefix("unix://").unwrap_or(&text));
            path.is_absolute().then_some(path).ok_or_else(|| SettingProblem {
                message: format!("`sandbox.container.socket`: `{}` is no path of a socket", shortened(&text)),
                hint: "write an absolute path: /var/run/docker.sock".to_owned(),
            })
        })?;
        let runtime = each(some(runtime).into_iter().collect(), |text| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
            let is_name = text.chars().all(plain) && !text.starts_with('-');
            is_name.then_some(text.clone()).ok_or_else(|| SettingProblem {
                message: format!(
                    "`sandbox.container.runtime`: `{}` is no name of a runtime",
                    shortened(&text)
                ),
                hint: "write it as the engine knows it: runsc".to_owned(),
            })
        })?;
        Ok(Self { socket: socket.into_iter().next(), runtime: runtime.into_iter().next() })
    }
}

impl SandboxSettings {
    pub(super) fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let mounts = take!(config, "fs.mounts", Folders);
        let preset = words("sandbox.preset", vec![take!(config, "sandbox.preset", Text)], PRESETS)?;
        let platform = take!(config, "sandbox.gvisor.platform", Text);
        let platform = words("sandbox.gvisor.platform", vec![platform], PLATFORMS)?;
        let monitor = take!(config, "sandbox.microvm.monitor", Text);
        let monitor = words("sandbox.microvm.monitor", vec![monitor], MONITORS)?;
        Ok(Self {
            backends: words("sandbox.backends", take!(config, "sandbox.backends", Texts), BACKENDS)?,
            floor: take!(config, "sandbox.floor", Tier),
            preset: preset.into_iter().next().unwrap_or_default(),
            require: words("sandbox.require", take!(config, "sandbox.require", Texts), REQUIRABLE)?,
            accept: words("sandbox.accept", take!(config, "sandbox.accept", Texts), LENIENT)?,
            network: words("sandbox.network", take!(config, "sandbox.network", Texts), NETWORKS)?,
            private: rules(take!(config, "sandbox.private", Hosts)),
            requests: rules(take!(config, "sandbox.requests", Hosts)),
            authority: take!(config, "sandbox.authority", Switch),
            most: count(take!(config, "sandbox.most", Count)),
            idle_ms: take!(config, "sandbox.idle", Duration),
            absolute_ms: take!(config, "sandbox.absolute", Duration),
            ceilings: SandboxCeilings {
                cpu: take!(config, "sandbox.ceilings.cpu", Cores),
                memory: take!(config, "sandbox.ceilings.memory", Size),
                disk: take!(config, "sandbox.ceilings.disk", Size),
                timeout_ms: take!(config, "sandbox.ceilings.timeout", Duration),
                processes: count(take!(config, "sandbox.ceilings.processes", Count)),
                output: take!(config, "sandbox.ceilings.output", Size),
            },
            container: ContainerSettings::from_config(config)?,
            gvisor: GvisorSettings {
                program: PathBuf::from(take!(config, "sandbox.gvisor.program", Text)),
                platform: platform.into_iter().next().unwrap_or_default(),
            },
            wasm_fuel: Some(take!(config, "sandbox.wasm.fuel", Count)).filter(|fuel| *fuel > 0),
            remote: RemoteSettings {
                url: said(take!(config, "sandbox.remote.url", Text)),
                key: said(take!(config, "sandbox.remote.key", Text)),
                ca: said(take!(config, "sandbox.remote.ca", Text)).map(PathBuf::from),
                backend: said(take!(config, "sandbox.remote.backend", Text)),
            },
            probe_cache: said(take!(config, "sandbox.probeCache", Text)).map(PathBuf::from),
            microvm: MicrovmSettings {
                monitor: monitor.into_iter().next().unwrap_or_default(),
                firecracker: PathBuf::from(take!(config, "sandbox.microvm.firecracker", Text)),
                program: PathBuf::from(take!(config, "sandbox.microvm.program", Text)),
                kernel: PathBuf::from(take!(config, "sandbox.microvm.kernel", Text)),
                emulation: take!(config, "sandbox.microvm.emulation", Switch),
                cache: said(take!(config, "sandbox.microvm.cache", Text)).map(PathBuf::from),
            },
            own: Vec::new(),
            mounts: mounts.iter().map(|folder| PathBuf::from(folder.to_string())).collect(),
        })
    }
}

/// A text that is not empty.
fn said(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn rules(listed: Vec<Sourced<Arc<HostRule>>>) -> Vec<HostRule> {
    listed.into_iter().map(|rule| HostRule::clone(&rule.value)).collect()
}

/// Words of a closed list.
pub(super) fn words(key: &str, listed: Vec<String>, known: &[&str]) -> Result<Vec<String>, ConfigError> {
    each(listed, |word| {
        if known.contains(&word.as_str()) {
            return Ok(word);
        }
        Err(SettingProblem {
            message: format!("`{key}`: `{}` is not one of {}", shortened(&word), known.join(", ")),
            hint: did_you_mean(&word, known.iter().copied(), || format!("write {}", known.join(", "))),
        })
    })
}
