//! `bailiwick audit verify`: whether the record is whole, here or in an export that somebody was given.

use std::path::Path;

use bailiwick_audit::{ExportReader, PublicKey, Verdict};
use bailiwick_config::files;
use bailiwick_core::{Action, Reply, Verified};
use serde_json::json;

use super::NO_CELLS;
use crate::desk::{ask, at_desk};
use crate::failure::Failure;
use crate::render::{Screen, bad, good, plain};
use crate::resolved::Session;
use crate::typed::audit::Verify;

/// The exit code of a chain that is broken.
const BROKEN: u8 = 1;

/// `bailiwick audit verify [FILE --key HEX]`
pub(crate) fn verify(screen: &mut Screen, session: &Session, what: &Verify) -> Result<u8, Failure> {
    if let (Some(file), Some(key)) = (&what.file, &what.key) {
        return Ok(tell(screen, &proven(file, key)?));
    }
    let verified = at_desk(session, &NO_CELLS, async |desk| match ask(desk, Action::AuditVerify).await? {
        Reply::Verified(verified) => Ok(verified),
        _ => Err(Failure::StrangeReply("a proof")),
    })?;
    Ok(tell(screen, &verified))
}

/// The proof of an export, by this key alone.
fn proven(file: &Path, key: &str) -> Result<Verified, Failure> {
    let parsed = PublicKey::parse(key).map_err(|error| Failure::Argument {
        message: format!("--key: {error}"),
        hint: "take it from `bailiwick audit verify` where the record is kept".to_owned(),
    })?;
    let verdict = ExportReader::new(files::open_long(file)?, parsed).verify().map_err(|error| {
        let message = format!("{}: {error}", file.display());
        Failure::Argument { message, hint: "make one with bailiwick audit export".to_owned() }
    })?;
    let (proven_to, unsigned, removed, first_bad, why) = match &verdict {
        Verdict::Proven { to, unsigned, from: _, removed } => (*to, *unsigned, *removed, None, None),
        Verdict::Broken { first_bad, why, proven_to } => {
            (*proven_to, 0, 0, Some(*first_bad), Some(format!("{why:?}")))
        }
    };
    Ok(Verified {
        ok: verdict.is_proven(),
        says: verdict.to_string(),
        proven_to,
        unsigned,
        removed,
        first_bad,
        why,
        key: key.to_owned(),
    })
}

fn tell(screen: &mut Screen, verified: &Verified) -> u8 {
    let Verified { ok, says, proven_to: _, unsigned: _, removed: _, first_bad: _, why: _, key } = verified;
    let code = if *ok { 0 } else { BROKEN };
    if screen.wants_json() {
        screen.json(&json!(verified));
        return code;
    }
    screen.line(&[if *ok { good("whole: ") } else { bad("broken: ") }, plain(says)]);
    screen.field("key", &[plain(key)]);
    code
}
