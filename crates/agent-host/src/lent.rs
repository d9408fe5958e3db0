//! What a sandbox is lent before it is made: an image for its root, and a way out.

use std::sync::Arc;

use bailiwick_sandbox::{Egress, Image, Images, Network, Outlet, SandboxError, SandboxSpec, Unpacked};
use bailiwick_types::{Receipt, Tier, Wallpart};

/// What a sandbox is lent.
#[derive(Debug, Default)]
pub struct Lent {
    /// The image that its root is made of; none for the host's own programs.
    pub image: Option<Arc<dyn Unpacked>>,
    /// Its way out; none where it has no network, or the host's own.
    pub outlet: Option<Arc<dyn Outlet>>,
}

impl Lent {
    /// What a spec asks for, of whoever has it.
    pub async fn find(
        spec: &SandboxSpec,
        images: Option<&Arc<dyn Images>>,
        egress: Option<&Arc<dyn Egress>>,
    ) -> Result<Self, SandboxError> {
        let mut lent = Self::default();
        if let (Image::Named(name), Some(images)) = (&spec.image, images) {
            lent.image = Some(images.find(name).await?);
        }
        if let (Network::Allow(_) | Network::Git | Network::Full, Some(egress)) = (&spec.network, egress) {
            lent.outlet = Some(egress.outlet(spec)?);
        }
        Ok(lent)
    }

    /// The receipt of a sandbox that was lent this.
    pub fn receipt(&self, tier: Tier, spec: &SandboxSpec, report: &[Wallpart]) -> Receipt {
        let mut receipt = bailiwick_sandbox::receipt(tier, spec, report);
        if let Some(outlet) = &self.outlet {
            // The demand itself is in the report already; what stands behind it is told, too.
            receipt.walls.extend(outlet.walls().into_iter().skip(1));
        }
        receipt
    }

    /// The variables of its image.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.image.as_ref().map_or_else(Vec::new, |image| image.variables().to_vec())
    }
}
