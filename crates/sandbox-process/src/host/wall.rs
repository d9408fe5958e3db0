//! A jail as the wall of a sandbox with an agent in it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use bailiwick_agent_host::{Account, Attended, Stand, Stood, Wall, label, packs};
use bailiwick_sandbox::{Duplex, SandboxError, SandboxPath, SandboxSpec, Snapshot, Unpacked};
use bailiwick_sys::cgroups::Controller;
use bailiwick_types::SnapshotId;

use super::backend::Inner as Backend;
use super::create::{self, Beside};
use super::jail::Jail;
use super::served::Served;
use super::{ID, lent};

/// A jail, and what belongs to it.
#[derive(Debug)]
pub(crate) struct Jailed {
    backend: Arc<Backend>,
    jail: Jail,
    hand: Option<tokio::sync::Mutex<OwnedFd>>,
    uppers: Vec<OwnedFd>,
    /// Held so that it stays.
    _image: Option<Arc<dyn Unpacked>>,
    _served: Option<Served>,
}

impl Jailed {
    /// A jail that stands, with what it was lent and has handed over.
    pub(crate) fn new(backend: Arc<Backend>, jail: Jail, beside: Beside) -> Self {
        let Beside { image, served, hand, uppers } = beside;
        Self { backend, jail, hand, uppers, _image: image, _served: served }
    }

    /// Where it hands over more.
    pub(crate) const fn hand(&self) -> Option<&tokio::sync::Mutex<OwnedFd>> {
        self.hand.as_ref()
    }
}

impl Wall for Jailed {
    fn backend(&self) -> &str {
        ID
    }

    fn kill(&self) {
        self.jail.kill();
    }

    async fn ended(&self) {
        self.jail.ended().await;
    }

    async fn account(&self) -> Account {
        self.jail.account()
    }

    fn forget_peak(&self) {
        self.jail.forget_peak();
    }

    async fn stand(&self, _: &Attended<Self>, how: Stand) -> Result<Stood, String> {
        if self.backend.home.holds(Controller::Freezer).is_err() {
            return Ok(Stood::ByNobody);
        }
        self.jail.freeze(how == Stand::Still).map_err(|failed| failed.to_string())?;
        Ok(Stood::ByWall)
    }

    async fn connect(&self, attended: &Attended<Self>, port: u16) -> Result<Box<dyn Duplex>, SandboxError> {
        lent::connect(attended, port).await
    }

    fn stays(&self, spec: &SandboxSpec) -> Option<String> {
        create::changes_elsewhere(spec)
            .then(|| "it may have changed its image, or what is over a folder".to_owned())
    }

    async fn snapshot(&self, attended: &Attended<Self>) -> Result<Snapshot, SandboxError> {
        if create::changes_elsewhere(&attended.spec) {
            return Err(create::unpacked_elsewhere());
        }
        let (now, random) = label::random()?;
        packs::pack(attended, &self.backend.snapshots(), SnapshotId::from_parts(now, &random)).await
    }

    fn forget(&self, snapshot: &Snapshot) -> Result<(), SandboxError> {
        packs::forget(&self.backend.snapshots(), snapshot)
    }

    async fn another(&self, spec: SandboxSpec) -> Result<Arc<Attended<Self>>, SandboxError> {
        create::create(&self.backend, spec).await
    }

    fn written_over(&self, attended: &Attended<Self>, to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        let over = attended.spec.overlays.iter().zip(&self.uppers).find(|(overlay, _)| overlay.to == *to);
        let (_, upper) = over.ok_or_else(|| {
            let what = format!("changes at {to}: no overlay is there");
            SandboxError::Unsupported { backend: ID.to_owned(), what }
        })?;
        upper.try_clone().map_err(|error| attended.cannot("look at the changes of", &error))
    }
}
