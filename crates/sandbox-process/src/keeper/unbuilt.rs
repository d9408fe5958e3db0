//! Why a jail does not stand, as it tells its host.

use bailiwick_sys::Failed;
use bailiwick_sys::mounts::Size;

/// Why a jail does not stand.
pub(super) enum Unbuilt {
    /// A step failed.
    Failed(Failed),
    /// The image has to be copied and does not fit.
    TooLarge {
        /// What it needs.
        needs: Size,
        /// Why it has to be copied.
        why: String,
    },
}

impl From<Failed> for Unbuilt {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}
