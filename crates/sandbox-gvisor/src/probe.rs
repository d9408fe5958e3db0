//! What this backend can do here, found out by doing it: a sandbox is made, looked at, and ended.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_agent_host::life::Ends as _;
use bailiwick_agent_host::{Lent, Places};
use bailiwick_sandbox::{Available, Limits, Preset, Probe, SandboxError, SandboxSpec};

use crate::backend::Inner;
use crate::create::{Stands, stand};

/// How long the program may take to say which version it is.
const VERSION: Duration = Duration::from_secs(10);

/// Looks.
pub(crate) async fn look(inner: &Arc<Inner>) -> Probe {
    let version = inner.runsc.ask(&["--version".as_ref()], VERSION).await;
    let version = match version {
        Ok(said) => said,
        // A program that does not answer is not found: the reason names it.
        Err(why) => return not(Vec::new(), &inner.unavailable(why)),
    };
    let mut found = vec![
        format!("runsc {}", inner.runsc.program.display()),
        version,
        format!("platform {}", inner.runsc.platform),
    ];
    if inner.runsc.is_rootless {
        found.push("rootless: no snapshots and no forks, and sleep frees no memory".to_owned());
    }
    let spec = SandboxSpec::new(Limits::preset(Preset::Standard));
    match stand(inner, &spec, &Lent::default(), &Places::rooted(&spec)).await {
        Ok(Stands { life, link, seen, report, .. }) => {
            drop(link);
            life.kill();
            life.removed().await;
            found.push(format!("its own kernel, which calls itself {}", seen.kernel));
            found.extend(seen.filter.map(|mark| format!("seccomp {mark} inside")));
            Probe { availability: Available::Yes, enforces: report, found }
        }
        Err(error) => not(found, &error),
    }
}

fn not(found: Vec<String>, error: &SandboxError) -> Probe {
    Probe::unusable(error.to_string(), error.hint(), found)
}
