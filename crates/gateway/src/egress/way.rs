//! What the connections of one sandbox share, and how one of them gets to the world: decided, resolved once, every address
//! checked, and the checked one dialled.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_policy::{Checked, EgressPolicy, EgressTarget, HostName};
use bailiwick_types::{Denial, DenialReason, Refused};
use http::HeaderValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::authority::Authority;
use super::ledger::Ledger;
use super::line::Line;
use super::names::Names;
use crate::net::{Net, SealedSet};

/// How many who find no turn are told so at the same time.
pub(super) const MOST_GOODBYES: usize = 32;

/// A sandbox may have one for so many that are left.
const LEFT_FOR_EACH: usize = 4;

/// What a connection takes of memory, at most: two buffers, and what belongs to its tasks.
const BYTES_OF_A_CONNECTION: u64 = 32 << 10;

/// The bounds of sandboxes' connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressBounds {
    /// Connections of one sandbox at once; one more is closed. A sandbox gets no more when it has a quarter of those that are
    /// left for all: so one that is made later finds some, whatever the others hold.
    pub connections: usize,
    /// Connections of all sandboxes at once.
    pub in_all: usize,
    /// Names that have an address inside.
    pub names: usize,
    /// How large the head of a request or answer may be.
    pub head_bytes: usize,
    /// How long a program may take for its first words: a head, a greeting.
    pub head: Duration,
    /// How long it may take to look a name up and connect.
    pub connect: Duration,
    /// How long a connection may stand still.
    pub idle: Duration,
    /// How long a connection waits for another request.
    pub keep_alive: Duration,
}

impl EgressBounds {
    /// What holds where nothing else is said.
    pub const SHIPPED: Self = Self {
        connections: 2048,
        in_all: 8192,
        names: 8192,
        head_bytes: 32 * 1024,
        head: Duration::from_secs(15),
        connect: Duration::from_secs(15),
        idle: Duration::from_mins(5),
        keep_alive: Duration::from_mins(1),
    };

    /// The same within what the machine has: connections take a quarter of the descriptors, two each, and a 32nd of the
    /// memory. The server has the rest.
    #[must_use]
    pub fn within(self, descriptors: u64, memory: Option<u64>) -> Self {
        let by_memory = memory.map_or(u64::MAX, |memory| memory / 32 / BYTES_OF_A_CONNECTION);
        let most = usize::try_from((descriptors / 8).min(by_memory)).unwrap_or(usize::MAX).max(1);
        Self { in_all: self.in_all.min(most), ..self }
    }
}

impl Default for EgressBounds {
    fn default() -> Self {
        Self::SHIPPED
    }
}

/// What all sandboxes share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Connections of all of them.
    pub(super) turns: Arc<Semaphore>,
    /// Those beyond the turns who are told so at once; others are closed without a word.
    pub(super) goodbyes: Semaphore,
}

impl Shared {
    pub(super) fn new(bounds: &EgressBounds) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(bounds.in_all.min(Semaphore::MAX_PERMITS))),
            goodbyes: Semaphore::new(MOST_GOODBYES),
        }
    }
}

/// A connection's turn.
#[derive(Debug)]
pub(super) struct Turn {
    _of_sandbox: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
    _counted: Counted,
}

/// One connection, as it is counted.
#[derive(Debug)]
struct Counted;

impl Counted {
    fn new() -> Self {
        metrics::gauge!("bailiwick_egress_connections").increment(1.0);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics::gauge!("bailiwick_egress_connections").decrement(1.0);
    }
}

/// What the connections of one sandbox share.
pub(super) struct Way {
    pub(super) net: Arc<Net>,
    pub(super) policy: EgressPolicy,
    pub(super) bounds: EgressBounds,
    pub(super) names: Names,
    pub(super) ledger: Ledger,
    pub(super) turns: Arc<Semaphore>,
    /// What the sandboxes share.
    pub(super) shared: Arc<Shared>,
    pub(super) authority: Option<Authority>,
    pub(super) sealed: Arc<SealedSet>,
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum Unreached {
    /// Policy said no.
    Denied(Box<Denial>),
    /// The world did not give it.
    Failed(Refused),
}

impl From<Box<Denial>> for Unreached {
    fn from(denial: Box<Denial>) -> Self {
        Self::Denied(denial)
    }
}

impl From<Refused> for Unreached {
    fn from(refused: Refused) -> Self {
        Self::Failed(refused)
    }
}

/// What a connection is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// TLS from end to end, or to us.
    Tunnel,
    /// Requests in the clear.
    Requests,
}

