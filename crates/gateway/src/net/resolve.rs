//! Names to addresses, once. Every address of an answer is judged by whoever asked; nothing here judges.
//!
//! A name is looked up at most once in a call: the first answer holds for all its requests and redirects, and each
//! of them is judged by all of that answer again. So a name that answers differently a moment later changes nothing.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;
use hickory_resolver::{Resolver, TokioResolver};
use tokio::sync::OnceCell;

/// How long one try to ask a name server lasts.
const ONE_TRY: Duration = Duration::from_secs(2);

/// A look-up to come.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, ResolveFailed>> + Send + 'a>>;

/// Why a name has no address, in words for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResolveFailed(pub String);

/// Somebody who knows the addresses of names.
pub trait Resolve: Send + Sync {
    /// All addresses of a name, v4 and v6. The name is whole: nothing may be added to it.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;
}

/// The machine's own way to resolve: its hosts file, then its name servers or the operator's. Nothing is kept.
#[derive(Default)]
pub struct SystemResolve {
    nameservers: Vec<SocketAddr>,
    resolver: OnceCell<TokioResolver>,
}

impl SystemResolve {
    /// With these name servers instead of the machine's; with none, the machine's.
    pub fn new(nameservers: Vec<SocketAddr>) -> Self {
        Self { nameservers, resolver: OnceCell::new() }
    }

    fn build(&self) -> Result<TokioResolver, ResolveFailed> {
        let failed = |error: &dyn std::fmt::Display| ResolveFailed(format!("no name server to ask: {error}"));
        let provider = TokioRuntimeProvider::default();
        let mut builder = if self.nameservers.is_empty() {
            Resolver::builder(provider).map_err(|error| failed(&error))?
        } else {
            let servers = self.nameservers.iter().map(|server| {
                let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
                    connection.port = server.port();
                    connection
                });
                NameServerConfig::new(server.ip(), true, connections.into())
            });
            Resolver::builder_with_config(ResolverConfig::from_name_servers(servers.collect()), provider)
        };
        let options = builder.options_mut();
        options.use_hosts_file = ResolveHosts::Always;
        options.cache_size = 0;
        options.timeout = ONE_TRY;
        options.attempts = 2;
        builder.build().map_err(|error| failed(&error))
    }
}

impl Resolve for SystemResolve {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let resolver = self.resolver.get_or_try_init(|| async { self.build() }).await?;
            let no_name = |_| ResolveFailed(format!("`{name}` is not a name that can be looked up"));
            let mut whole = Name::from_ascii(name).map_err(no_name)?;
            // A name with its final dot gets no search domain behind it.
            whole.set_fqdn(true);
            let found = resolver.lookup_ip(whole).await.map_err(|error| {
                // The resolver's own words for these two are its data structures.
                ResolveFailed(if error.is_nx_domain() {
                    format!("there is no host called `{name}`")
                } else if error.is_no_records_found() {
                    format!("`{name}` has no address")
                } else {
                    format!("`{name}` could not be looked up: {error}")
                })
            })?;
            Ok(found.iter().collect())
        })
    }
}

impl std::fmt::Debug for SystemResolve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemResolve").field("nameservers", &self.nameservers).finish_non_exhaustive()
    }
}

/// The answers of one call.
#[derive(Default)]
pub(super) struct Lookups {
    known: Mutex<HashMap<String, Arc<OnceCell<Vec<IpAddr>>>>>,
}

impl Lookups {
    /// All addresses of a name, asked for once.
    pub(super) async fn of(&self, name: &str, resolve: &dyn Resolve) -> Result<Vec<IpAddr>, ResolveFailed> {
        // Loopback's own names are this machine by definition, whatever a name server would say.
        if name == "localhost" || name.ends_with(".localhost") {
            return Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]);
        }
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(name.to_owned()).or_default().clone()
        };
        let found = cell
            .get_or_try_init(|| async {
                let found = resolve.resolve(name).await?;
                if found.is_empty() {
                    return Err(ResolveFailed(format!("`{name}` has no address")));
                }
                Ok(found)
            })
            .await?;
        Ok(found.clone())
    }
}
