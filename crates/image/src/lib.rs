//! Images for sandboxes: fetched from a registry or taken from this machine, checked, unpacked once, kept by content.
//!
//! A [`Store`] is a folder. [`Store::pull`] and [`Store::import`] bring an image into it under a [`Reference`]:
//! every blob is counted and digested while it comes, every layer is unpacked within [`Bounds`] by code that follows no
//! link, and only when all of it is on the disk does the name appear. It is the
//! [`Images`](bailiwick_sandbox::Images) of a backend:
//!
//! ```no_run
//! use bailiwick_image::{Options, Source, Store, Watcher};
//! use bailiwick_sandbox::{Images as _, Unpacked as _};
//!
//! # async fn shown() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Store::open(Options::new("/var/lib/bailiwick/images"))?;
//! store.pull(&"debian:12".parse()?, &Watcher::nobody()).await?;
//! store.import(Source::at("rootfs.tar".as_ref())?, &"mine:1".parse()?, &Watcher::nobody()).await?;
//!
//! let image = store.find("debian:12").await?; // held: it stays as long as this value does, even if its name goes
//! let lower = image.root();                   // read-only lower folder of an overlay, or what is copied
//! # let _ = lower;
//! # Ok(())
//! # }
//! ```
//!
//! What a backend may rely on: the root belongs to whoever runs the store; folders can be entered and files read by
//! every user, and written to by the store's alone; there is no device, no pipe, no set-user-id file and no file with
//! capabilities in it. What it may *not* rely on: links lead wherever their author liked, out of the root too. Nothing
//! of the tree may be opened by a path of the host unless no link is followed on the way; inside a sandbox that has it
//! as its root, links end there. `etc`, `dev`, `proc` and `tmp` need not be there, and may be links or files.
//!
//! It must never run anything of an image, follow a link in one, keep what it could not check, or reach a registry
//! by another way than it was told to.
//!
//! Start reading at [`Store`], then `unpack`.

mod bounds;
mod digest;
mod error;
mod manifest;
mod progress;
mod reference;
mod registry;
mod source;
mod store;
mod unpack;

pub use bounds::Bounds;
pub use digest::Digest;
pub use error::{Fault, ImageError};
pub use manifest::Config;
pub use progress::{Phase, Progress, Watcher};
pub use reference::Reference;
pub use registry::HELPERS_NEED;
pub use source::{Place, Source};
pub use store::{Collected, Held, Image, Options, Store};
pub use unpack::LeftOut;

#[cfg(test)]
mod tests;
