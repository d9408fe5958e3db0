//! The store: images by name, content by digest, trees by the layers they were made of.
//!
//! ```text
//! names                    which manifest a name stands for
//! blobs/sha256/<digest>    manifests, configs and layers, as they came
//! trees/<chain>/root       all layers of an image in one folder, which nobody writes to
//! trees/<chain>/about      what that folder takes, and what was left out of it
//! staging/                 everything that is not whole yet
//! lock                     held by the one process that changes something
//! ```

mod blobs;
mod collect;
mod finish;
mod held;
mod names;
mod places;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_sandbox::{Doing, Images, SandboxError, Unpacked};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::bounds::Spending;
use crate::manifest::{self, Config, Document, Manifest};
use crate::registry::{self, Client};
use crate::source::{Source, gather};
use crate::unpack::LeftOut;
use crate::{Bounds, Digest, ImageError, Reference, Watcher};

pub(crate) use blobs::Arriving;
pub use collect::Collected;
pub use held::Held;
pub(crate) use places::Places;

use finish::about;
use names::Names;
use places::Turn;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its folder, which is made where it is missing.
    pub folder: PathBuf,
    /// Bytes that it may take, all images together.
    pub most: u64,
    /// What one image may cost.
    pub bounds: Bounds,
    /// Registries (`host` or `host:port`) that are spoken to without TLS, beside those on this machine's loopback.
    pub insecure: Vec<String>,
    /// The operator's docker config, for credentials.
    pub docker_config: Option<PathBuf>,
    /// Variables of credential helpers, `PATH` among them (see [`crate::HELPERS_NEED`]); without, none is found.
    pub helpers: Vec<(String, OsString)>,
    /// Root certificates (PEM) that are believed beside the platform's.
    pub roots: Vec<String>,
}

impl Options {
    /// The store of this folder: 20 GiB, no registry in the clear but on loopback, no credentials.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            most: 20 * 1024 * 1024 * 1024,
            bounds: Bounds::default(),
            insecure: Vec::new(),
            docker_config: None,
            helpers: Vec::new(),
            roots: Vec::new(),
        }
    }
}

/// An image, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Its name.
    pub name: String,
    /// The digest of its manifest.
    pub digest: Digest,
    /// Bytes of its files, unpacked.
    pub bytes: u64,
    /// How many layers it was made of.
    pub layers: usize,
    /// How it wants its commands to be started.
    pub config: Config,
    /// What was in it and is not in its files.
    pub left_out: LeftOut,
}

/// The images of a folder. Clones are the same store.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    places: Arc<Places>,
    options: Options,
    client: Client,
    /// Whose turn it is within this process. The lock of the folder tells between processes.
    turn: Arc<Mutex<()>>,
}

/// The right to change the store, among all processes and within this one. In this order it is given back, so that
/// whose turn is next here finds the other free.
struct Changing {
    _everywhere: Turn,
    _here: OwnedMutexGuard<()>,
}

impl Store {
    /// Opens it, and removes what somebody left there who was ended in the middle.
    pub fn open(options: Options) -> Result<Self, ImageError> {
        let places = Arc::new(Places::open(&options.folder)?);
        let client = Client::new(&options)?;
        Ok(Self(Arc::new(Inner { places, options, client, turn: Arc::default() })))
    }

    /// Takes an image from this machine in, under a name. A name that is taken stands for the new one afterwards.
    pub async fn import(
        &self,
        source: Source,
        name: &Reference,
        watcher: &Watcher,
    ) -> Result<Image, ImageError> {
        if name.digest().is_some() {
            let why = "an image that is imported has the digest it has; give it a name with a tag";
            return Err(ImageError::Name { name: name.to_string(), why });
        }
        let changing = self.changing().await?;
        let (name, watcher) = (name.clone(), watcher.clone());
        self.blocking(move |inner| {
            let _changing = changing;
            inner.tidied(|spending| {
                let found = gather(&source, &inner.places, spending, &watcher)?;
                inner.finish(found, &name, spending, &watcher)
            })
        })
        .await
    }

    /// Fetches an image from its registry.
    pub async fn pull(&self, reference: &Reference, watcher: &Watcher) -> Result<Image, ImageError> {
        let changing = self.changing().await?;
        let spending = self.blocking(Inner::spending).await?;
        // What a conversation with a registry takes is too much for whoever holds this future.
        let fetch = registry::fetch(&self.0.client, reference, &self.0.places, spending, watcher);
        let fetched = Box::pin(fetch).await;
        let (name, watcher) = (reference.clone(), watcher.clone());
        self.blocking(move |inner| {
            let _changing = changing;
            let done =
                fetched.and_then(|(found, mut spending)| inner.finish(found, &name, &mut spending, &watcher));
            inner.tidy_after(done)
        })
        .await
    }

