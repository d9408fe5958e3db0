//! The actions on images.

use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_image::{Image, Progress, Reference, Source, Watcher};
use bailiwick_sandbox::{Mount, SandboxPath};
use bailiwick_sys::held::HeldFile;
use serde_json::{Value, json};

use crate::core::OpenCall;
use crate::sandboxes::{CheckedMount, Noted, Rules};
use crate::{Caller, Core, Event, Refusal, Reply};

/// As the record names what keeps images.
fn store() -> Value {
    json!({"id": "images"})
}

/// Tells the caller how far it is.
fn watcher(caller: &Caller) -> Watcher {
    let listener = Arc::clone(&caller.listener);
    Watcher::new(move |Progress { phase: _, done, total }| listener.hear(Event::Progress { done, of: total }))
}

fn told(image: &Image) -> Value {
    json!({
        "ok": true, "image": image.name, "digest": image.digest, "bytes": image.bytes, "layers": image.layers,
        "leftOut": image.left_out,
    })
}

/// The images that there are.
pub(crate) async fn list(core: &Core) -> Result<Reply, Refusal> {
    Ok(Reply::Images(core.images().await?.list().await?))
}

/// Fetches one from its registry.
pub(crate) async fn pull(
    core: &Core,
    caller: &Caller,
    reference: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let noted = Noted::new(core, caller, open, "image.pull", None)?;
    let arguments = json!({"image": reference});
    let ready = async { Ok((reference.parse::<Reference>()?, core.images().await?)) };
    let (reference, images) = match ready.await {
        Ok(ready) => ready,
        Err(refusal) => return noted.refused(arguments, refusal).await,
    };
    let pulled = async {
        let image = images.pull(&reference, &watcher(caller)).await?;
        let told = told(&image);
        Ok((image, told, None))
    };
    Ok(Reply::Image(Box::new(noted.done(arguments, store(), pulled).await?)))
}

/// Takes one in from a file or a folder of this machine.
pub(crate) async fn import(
    core: &Core,
    caller: &Caller,
    (path, name): (PathBuf, &str),
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let noted = Noted::new(core, caller, open, "image.import", None)?;
    let arguments = json!({"image": name, "from": path.to_string_lossy()});
    let ready = async {
        let name = name.parse::<Reference>()?;
        let source = allowed(core, caller, path)?;
        let looked = tokio::task::spawn_blocking(move || Source::held(source)).await;
        let source = looked.map_err(|_| Refusal::internal("image.import"))??;
        Ok((name, source, core.images().await?))
    };
    let (name, source, images) = match ready.await {
        Ok(ready) => ready,
        Err(refusal) => return noted.refused(arguments, refusal).await,
    };
    let imported = async {
        let image = images.import(source, &name, &watcher(caller)).await?;
        let told = told(&image);
        Ok((image, told, None))
    };
    Ok(Reply::Image(Box::new(noted.done(arguments, store(), imported).await?)))
}

/// A path that may be read for whoever asks: what may be mounted may be imported.
fn allowed(core: &Core, caller: &Caller, path: PathBuf) -> Result<HeldFile, Refusal> {
    let world = &core.inner.world;
    let mut own = world.settings.sandbox.own.clone();
    own.extend([world.folders.data.clone(), world.folders.config.clone()]);
    let rules = Rules { settings: &world.settings.sandbox, own, roots: world.mount_roots.clone() };
    let asked = Mount { from: path, to: SandboxPath::work(), writable: false };
    Ok(CheckedMount::check(&asked, &rules, caller.origin)?.into_mount().source().clone())
}

/// Forgets one by its name, and removes what nothing needs any more.
pub(crate) async fn remove(
    core: &Core,
    caller: &Caller,
    image: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let noted = Noted::new(core, caller, open, "image.remove", None)?;
    let removed = async {
        let collected = core.images().await?.remove(image).await?;
        Ok((collected, json!({"ok": true, "collected": collected}), None))
    };
    Ok(Reply::ImageRemoved(noted.done(json!({"image": image}), store(), removed).await?))
}
