//! Images as backends see them: a folder that holds a whole root, and what its maker says about it. Who fetches and unpacks
//! them is elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Doing, SandboxError};

/// Who knows images. A backend that is given nobody takes only the host's own programs.
pub trait Images: Send + Sync + std::fmt::Debug {
    /// An image by its name or digest, held until it is dropped.
    fn find<'a>(&'a self, name: &'a str) -> Doing<'a, Result<Arc<dyn Unpacked>, SandboxError>>;
}

/// An unpacked image. As long as it is held, its files stay.
pub trait Unpacked: Send + Sync + std::fmt::Debug {
    /// The folder that holds its root. Nobody writes to it.
    fn root(&self) -> PathBuf;
    /// Its digest: `sha256:…`.
    fn digest(&self) -> &str;
    /// Variables that it comes with.
    fn variables(&self) -> &[(String, String)];
    /// Where its commands begin, if it says so.
    fn workdir(&self) -> Option<&str>;
}
