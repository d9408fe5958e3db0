//! Run code of AI agents behind walls.
//!
//! A [`Runtime`] runs JavaScript and TypeScript, each call in a process of its own that is made for it and ends with
//! it. What the code may do is an [`EffectivePolicy`](policy::EffectivePolicy); what it did is a
//! [`CallReport`](types::CallReport).
//!
//! Cells are made by starting the program again, so `main` begins with one line:
//!
//! ```no_run
//! use bailiwick::{Call, Runtime};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     bailiwick::enter();
//!     let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
//!     tokio.block_on(async {
//!         let runtime = Runtime::builder().build().await?;
//!         let call = Call::body("return a + b").argument("a", 40).argument("b", 2);
//!         let report = runtime.run(call).await?;
//!         assert_eq!(report.value(), &serde_json::json!(42));
//!         Ok(())
//!     })
//! }
//! ```
//!
//! Async outside, plain inside: the future of a call can be dropped at any time, and its cell is killed.
//!
//! # Walls of your own
//!
//! Commands run in sandboxes that a [`Backend`](sandbox::Backend) makes. Those of Bailiwick are in the crate `bailiwick-backends`; one of
//! your own implements the trait, and is selected among [`Backends`](sandbox::Backends) by what it was seen to hold:
//!
//! ```
//! use std::sync::Arc;
//!
//! use bailiwick::sandbox::{Backend, Backends, Doing, Probe, Sandbox, SandboxError, SandboxSpec, Snapshot};
//! use bailiwick::types::{ErrorCode, Tier};
//!
//! /// Sandboxes on a cluster, which is not there yet.
//! #[derive(Debug)]
//! struct Cluster;
//!
//! impl Backend for Cluster {
//!     fn id(&self) -> &str {
//!         "cluster"
//!     }
//!     fn tier(&self) -> Tier {
//!         Tier::MicroVm
//!     }
//!     fn priority(&self) -> u32 {
//!         20
//!     }
//!     fn probe(&self) -> Doing<'_, Probe> {
//!         // Makes a sandbox, looks at its walls from inside and outside, and ends it. Nothing is claimed that was not seen.
//!         let fix = Some("start the cluster".to_owned());
//!         Box::pin(async { Probe::unusable("the cluster does not answer".to_owned(), fix, Vec::new()) })
//!     }
//!     fn can_run(&self, _spec: &SandboxSpec) -> Result<(), SandboxError> {
//!         Ok(())
//!     }
//!     fn create(&self, _spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
//!         let (reason, fix) = ("the cluster does not answer".to_owned(), Some("start the cluster".to_owned()));
//!         let backend = self.id().to_owned();
//!         Box::pin(async { Err(SandboxError::Unavailable { backend, reason, fix }) })
//!     }
//!     fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
//!         Box::pin(async { Err(SandboxError::NoSnapshot(snapshot.id.to_string())) })
//!     }
//!     fn close(&self) -> Doing<'_, ()> {
//!         Box::pin(async {})
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let backends = Backends::new([Arc::new(Cluster) as Arc<dyn Backend>]);
//! let refused = backends.select(Tier::Container, None, &SandboxSpec::default()).await.unwrap_err();
//! assert_eq!(refused.code(), ErrorCode::Unenforceable);
//! assert!(refused.to_string().contains("the cluster does not answer"));
//! # });
//! ```

pub use bailiwick_gateway as gateway;
pub use bailiwick_policy as policy;
pub use bailiwick_redact::Secret;
pub use bailiwick_runtime::*;
pub use bailiwick_sandbox as sandbox;
pub use bailiwick_types as types;