/// How a request names its target on a connection.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// By its path.
    Origin,
    /// By all of its URL: to the operator's proxy, with what that wants to see.
    Absolute(Option<HeaderValue>),
}

/// A connection to a host.
pub(super) struct Opened {
    pub(super) line: Line,
    pub(super) form: Form,
}

impl Way {
    /// The turn of one more connection, if there is one.
    pub(super) fn turn(&self) -> Option<Turn> {
        let of_sandbox = self.turns.clone().try_acquire_owned().ok()?;
        let most = self.bounds.connections.min(Semaphore::MAX_PERMITS);
        let used = most.saturating_sub(self.turns.available_permits());
        if used > 1 && used > self.shared.turns.available_permits() / LEFT_FOR_EACH {
            return None;
        }
        let of_all = self.shared.turns.clone().try_acquire_owned().ok()?;
        Some(Turn { _of_sandbox: of_sandbox, _of_all: of_all, _counted: Counted::new() })
    }

    /// Writes a refusal down, without any sealed value.
    pub(super) fn refused(&self, mut denial: Denial) {
        if !self.sealed.is_empty() {
            denial.asked = self.sealed.cleaned_text(&denial.asked);
        }
        self.ledger.refused(denial);
    }

    /// Connects to a host that policy said yes to.
    pub(super) async fn open(
        &self,
        target: &Checked<EgressTarget>,
        purpose: Purpose,
    ) -> Result<Opened, Unreached> {
        // A name is looked up on the way, so it tells whoever serves names what it is made of.
        if self.sealed.finds_value(target.get().host().to_string().as_bytes()) {
            return Err(self.policy.refuse(target.get().to_string(), DenialReason::SealedValue).into());
        }
        let until = Instant::now() + self.bounds.connect;
        let opening = async {
            let Some(proxy) = self.net.operators_proxy() else {
                let addresses = self.addresses(target).await?;
                let authority = target.get().to_string();
                let stream = self.net.dial_one_of(&authority, addresses, until).await?;
                let stream = stream.ok_or_else(|| self.too_slow(target.get()))?;
                return Ok(Opened { line: Line::tcp(stream), form: Form::Origin });
            };
            let mut stream = self.net.dial_operators_proxy(proxy).await?;
            let form = match purpose {
                Purpose::Requests => Form::Absolute(proxy.authorization()),
                Purpose::Tunnel => {
                    proxy.tunnel(&mut stream, &target.get().to_string()).await?;
                    Form::Origin
                }
            };
            Ok(Opened { line: Line::tcp(stream), form })
        };
        timeout_at(until, opening).await.unwrap_or_else(|_| Err(self.too_slow(target.get()).into()))
    }

    /// Connects to a host and speaks TLS there, for requests.
    pub(super) async fn open_tls(&self, target: &Checked<EgressTarget>) -> Result<Opened, Unreached> {
        let opened = self.open(target, Purpose::Tunnel).await?;
        let host = match target.get().host() {
            HostName::Domain(name) => name.clone(),
            HostName::Address(address) => address.to_string(),
        };
        let speaking = self.net.tls_for_http1(&host, opened.line.into_one());
        let stream = tokio::time::timeout(self.bounds.connect, speaking)
            .await
            .map_err(|_| self.too_slow(target.get()))??;
        Ok(Opened { line: Line::new(stream), form: Form::Origin })
    }

    /// The addresses a connection may end at. One bad address among them refuses them all.
    async fn addresses(
        &self,
        target: &Checked<EgressTarget>,
    ) -> Result<Vec<Checked<std::net::SocketAddr>>, Unreached> {
        let found: Vec<IpAddr> = match target.get().host() {
            HostName::Address(address) => vec![*address],
            HostName::Domain(name) => self.net.addresses_of(name).await?,
        };
        let checked = found.into_iter().map(|address| self.policy.address(target, address));
        checked.collect::<Result<_, _>>().map_err(Unreached::Denied)
    }

    fn too_slow(&self, target: &EgressTarget) -> Refused {
        let limit = self.bounds.connect.as_millis();
        let message = format!("no connection to {target} within the {limit} ms it may take");
        Refused::failed(bailiwick_types::ErrorCode::NetFailed, DenialReason::Timeout.word(), message)
    }
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Way").field("scope", self.policy.scope()).finish_non_exhaustive()
    }
}
