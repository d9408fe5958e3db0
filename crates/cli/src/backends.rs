//! The backends that commands may run on here, as the settings of a session let them.

use std::sync::Arc;

use bailiwick_backends::Known;
use bailiwick_core::Backends;

use crate::commands::secret;
use crate::failure::Failure;
use crate::resolved::Session;

/// The backends of a session: those that the operator lets commands run on.
pub(crate) fn of(session: &Session) -> Result<Backends, Failure> {
    let data = session.loaded.data_folder.as_deref().ok_or(Failure::NoDataFolder)?;
    let fallback = Arc::new(secret::fallback(session)?);
    Ok(bailiwick_backends::of(&session.loaded.settings, data, fallback)?)
}

/// Every backend that there is, whether the operator lets commands run on it or not.
pub(crate) fn known(session: &Session) -> Result<Known, Failure> {
    let data = session.loaded.data_folder.as_deref().ok_or(Failure::NoDataFolder)?;
    let fallback = Arc::new(secret::fallback(session)?);
    Ok(bailiwick_backends::known(&session.loaded.settings, data, fallback)?)
}
