//! What the operator offers agents: the sandbox that every native tool uses.

use bailiwick_config::Settings;
use bailiwick_policy::{Hints, HostRule};
use bailiwick_sandbox::{Limit, Mount, SandboxError, SandboxSpec, SpecError};
use bailiwick_types::{CallId, CorrelationId, ErrorCode, Risk, Tier};

use super::AgentTool;
use crate::sandboxes::resolve::{Rules, resolve};
use crate::sandboxes::wish::SandboxWish;
use crate::{Origin, Refusal};

/// The most of each stream that is kept for a model, in bytes.
const MOST_AT_ONCE: u64 = 128 * 1024;

/// What the sandboxes of native tools are.
#[derive(Debug, Clone)]
pub struct AgentOffer {
    spec: SandboxSpec,
    /// Opened when a sandbox is made.
    mounts: Vec<Mount>,
    tier: Tier,
    python_image: Option<String>,
    /// Hosts whose addresses may be private.
    private: Vec<HostRule>,
}

impl AgentOffer {
    /// As the settings say; refused where these do not come to a sandbox.
    pub fn of(settings: &Settings) -> Result<Self, Refusal> {
        let wish = wish(settings, AgentTool::RunCommand)?;
        let python = wish_image(settings, AgentTool::RunPython);
        // Whether the host's folders are there is looked at when one is made.
        let looked = SandboxWish { mounts: Vec::new(), ..wish.clone() };
        let rules = Rules::without_mounts(&settings.sandbox);
        let nobody = CorrelationId::from(CallId::from_parts(0, &[0; 10]));
        let spec = resolve(&looked, &rules, Origin::Typed, None, &nobody)?.spec().clone();
        let (tier, private) = (settings.sandbox.floor, settings.sandbox.private.clone());
        Ok(Self { spec, mounts: wish.mounts, tier, python_image: python, private })
    }

    /// The badge of a tool.
    pub fn risk(&self, tool: AgentTool) -> Risk {
        let written = self.mounts.iter().map(|mount| mount.writable);
        tool.risk_of(&self.spec.network, written, self.tier, &self.private)
    }

    /// What clients are told that a tool may do.
    pub fn hints(&self, tool: AgentTool) -> Hints {
        tool.hints_of(&self.spec.network, self.mounts.iter().any(|mount| mount.writable))
    }

    /// What a model should know of the place in which its commands run, in a few words.
    pub fn told(&self) -> String {
        let limits = self.spec.limits;
        let network = match self.spec.network.to_string().as_str() {
            "none" => "there is no network".to_owned(),
            other => format!("network: {other}"),
        };
        let mounts: Vec<String> = self
            .mounts
            .iter()
            .map(|mount| format!("{} ({})", mount.to, if mount.writable { "writable" } else { "read-only" }))
            .collect();
        let mounts = match mounts.as_slice() {
            [] => "no files of the host".to_owned(),
            all => format!("files of the host at {}", all.join(", ")),
        };
        format!(
            "Commands begin in /work, as nobody, behind a wall: {network}, {mounts}, {} of memory, {} a command.",
            Limit::Memory.told(limits.get(Limit::Memory)),
            Limit::Timeout.told(limits.get(Limit::Timeout)),
        )
    }

    /// The image in which Python runs, as a model is told.
    pub fn python_told(&self) -> String {
        match &self.python_image {
            Some(image) => format!("The packages are those of the image `{image}`."),
            None => "The packages are those of the host's own python3.".to_owned(),
        }
    }
}

fn wish_image(settings: &Settings, tool: AgentTool) -> Option<String> {
    let offered = &settings.mcp.sandbox;
    let images = if tool == AgentTool::RunPython {
        [&offered.python_image, &offered.image]
    } else {
        [&offered.image, &offered.image]
    };
    images.into_iter().find(|image| !image.is_empty()).cloned()
}

/// The sandbox that a tool makes. All of it is the operator's word.
pub(super) fn wish(settings: &Settings, tool: AgentTool) -> Result<SandboxWish, Refusal> {
    let offered = &settings.mcp.sandbox;
    let mounts = offered.mounts.iter().map(|text| text.parse::<Mount>()).collect::<Result<Vec<_>, _>>();
    let mounts = mounts.map_err(|error: SpecError| {
        let refusal = Refusal::from(SandboxError::from(error));
        Refusal::new(ErrorCode::InvalidInput, format!("mcp.sandbox.mounts: {}", refusal.message))
    })?;
    let output = MOST_AT_ONCE.min(settings.sandbox.ceilings.output);
    let preset = if offered.preset.is_empty() { &settings.sandbox.preset } else { &offered.preset };
    Ok(SandboxWish {
        image: wish_image(settings, tool),
        network: Some(offered.network.clone()),
        preset: Some(preset.clone()),
        limits: [(Limit::Output, output.to_string())].into(),
        mounts,
        labels: [("made-by".to_owned(), tool.name().to_owned())].into(),
        ..SandboxWish::default()
    })
}