    /// All images, by name.
    pub async fn list(&self) -> Result<Vec<Image>, ImageError> {
        self.blocking(|inner| {
            let names = Names::read(&inner.places)?;
            names.all().map(|(name, manifest)| inner.image(name, *manifest)).collect()
        })
        .await
    }

    /// Forgets a name, and removes what nothing needs any more. What is in use stays until nobody uses it.
    pub async fn remove(&self, name: &str) -> Result<Collected, ImageError> {
        let changing = self.changing().await?;
        let name = name.to_owned();
        self.blocking(move |inner| {
            let _changing = changing;
            let mut names = Names::read(&inner.places)?;
            let (name, _) = names.find(&name)?;
            names.remove(&name);
            names.write(&inner.places)?;
            inner.collect()
        })
        .await
    }

    /// Removes what no name needs and nobody uses.
    pub async fn collect(&self) -> Result<Collected, ImageError> {
        let changing = self.changing().await?;
        self.blocking(move |inner| {
            let _changing = changing;
            inner.collect()
        })
        .await
    }

    /// One image by its name or digest, held until the value is dropped.
    pub async fn hold(&self, name: &str) -> Result<Held, ImageError> {
        let name = name.to_owned();
        self.blocking(move |inner| {
            let (_, digest) = Names::read(&inner.places)?.find(&name)?;
            let (_, config, chain) = inner.parts(digest)?;
            Held::take(&inner.places, digest, &chain, config)
        })
        .await
    }

    /// Waits for its turn in this process, and is told when another process has it.
    async fn changing(&self) -> Result<Changing, ImageError> {
        let here = Arc::clone(&self.0.turn).lock_owned().await;
        let everywhere = self.blocking(|inner| inner.places.turn()).await?;
        Ok(Changing { _here: here, _everywhere: everywhere })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        doing: impl FnOnce(&Inner) -> Result<T, ImageError> + Send + 'static,
    ) -> Result<T, ImageError> {
        let inner = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || doing(&inner)).await;
        done.map_err(|error| ImageError::Io {
            step: "work on the images",
            source: std::io::Error::other(error),
        })?
    }
}

impl Images for Store {
    fn find<'a>(&'a self, name: &'a str) -> Doing<'a, Result<Arc<dyn Unpacked>, SandboxError>> {
        Box::pin(async move {
            let held: Arc<dyn Unpacked> = Arc::new(self.hold(name).await?);
            Ok(held)
        })
    }
}

impl Inner {
    fn spending(&self) -> Result<Spending, ImageError> {
        Ok(Spending::new(self.options.bounds, self.options.most, self.used()?))
    }

    /// Does something that may leave blobs which nothing needs, and removes them.
    fn tidied<T>(&self, doing: impl FnOnce(&mut Spending) -> Result<T, ImageError>) -> Result<T, ImageError> {
        let mut spending = self.spending()?;
        let done = doing(&mut spending);
        self.tidy_after(done)
    }

    fn tidy_after<T>(&self, done: Result<T, ImageError>) -> Result<T, ImageError> {
        match (done, self.collect()) {
            (Ok(value), Ok(_)) => Ok(value),
            (Ok(_), Err(error)) => Err(error),
            (Err(first), Ok(_)) => Err(first),
            (Err(first), Err(second)) => {
                tracing::warn!(error = %second, "what is left of a refused image stays for now");
                Err(first)
            }
        }
    }

    /// Manifest, config and the name of the tree of an image that is here.
    fn parts(&self, digest: Digest) -> Result<(Manifest, Config, Digest), ImageError> {
        let bytes = self.places.small_blob("the manifest of the image", &digest, manifest::MOST)?;
        let Document::Image(manifest) = Document::read("the manifest of the image", &bytes)? else {
            return Err(ImageError::malformed("the manifest of the image", "it is an index"));
        };
        let bytes =
            self.places.small_blob("the config of the image", &manifest.config.digest, manifest::MOST)?;
        let (config, diff_ids) = manifest::read_config(&bytes)?;
        Ok((manifest, config, manifest::chain(&diff_ids)))
    }

    fn image(&self, name: &str, digest: Digest) -> Result<Image, ImageError> {
        let (manifest, config, chain) = self.parts(digest)?;
        let about = about(&self.places, &chain)?;
        let (bytes, left_out) = about.map(|about| (about.bytes, about.left_out)).unwrap_or_default();
        Ok(Image { name: name.to_owned(), digest, bytes, layers: manifest.layers.len(), config, left_out })
    }
}
