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

pub use bailiwick_gateway as gateway;
pub use bailiwick_policy as policy;
pub use bailiwick_redact::Secret;
pub use bailiwick_runtime::*;
pub use bailiwick_types as types;
