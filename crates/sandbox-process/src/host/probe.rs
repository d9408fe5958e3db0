//! What this backend can do here, found out by doing it: a sandbox is made, looked at, and ended.

use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_agent_host::{Lent, folders, label};
use bailiwick_sandbox::{Available, Limits, Preset, Probe, SandboxSpec, Unpacked};
use bailiwick_wire::jail::Laid;

use super::backend::Inner;
use super::create::{Stands, stand};
use super::scratch;

/// Looks.
pub(crate) async fn look(inner: &Arc<Inner>) -> Probe {
    let spec = SandboxSpec::new(Limits::preset(Preset::Standard));
    match stand(inner, &spec, &Lent::default()).await {
        Ok(Stands { jail, link, standing, report, .. }) => {
            drop(link);
            jail.kill();
            jail.ended().await;
            let mut found = vec![format!("kernel {}", kernel())];
            found.extend(standing.landlock.map(|(version, _)| format!("Landlock ABI {version}")));
            found.extend(standing.filter.as_ref().map(|mark| format!("seccomp {mark}")));
            if inner.options.images.is_some() {
                found.push(images(inner, &spec).await);
            }
            Probe { availability: Available::Yes, enforces: report, found }
        }
        Err(error) => Probe::unusable(error.to_string(), error.hint(), vec![format!("kernel {}", kernel())]),
    }
}

/// How an image becomes a root here, by making a root of one that is empty.
async fn images(inner: &Arc<Inner>, spec: &SandboxSpec) -> String {
    let folder = scratch::place(&inner.options.state, &label::fresh());
    let made = scratch::make_ours(&folder).and_then(|()| folder.canonicalize());
    let said = match made {
        Err(error) => format!("images were not tried: {error}"),
        Ok(root) => {
            let lent = Lent { image: Some(Arc::new(Nothing(root))), outlet: None };
            match stand(inner, spec, &lent).await {
                Ok(Stands { jail, link, standing, .. }) => {
                    drop(link);
                    jail.kill();
                    jail.ended().await;
                    match standing.image {
                        Some(Laid::Over) => "images by overlayfs".to_owned(),
                        Some(Laid::Copied { why }) => format!("images by copies in memory ({why})"),
                        None => "no images".to_owned(),
                    }
                }
                Err(error) => format!("no images ({error})"),
            }
        }
    };
    folders::remove(&folder);
    said
}

/// An image with nothing in it.
#[derive(Debug)]
struct Nothing(PathBuf);

impl Unpacked for Nothing {
    fn root(&self) -> PathBuf {
        self.0.clone()
    }

    fn digest(&self) -> &'static str {
        "none"
    }

    fn variables(&self) -> &[(String, String)] {
        &[]
    }

    fn workdir(&self) -> Option<&str> {
        None
    }
}

fn kernel() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}
