//! Images as actions: listed, pulled, imported and removed, each change on the record.
//!
//! The store is in the data folder and opened when the first action needs it. What is imported is looked at like what is
//! mounted: never our own folders, over a wire only what the operator listed.

mod actions;
mod operators;

use std::path::Path;

use bailiwick_config::{Environment, Settings, files};
use bailiwick_image::{ImageError, Options, Store};
use bailiwick_types::ErrorCode;
use tokio::sync::OnceCell;

use crate::{Core, Refusal};

pub use operators::OperatorsImages;

pub use bailiwick_image::{Collected, Config, Image, LeftOut};

pub(crate) use actions::{import, list, pull, remove};

/// How the store of a data folder is opened under the operator's settings.
pub fn options(settings: &Settings, data: &Path) -> Result<Options, Refusal> {
    let mut options = Options::new(data.join("images"));
    options.most = settings.images.most;
    options.insecure.clone_from(&settings.images.insecure);
    options.docker_config.clone_from(&settings.images.docker_config);
    for name in bailiwick_image::HELPERS_NEED {
        options.helpers.extend(Environment::variable(name).map(|value| (name.to_owned(), value)));
    }
    for path in &settings.fetch.roots {
        let text = files::read_document(path)
            .map_err(|error| Refusal::new(ErrorCode::InvalidInput, format!("fetch.roots: {error}")))?;
        options.roots.push(text);
    }
    Ok(options)
}

/// The store, once it is needed.
#[derive(Debug, Default)]
pub(crate) struct Images(OnceCell<Store>);

impl Core {
    /// The images of the data folder.
    pub async fn images(&self) -> Result<&Store, Refusal> {
        let opened = self.inner.images.0.get_or_try_init(|| async {
            let world = &self.inner.world;
            let options = options(&world.settings, world.data())?;
            let opened = tokio::task::spawn_blocking(move || Store::open(options)).await;
            Ok(opened.map_err(|_| Refusal::internal("opening the images"))??)
        });
        opened.await
    }
}

impl From<ImageError> for Refusal {
    fn from(error: ImageError) -> Self {
        let refusal = Self::new(error.code(), error.to_string());
        error.hint().into_iter().fold(refusal, Self::with_hint)
    }
}
