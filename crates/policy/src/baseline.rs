//! The operator's side of policy: the lowest layer, the profiles on offer, and the ceilings over everything.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick_types::{Limits, ProfileName, RiskLevel};

use crate::layer::Sourced;
use crate::{Conflicts, GuestPath, HostRule, Layer, NetworkMode, resolve};

/// What the operator's file says. It is an input: it can say anything, and [`crate::resolve`] checks it.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The lowest layer.
    pub layer: Arc<Layer>,
    /// The profiles a tool may name.
    pub profiles: BTreeMap<ProfileName, Profile>,
    /// The limits of a call for which nothing else is said.
    pub limits: Limits,
    /// What no layer may go beyond.
    pub ceilings: Ceilings,
    /// Hosts never to be reached, whatever a layer says.
    pub never: Vec<Sourced<Arc<HostRule>>>,
    /// Metadata addresses and own listeners that may be reached all the same.
    pub reserved: Vec<Sourced<Arc<HostRule>>>,
    /// Where Bailiwick itself listens. An unspecified address stands for every address that is not public; who
    /// binds one adds the machine's public addresses too.
    pub own_listeners: Vec<SocketAddr>,
    /// Folders outside the workspace that may be read.
    pub read_roots: Vec<GuestPath>,
}

/// A named layer of the operator's file.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The profile that is applied before it.
    pub extends: Option<Sourced<ProfileName>>,
    /// What it says.
    pub layer: Arc<Layer>,
}

/// What no layer may go beyond.
#[derive(Debug, Clone)]
pub struct Ceilings {
    /// The most that each limit may be.
    pub limits: Limits,
    /// The highest risk that may be published.
    pub risk: RiskLevel,
    /// The network modes a layer may choose.
    pub networks: Vec<NetworkMode>,
}

impl Baseline {
    /// What holds when the operator says nothing: everything that reaches out is closed, every tool may ask for
    /// it in its overrides, and the badge shows it.
    pub fn shipped() -> Self {
        Self {
            layer: Arc::new(Layer::shipped_baseline()),
            profiles: BTreeMap::new(),
            limits: Limits::shipped_defaults(),
            ceilings: Ceilings {
                limits: Limits::shipped_ceilings(),
                risk: RiskLevel::L5,
                networks: NetworkMode::WORDS.into_iter().map(|(_, mode)| mode).collect(),
            },
            never: Vec::new(),
            reserved: Vec::new(),
            own_listeners: Vec::new(),
            read_roots: Vec::new(),
        }
    }

    /// Whether every profile can be resolved by itself: its chain is whole, and nothing in it contradicts.
    pub fn check_profiles(self: &Arc<Self>) -> Result<(), Conflicts> {
        self.profiles.keys().try_for_each(|name| resolve(self, Some(name), None).map(|_| ()))
    }
}
