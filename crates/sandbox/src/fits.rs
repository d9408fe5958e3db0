//! What backends refuse in the same way, before anything is made: images that nobody finds for them, snapshots of others, and
//! networks that nobody decides about.

use crate::{Image, Network, SandboxError, SandboxSpec};

/// What a backend was given, and what it has in no case.
#[derive(Debug, Clone, Copy)]
pub struct Fits<'a> {
    /// Which.
    pub backend: &'a str,
    /// Whether there are images.
    pub has_images: bool,
    /// Whether somebody makes ways out.
    pub has_egress: bool,
    /// Why it has no overlays; none where it has.
    pub no_overlays: Option<&'a str>,
    /// Why nothing in it gets the host's own network; none where that can be.
    pub no_host_network: Option<&'a str>,
}

impl Fits<'_> {
    /// Refuses a spec that asks for something else.
    pub fn check(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        let backend = self.backend.to_owned();
        let unsupported = |what: String| Err(SandboxError::Unsupported { backend: backend.clone(), what });
        if let (Image::Named(name), false) = (&spec.image, self.has_images) {
            return unsupported(format!("the image `{name}`: it runs the host's own programs only"));
        }
        if let (false, Some(why)) = (spec.overlays.is_empty(), self.no_overlays) {
            return unsupported(format!("overlays: {why}"));
        }
        if let Some(snapshot) = spec.snapshot.as_ref().filter(|snapshot| snapshot.backend != backend) {
            return unsupported(format!("a snapshot of the backend `{}`", snapshot.backend));
        }
        match (&spec.network, self.no_host_network) {
            (Network::None, _) | (Network::Host, None) => Ok(()),
            (Network::Host, Some(why)) => unsupported(format!("the host's own network: {why}")),
            (Network::Allow(_) | Network::Git | Network::Full, _) if self.has_egress => Ok(()),
            (mode @ (Network::Allow(_) | Network::Git | Network::Full), no_host) => {
                let fix = match no_host {
                    Some(_) => "run it with no network, which is the default",
                    None => {
                        "run it with no network (the default), or with the host's own if the operator allows that"
                    }
                };
                Err(SandboxError::Unenforceable {
                    backend,
                    unheld: vec![format!("network: nothing here lets only some hosts through ({mode:?})")],
                    fix: fix.to_owned(),
                })
            }
        }
    }
}
