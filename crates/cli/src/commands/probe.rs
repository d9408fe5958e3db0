//! `bailiwick probe`: a fresh cell tries to break its wall, and says how that went.

use bailiwick::{Probe, ProbeResult, Runtime, seccomp};
use serde_json::json;

use crate::cells::block_on;
use crate::failure::Failure;
use crate::render::{Screen, bad, good, plain};
use crate::typed;

/// `bailiwick probe NAME [NUMBERS]`
pub(crate) fn probe(screen: &mut Screen, what: &typed::Probe) -> Result<u8, Failure> {
    let probe = read(what)?;
    let result = block_on(async {
        let runtime = Runtime::builder().parked(0).memory(None).build().await?;
        Ok(runtime.probe(probe).await?)
    })?;
    let (word, detail, code) = match &result {
        ProbeResult::Trapped(name) => ("trapped", name.clone(), 3),
        ProbeResult::Ended(how) => ("ended", (*how).to_owned(), 5),
        ProbeResult::WentThrough(number) => ("went through", number.to_string(), 0),
    };
    if screen.wants_json() {
        screen.json(&json!({"result": word, "detail": detail}));
    } else {
        let word = format!("{word}: ");
        screen.line(&[if code == 0 { bad(&word) } else { good(&word) }, plain(&detail)]);
    }
    Ok(code)
}

fn read(what: &typed::Probe) -> Result<Probe, Failure> {
    let plain = match what.name.as_str() {
        "panic" => Some(Probe::Panic),
        "allocation" => Some(Probe::Allocation),
        "overflow" => Some(Probe::Overflow),
        "fault" => Some(Probe::Fault),
        "abort" => Some(Probe::Abort),
        _ => None,
    };
    if let Some(probe) = plain {
        return Ok(probe);
    }
    let number = seccomp::number(&what.name).ok_or_else(|| Failure::Argument {
        message: format!("`{}` is no system call of this machine, and no misdeed", what.name),
        hint: "name a system call, or one of panic, allocation, overflow, fault, abort".to_owned(),
    })?;
    let mut arguments = [0; 6];
    for (place, argument) in arguments.iter_mut().zip(&what.arguments) {
        *place = *argument;
    }
    Ok(Probe::SystemCall { number, arguments })
}
