//! A document in the place of a tool that is there already. The tool keeps its id; nothing is made anew.

use bailiwick_store::Durability;
use bailiwick_types::ErrorCode;

use super::import::{Incoming, NotTaken, Taken, not_taken, take_in};
use super::read_document;
use crate::journal::as_left;
use crate::pipeline::find;
use crate::{Caller, Core, Document, Refusal, Reply};

/// The tool that is there, as whoever asks knows it.
pub(crate) struct There {
    /// Its name or id.
    pub(crate) tool: String,
    /// How often it was saved when it was seen last.
    pub(crate) version: Option<u64>,
}

/// Puts a document in the place of a tool.
pub(crate) async fn replace(
    core: &Core,
    caller: &Caller,
    there: There,
    document: &Document,
    approval_off: bool,
) -> Result<Reply, Refusal> {
    let There { tool: key, version } = there;
    let id = find(core, &key).await?.id;
    let (tool, warnings) = read_document(document)?;
    if tool.id().is_some_and(|own| own != id) {
        let message = format!("the document says the id of another tool than {id}");
        return Err(Refusal::validation(message).with_hint("leave out `id`, or name the tool by it"));
    }
    let one = Incoming::of(core, &document.name, tool.with_id(id), warnings, approval_off)?;
    let (actor, inside) = (caller.actor.clone(), core.clone());
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
        // Looked at here, where nobody else writes.
        let Some(row) = as_left(tx, tx.tool(id)?)? else {
            return Err(Refusal::new(ErrorCode::NotFound, format!("the tool {id} was removed meanwhile")));
        };
        if let Some(seen) = version.filter(|seen| *seen != row.version) {
            let message = format!("`{}` is at version {} now, not at {seen}", row.name, row.version);
            return Err(Refusal::new(ErrorCode::Conflict, message)
                .with_hint("look at it again, and change what it is now"));
        }
        take_in(&inside, tx, &actor, &one).map_err(|error| match error {
            NotTaken::Fault(fault) => not_taken(vec![*fault]),
            NotTaken::Store(error) => error.into(),
        })
    });
    let Taken { imported, before, now } = written.await?;
    if let Some(now) = now {
        core.tell_tool("tool.import", &imported.name, core.was_offered(before.as_ref()), Some(&now));
    }
    Ok(Reply::Imported(vec![imported]))
}
