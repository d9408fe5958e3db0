//! The images of a data folder as backends are lent them: the store is opened when the first sandbox asks for one.

use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_config::Settings;
use bailiwick_image::Store;
use bailiwick_sandbox::{Doing, Images, SandboxError, Unpacked};
use tokio::sync::OnceCell;

use super::options;

/// The images of a data folder, under an operator's settings.
pub struct OperatorsImages {
    settings: Settings,
    data: PathBuf,
    store: OnceCell<Store>,
}

impl OperatorsImages {
    /// Of this data folder.
    pub fn new(settings: Settings, data: PathBuf) -> Self {
        Self { settings, data, store: OnceCell::new() }
    }

    async fn store(&self) -> Result<&Store, SandboxError> {
        let failed = |reason: String| SandboxError::Failed { step: "open the images".to_owned(), reason };
        let opened = self.store.get_or_try_init(|| async {
            let options = options(&self.settings, &self.data).map_err(|refusal| failed(refusal.message))?;
            let opened = tokio::task::spawn_blocking(move || Store::open(options)).await;
            opened.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))
        });
        opened.await
    }
}

impl Images for OperatorsImages {
    fn find<'a>(&'a self, name: &'a str) -> Doing<'a, Result<Arc<dyn Unpacked>, SandboxError>> {
        Box::pin(async move { self.store().await?.find(name).await })
    }
}

impl std::fmt::Debug for OperatorsImages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperatorsImages").finish_non_exhaustive()
    }
}
