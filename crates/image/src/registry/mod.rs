//! Images from registries: the one place of this crate that reaches a network, on the operator's word.
//!
//! `client` makes each request by itself: no proxy of the environment, no cookie, no cache, redirects one by one and
//! never to a nearer network than the registry's own, bodies bounded. `session` has the conversation with one registry
//! and its tokens; `credentials` reads the docker config, `helper` asks the
//! programs that it names. What comes is believed when its digest fits.
//!
//! Crates that do this were looked at. They follow redirects and proxies by rules of their own, hold a manifest of any
//! length in memory, and send a password wherever a registry says; none of that can be turned off from outside.

mod challenge;
mod client;
mod credentials;
mod keychain;
mod session;
mod standing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::bounds::Spending;
use crate::manifest::{Descriptor, Document, Manifest, pick};
use crate::progress::{Phase, Steps, Watcher};
use crate::source::Found;
use crate::store::{Arriving, Places};
use crate::{Digest, Fault, ImageError, Reference};

pub(crate) use client::Client;
pub use keychain::HELPERS_NEED;
use session::Session;

/// How often a blob that breaks off is asked for.
const TRIES: usize = 4;
/// Pieces of a blob that wait to be written.
const AHEAD: usize = 16;

/// Brings everything of an image into the store, as blobs.
pub(crate) async fn fetch(
    client: &Client,
    reference: &Reference,
    places: &Arc<Places>,
    mut spending: Spending,
    watcher: &Watcher,
) -> Result<(Found, Spending), ImageError> {
    watcher.tell(Phase::Asking, 0, None);
    let mut session = Session::new(client, reference)?;
    let (manifest, bytes) = manifest(&mut session, reference).await?;
    if manifest.layers.len() > spending.bounds().layers {
        return Err(ImageError::Bound { what: "more layers", most: spending.bounds().layers as u64 });
    }
    let total =
        manifest.layers.iter().map(|layer| layer.size).fold(manifest.config.size, u64::saturating_add);
    let mut steps = Steps::new(watcher, Phase::Fetching, Some(total));
    for part in [&manifest.config].into_iter().chain(&manifest.layers) {
        if places.blob(&part.digest)?.is_some_and(|(_, size)| size == part.size) {
            steps.add(part.size);
        } else {
            spending = blob(&mut session, part, places, spending, &mut steps).await?;
        }
    }
    Ok((Found::Image { manifest: bytes }, spending))
}

/// The manifest that runs here.
async fn manifest(
    session: &mut Session<'_>,
    reference: &Reference,
) -> Result<(Manifest, Vec<u8>), ImageError> {
    const WHAT: &str = "the manifest";
    let bytes = session.manifest(&reference.wanted()).await?;
    checked(WHAT, &bytes, reference.digest(), None)?;
    let manifests = match Document::read(WHAT, &bytes)? {
        Document::Image(manifest) => return Ok((manifest, bytes)),
        Document::Index(manifests) => manifests,
    };
    let picked = pick(&manifests)?;
    let bytes = session.manifest(&picked.digest.to_string()).await?;
    checked(WHAT, &bytes, Some(picked.digest), Some(picked.size))?;
    match Document::read(WHAT, &bytes)? {
        Document::Image(manifest) => Ok((manifest, bytes)),
        Document::Index(_) => Err(ImageError::malformed(WHAT, "an index leads to another index")),
    }
}

fn checked(what: &str, bytes: &[u8], expected: Option<Digest>, size: Option<u64>) -> Result<(), ImageError> {
    let (found, length) = (Digest::of(bytes), bytes.len() as u64);
    if let Some(expected) = expected.filter(|expected| *expected != found) {
        return Err(ImageError::Digest { what: what.to_owned(), expected, found });
    }
    match size.filter(|size| *size != length) {
        Some(declared) => Err(ImageError::Size { what: what.to_owned(), declared, found: length }),
        None => Ok(()),
    }
}

/// One blob; where it breaks off it is asked for from there on.
async fn blob(
    session: &mut Session<'_>,
    part: &Descriptor,
    places: &Arc<Places>,
    mut spending: Spending,
    steps: &mut Steps,
) -> Result<Spending, ImageError> {
    let mut arriving = Arriving::begin(places, &format!("the blob {}", part.digest), Some(part.size))?;
    let mut last = None;
    for _ in 0..TRIES {
        let (mut answer, from) = session.blob(&part.digest, arriving.bytes()).await?;
        if from != arriving.bytes() {
            arriving.again(&mut spending)?;
        }
        // Files are written by a thread of their own, a few pieces behind the network.
        let (pieces, mut coming) = mpsc::channel::<bytes::Bytes>(AHEAD);
        let writer = tokio::task::spawn_blocking(move || {
            while let Some(piece) = coming.blocking_recv() {
                arriving.take(&piece, &mut spending)?;
            }
            Ok((arriving, spending))
        });
        let ended = loop {
            match answer.piece().await {
                Ok(Some(piece)) => {
                    let length = piece.len() as u64;
                    if pieces.send(piece).await.is_err() {
                        break Ok(());
                    }
                    steps.add(length);
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(pieces);
        let written = writer.await;
        let step = "write a blob";
        (arriving, spending) =
            written.map_err(|error| ImageError::Io { step, source: std::io::Error::other(error) })??;
        match ended {
            Ok(()) => {
                arriving.keep(Some(&part.digest))?;
                return Ok(spending);
            }
            Err(error @ ImageError::Registry { fault: Fault::Unreachable, .. }) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or(ImageError::Size {
        what: "a blob".to_owned(),
        declared: part.size,
        found: arriving.bytes(),
    }))
}
