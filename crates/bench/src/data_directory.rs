//! A temporary data directory. Store and core fill it, as they fill the operator's.

use std::path::PathBuf;

use bailiwick::{Builder, Runtime};
use bailiwick_audit::{Actor, Entry, Kind, ToolRef};
use bailiwick_config::{Environment, FolderFile, Request, load};
use bailiwick_core::{Action, Backends, Caller, Core, Document, Opening, Presence, Refusal, Reply};
use bailiwick_secrets::Fallback;
use bailiwick_store::{Durability, Options, Store, StoreError};
use bailiwick_types::{CallId, ToolId, Usage};
use serde_json::json;

use crate::failure::Failure;

/// Records of one transaction of the filling.
const RECORDS_AT_ONCE: u64 = 10_000;
/// Documents of one import of the filling.
const TOOLS_AT_ONCE: u32 = 1_000;

/// A data directory, removed when it is dropped.
pub(crate) struct DataDirectory(tempfile::TempDir);

impl DataDirectory {
    pub(crate) fn new() -> Result<Self, Failure> {
        tempfile::tempdir().map(Self).map_err(|source| Failure::Measure { what: "a data directory", source })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// A path beside the data.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The store alone.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.path(), Options::default()).map_err(Refusal::from)?)
    }

    /// The core in this process, with the settings of the operator and this data directory.
    pub(crate) async fn core(&self, cells: Builder) -> Result<Core, Failure> {
        let environment = Environment::of_this_process().map_err(Failure::Environment)?;
        let request =
            Request { data: Some(self.path()), folder_file: FolderFile::Skip, ..Request::default() };
        let settings = load(&environment, &request)?.settings;
        let (data, config) = (self.path(), self.beside("config"));
        let (fallback, backends, presence) = (Fallback::none(), Backends::default(), Presence::Brief);
        let opening = Opening { data, config, settings, fallback, cells, backends, presence };
        Ok(Core::open(opening).await?)
    }

    /// Fills in tools that differ in name, text and code.
    pub(crate) async fn fill_tools(&self, count: u32, mut progress: impl FnMut(u32)) -> Result<(), Failure> {
        let core = self.core(Runtime::builder().parked(0)).await?;
        for first in (0..count).step_by(TOOLS_AT_ONCE as usize) {
            let last = count.min(first.saturating_add(TOOLS_AT_ONCE));
            let documents = (first..last).map(document).collect();
            perform(&core, Action::ToolImport { documents, approval_off: false }).await?;
            progress(last);
        }
        Ok(core.close().await?)
    }

    /// Fills in records, chained and signed as any.
    pub(crate) async fn fill_records(
        &self,
        count: u64,
        mut progress: impl FnMut(u64),
    ) -> Result<(), Failure> {
        let store = self.store()?;
        let mut done = 0;
        while done < count {
            let (first, last) = (done, count.min(done + RECORDS_AT_ONCE));
            let written = store.write(Durability::Process, move |tx| -> Result<(), StoreError> {
                (first..last).try_for_each(|number| tx.append(&entry(number)).map(drop))
            });
            written.await.map_err(Refusal::from)?;
            done = last;
            progress(done);
        }
        Ok(store.close().await.map_err(Refusal::from)?)
    }
}

/// Asks the core for an action.
pub(crate) async fn perform(core: &Core, action: Action) -> Result<Reply, Refusal> {
    let actor = bailiwick_core::Actor { key: None, client: "bench".to_owned() };
    core.perform(Caller::alone(actor), action).await
}

/// The name of a tool of the filling.
pub(crate) fn name(number: u32) -> String {
    format!("tool-{number:05}")
}

/// A tool of the filling, as long as tools are.
pub(crate) fn document(number: u32) -> Document {
    let name = name(number);
    let text = format!(
        "name: {name}\ntitle: Tool {number}\ndescription: Adds {number} to a number and tells what came of it, in words.\n\
         category: MATH\ntags: [numbers, sums]\nparams:\n  - {{name: value, type: INTEGER, required: true, description: \
         The number to add to, testValue: 1}}\noutput: {{type: string}}\ntests:\n  - {{name: one, input: {{value: 1}}, \
         matches: is}}\ncode: |\n  const sum = value + {number};\n  const words = ['it', 'is', String(sum)];\n  return \
         words.join(' ');\n"
    );
    Document { name: format!("{name}.tool.yaml"), text }
}

/// The outcome of a call, as a record of one is.
pub(crate) fn entry(number: u64) -> Entry {
    let mut parts = [0; 10];
    for (part, byte) in parts.iter_mut().zip(number.to_be_bytes()) {
        *part = byte;
    }
    let actor = Actor { key: None, client: "bench".to_owned() };
    let id = CallId::from_parts(1_700_000_000_000 + number, &parts);
    Entry {
        call_id: Some(id),
        correlation_id: Some(id.into()),
        tool: Some(ToolRef {
            id: Some(ToolId::from_parts(1_700_000_000_000, &[7; 10])),
            name: name(7),
            hash: Some("5b".repeat(32)),
        }),
        policy_hash: Some("c4".repeat(32)),
        arguments: Some(json!({"value": number})),
        outcome: Some(json!({"ok": true, "code": null, "bytes": 9, "sha256": "9f".repeat(32)})),
        usage: Some(Usage::default()),
        backend: Some(json!({"id": "cell", "tier": "process", "insecure": false})),
        ..Entry::new(Kind::Outcome, actor, "tool.call")
    }
}
