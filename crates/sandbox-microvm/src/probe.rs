//! What this backend can do here, found out by doing it: a machine is started, looked at, and ended.

use std::sync::Arc;

use bailiwick_agent_host::life::Ends as _;
use bailiwick_agent_host::{Lent, Places};
use bailiwick_sandbox::{Available, Limits, Preset, Probe, SandboxError, SandboxSpec};

use crate::backend::Inner;
use crate::create::{By, Stands, stand};
use crate::monitor::Accelerator;

/// Why no machine runs on KVM here; none where one does. An error where machines could not even be tried.
pub(crate) async fn why_no_kvm(inner: &Arc<Inner>) -> Result<Option<String>, SandboxError> {
    // What is wrong without any machine is not KVM's fault.
    inner.begins().await?;
    // A small one, with a processor of its own: how long it takes is what is found out.
    let limits = Limits { cpu: Limits::default().cpu, ..Limits::preset(Preset::Minimal) };
    let spec = SandboxSpec::new(limits);
    // Whether a kernel starts is what is asked.
    let by = By { accelerator: Accelerator::Kvm, within: inner.first(), goes_on: false };
    match stand(inner, &spec, &Lent::default(), &Places::rooted(&spec), by).await {
        Ok(Stands { life, link, .. }) => {
            drop(link);
            life.kill();
            life.removed().await;
            Ok(None)
        }
        Err(SandboxError::Unavailable { reason, .. }) => {
            Ok(Some(format!("KVM is there, and no machine starts on it: {reason}")))
        }
        Err(error) => Err(error),
    }
}

/// Looks.
pub(crate) async fn look(inner: &Arc<Inner>) -> Probe {
    // Nothing is found of a program that is not there: the reason names it.
    let program = inner.program.is_file();
    let program = program.then(|| format!("{} {}", inner.monitor.name(), inner.program.display()));
    let mut found = Vec::from_iter(program);
    let accelerator = match inner.accelerator().await {
        Ok(accelerator) => accelerator,
        Err(error) => return not(found, &error),
    };
    found.push(format!("machines by {}", accelerator.says()));
    // The usual machine, so that the next one of its kind goes on from it.
    let spec = SandboxSpec::new(Limits::default());
    match stand(inner, &spec, &Lent::default(), &Places::rooted(&spec), By::usual(accelerator)).await {
        Ok(Stands { life, link, seen, report, .. }) => {
            drop(link);
            life.kill();
            life.removed().await;
            found.push(format!("their kernel, which calls itself {}", seen.kernel));
            found.extend(seen.filter.map(|mark| format!("seccomp {mark} inside")));
            Probe { availability: Available::Yes, enforces: report, found }
        }
        Err(error) => not(found, &error),
    }
}

fn not(found: Vec<String>, error: &SandboxError) -> Probe {
    Probe::unusable(error.to_string(), error.hint(), found)
}
