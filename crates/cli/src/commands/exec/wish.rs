//! What was typed as a wish: texts apart, paths of this machine made whole.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use bailiwick_core::Refusal;
use bailiwick_core::sandboxes::SandboxWish;
use bailiwick_sandbox::{Limit, Mount, Overlay, SandboxError, SandboxPath, SpecError};
use bailiwick_types::{CorrelationId, Tier};

use crate::failure::Failure;
use crate::resolved::Session;
use crate::typed::sandbox::{Create, Exec, SandboxFlags};

/// The wish of `exec`.
pub(super) fn of_exec(session: &Session, what: &Exec) -> Result<SandboxWish, Failure> {
    let mut wish = of(session, &what.sandbox)?;
    wish.limits.extend(what.timeout.clone().map(|timeout| (Limit::Timeout, timeout)));
    wish.commit = what.commit;
    Ok(wish)
}

/// The wish of `sandbox create`.
pub(crate) fn of_create(session: &Session, what: &Create) -> Result<SandboxWish, Failure> {
    let mut wish = of(session, &what.sandbox)?;
    wish.limits.extend(what.timeout.clone().map(|timeout| (Limit::Timeout, timeout)));
    wish.name.clone_from(&what.name);
    wish.workdir = what.cwd.as_deref().map(inside).transpose()?;
    wish.expose.clone_from(&what.expose);
    wish.snapshot.clone_from(&what.from);
    wish.idle.clone_from(&what.idle);
    wish.absolute.clone_from(&what.absolute);
    Ok(wish)
}

fn of(session: &Session, flags: &SandboxFlags) -> Result<SandboxWish, Failure> {
    let SandboxFlags {
        backend,
        tier,
        net,
        mount,
        secret,
        overlay,
        image,
        env,
        preset,
        memory,
        cpu,
        disk,
        processes,
        output,
        correlation,
    } = flags;
    let limits = [
        (Limit::Memory, memory),
        (Limit::Cpu, cpu),
        (Limit::Disk, disk),
        (Limit::Processes, processes),
        (Limit::Output, output),
    ];
    let limits = limits.into_iter().filter_map(|(limit, text)| Some((limit, text.clone()?))).collect();
    let working = &session.environment.working_folder;
    let mounts = mount.iter().map(|text| {
        let mount: Mount = text.parse().map_err(|error: SpecError| refused(error.into()))?;
        Ok(Mount { from: whole(working, &mount.from), ..mount })
    });
    let secrets = secret.iter().map(|text| text.parse().map_err(|error: SpecError| refused(error.into())));
    let overlays = overlay.iter().map(|text| {
        let overlay: Overlay = text.parse().map_err(|error: SpecError| refused(error.into()))?;
        Ok(Overlay { from: whole(working, &overlay.from), ..overlay })
    });
    Ok(SandboxWish {
        backend: backend.clone(),
        tier: tier.as_deref().map(tier_of).transpose()?,
        preset: preset.clone(),
        limits,
        network: net.clone(),
        secrets: secrets.collect::<Result<_, Failure>>()?,
        image: image.clone(),
        mounts: mounts.collect::<Result<_, Failure>>()?,
        overlays: overlays.collect::<Result<_, Failure>>()?,
        env: variables(env)?,
        correlation: correlation.as_deref().map(CorrelationId::parse).transpose()?,
        ..SandboxWish::default()
    })
}

fn refused(error: SandboxError) -> Failure {
    Refusal::from(error).into()
}

/// A path inside of a sandbox.
pub(crate) fn inside(text: &str) -> Result<SandboxPath, Failure> {
    SandboxPath::new(text).map_err(|error| refused(error.into()))
}

/// Variables as `NAME=VALUE`.
pub(crate) fn variables(typed: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut all = BTreeMap::new();
    for text in typed {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failure::Argument {
                message: format!("--env: `{}` is not NAME=VALUE", bailiwick_types::shortened(text)),
                hint: "for example --env LEVEL=3; nothing is taken from this environment by itself"
                    .to_owned(),
            });
        };
        if all.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(Failure::Argument {
                message: format!("--env names `{}` twice", bailiwick_types::shortened(name)),
                hint: "leave one out".to_owned(),
            });
        }
    }
    Ok(all)
}

fn tier_of(text: &str) -> Result<Tier, Failure> {
    text.parse().map_err(|error: bailiwick_types::UnknownTier| Failure::Argument {
        message: format!("--tier: {error}"),
        hint: "for example --tier process".to_owned(),
    })
}

/// A path of this machine from the root on. What goes up from the working folder, which has no links in it, is followed by
/// the name; anything else that goes up is left for whoever looks at the path to refuse.
fn whole(working: &Path, typed: &Path) -> PathBuf {
    if typed.is_absolute() {
        return typed.to_owned();
    }
    let mut whole = working.to_owned();
    let mut is_leading = true;
    for part in typed.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_leading => {
                whole.pop();
            }
            part => {
                is_leading = false;
                whole.push(part);
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests;
