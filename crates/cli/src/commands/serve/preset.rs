//! The tools that a first start publishes, by the same actions as anybody's, after the server answers.

use std::sync::Arc;

use bailiwick_catalogue::{self as catalogue, PresetError};
use bailiwick_core::{Action, Actor, Caller, Desk, Document, Reasons, Refusal, Reply, ToolLine};
use serde_json::Value;

use crate::failure::Failure;
use crate::render::{bad, faint, good, plain, strong, to_stderr};

/// As the record names whoever publishes them.
const CLIENT: &str = "preset";
/// So many tools are asked for at once.
const PAGE: u32 = 1_000;
/// A record that is longer than this is not that of a first start.
const YOUNG: u32 = 200;

/// A preset that was chosen.
pub(crate) struct Preset {
    name: String,
    documents: Vec<Document>,
}

impl Preset {
    /// The preset of this name.
    pub(crate) fn chosen(name: &str) -> Result<Self, Failure> {
        let documents = documents(name)?;
        Ok(Self { name: name.to_owned(), documents })
    }

    /// Its name, where its tools are about to be published: it has some, and no tool was ever there.
    pub(super) async fn follows(&self, desk: &Desk) -> Result<Option<&str>, Refusal> {
        let follows = !self.documents.is_empty() && is_first_start(desk).await?;
        Ok(follows.then_some(self.name.as_str()))
    }

    /// Publishes its tools where none was ever there. What fails is told, and nothing ends by it.
    pub(crate) async fn publish(self, desk: Arc<Desk>, is_quiet: bool) {
        let Self { name, documents } = self;
        match is_first_start(&desk).await {
            Ok(true) if !documents.is_empty() => {}
            Ok(_) => return,
            Err(refusal) => return tell_failed(&name, &refusal),
        }
        let (mut published, of) = (0_usize, documents.len());
        for document in documents {
            let tool = document.name.clone();
            match publish_one(&desk, &name, document).await {
                Ok(()) => published += 1,
                Err(refusal) => tell_failed(&tool, &refusal),
            }
        }
        if !is_quiet {
            let count = format!("{published} of {of} tools are published");
            to_stderr(&[
                good("preset "),
                strong(&name),
                plain(": "),
                plain(&count),
                faint("  bailiwick tool list"),
            ]);
        }
    }
}

/// The documents of a preset.
pub(crate) fn documents(name: &str) -> Result<Vec<Document>, Failure> {
    let shipped = catalogue::preset(name).map_err(|error| match error {
        PresetError::Unknown { ref known, .. } => {
            Failure::Argument { message: error.to_string(), hint: format!("there are {}", known.join(", ")) }
        }
        PresetError::Damaged(_) | PresetError::Missing(_) => {
            Failure::Refused(Refusal::new(bailiwick_types::ErrorCode::Internal, error.to_string()))
        }
    })?;
    Ok(shipped.into_iter().map(|catalogue::Document { name, text }| Document { name, text }).collect())
}

/// The tools that are published now.
pub(super) async fn published(desk: &Desk) -> Result<Vec<ToolLine>, Refusal> {
    let mut published = Vec::new();
    let mut after = None;
    loop {
        let page = match desk.perform(caller(), Action::ToolList { after, limit: PAGE }).await? {
            Reply::Tools(page) => page,
            _ => Vec::new(),
        };
        after = page.last().map(|tool| tool.name.clone());
        if after.is_none() {
            return Ok(published);
        }
        published.extend(page.into_iter().filter(|tool| tool.state == "PUBLISHED"));
    }
}

/// Whether no tool was ever there: the catalogue is empty, and the record knows of none.
async fn is_first_start(desk: &Desk) -> Result<bool, Refusal> {
    match desk.perform(caller(), Action::ToolList { after: None, limit: 1 }).await? {
        Reply::Tools(tools) if tools.is_empty() => {}
        _ => return Ok(false),
    }
    let page = Action::AuditPage { from: None, newest_first: false, limit: YOUNG };
    let Reply::Records(records) = desk.perform(caller(), page).await? else { return Ok(false) };
    let is_young = u32::try_from(records.len()).is_ok_and(|count| count < YOUNG);
    let is_of_a_tool = |record: &Value| {
        let action = record.get("action").and_then(Value::as_str).unwrap_or_default();
        action.starts_with("tool.")
    };
    Ok(is_young && !records.iter().any(is_of_a_tool))
}

async fn publish_one(desk: &Desk, preset: &str, document: Document) -> Result<(), Refusal> {
    let reasons = Reasons {
        justification: Some(format!("ships with Bailiwick, chosen by the preset `{preset}`")),
        despite_scan: None,
    };
    let action = Action::ToolPublishDocument { document, reasons, approval_off: false };
    match desk.perform(caller(), action).await? {
        Reply::Published(published) if published.tool.state == "PUBLISHED" => Ok(()),
        Reply::Published(published) => Err(Refusal::new(
            bailiwick_types::ErrorCode::Conflict,
            format!("it is {} and not published", published.tool.state),
        )),
        _ => Err(Refusal::new(bailiwick_types::ErrorCode::Internal, "no publication came back")),
    }
}

fn caller() -> Caller {
    Caller::alone(Actor { key: None, client: CLIENT.to_owned() })
}

fn tell_failed(what: &str, refusal: &Refusal) {
    to_stderr(&[bad("preset: "), strong(what), plain(": "), plain(&refusal.message)]);
}
