//! Looks at everything that is kept, and compares it with what clients were told.

use std::collections::BTreeMap;

use bailiwick_core::{Action, Reply, ToolView};
use serde_json::Value;

use super::clients::AtDesk;
use super::ledger::{Bounds, Ledger, Standing};

/// What was seen of the record so far.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The number of the last record that was read.
    to: u64,
    /// How many intents and how many outcomes a call has, by its correlation.
    calls: BTreeMap<String, (usize, usize)>,
    /// How often a tool was changed, by tool and action.
    changes: BTreeMap<(String, String), usize>,
    /// The last version of each tool.
    versions: BTreeMap<String, u64>,
}

impl Looked {
    /// Looks at every tool and at what is new on the record.
    pub(super) fn look(&mut self, desk: &AtDesk, ledgers: &mut [Ledger; 2]) {
        let Ok(Reply::Tools(lines)) = desk.ask(Action::ToolList { after: None, limit: 1000 }) else {
            panic!("the tools cannot be listed")
        };
        assert!(lines.len() <= ledgers.len(), "{lines:?}");
        for ledger in &mut *ledgers {
            let found = lines.iter().find(|line| line.name == ledger.tool).map(|line| {
                let Ok(Reply::Tool(view)) = desk.ask(Action::ToolShow { tool: line.id.to_string() }) else {
                    panic!("{} cannot be shown", ledger.tool)
                };
                assert_eq!(view.line, *line);
                let before = self.versions.insert(line.name.clone(), line.version).unwrap_or(0);
                assert!(before <= line.version, "version {} came after {before}", line.version);
                standing(&view)
            });
            ledger.settle(found);
        }
        self.read_on(desk);
        for ledger in ledgers {
            self.compare(ledger);
        }
    }

    /// Reads the record from where it ended before.
    fn read_on(&mut self, desk: &AtDesk) {
        let mut next = Some(self.to + 1);
        while let Some(from) = next {
            let Ok(Reply::Lines(page)) = desk.ask(Action::AuditExport { from, limit: 1000 }) else {
                panic!("the record cannot be read")
            };
            next = page.next;
            for line in &page.lines {
                let record: Value = serde_json::from_str(line).expect("a line of JSON");
                // Heads are lines, too.
                let Some(seq) = record["seq"].as_u64() else { continue };
                assert_eq!(seq, self.to + 1, "the numbers have no gap");
                self.to = seq;
                self.note(&record);
            }
        }
    }

    fn note(&mut self, record: &Value) {
        let text = |field: &str| record.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        match record["kind"].as_str() {
            Some("intent") => self.calls.entry(text("/correlationId")).or_default().0 += 1,
            Some("outcome") => self.calls.entry(text("/correlationId")).or_default().1 += 1,
            Some("change") => *self.changes.entry((text("/tool/name"), text("/action"))).or_default() += 1,
            other => panic!("{other:?}"),
        }
    }

    fn compare(&self, ledger: &mut Ledger) {
        for (correlation, is_told) in &ledger.called {
            let (intents, outcomes) = self.calls.get(correlation).copied().unwrap_or_default();
            let fits =
                if *is_told { (intents, outcomes) == (1, 1) } else { outcomes <= intents && intents <= 1 };
            assert!(fits, "{correlation}, told {is_told}: {intents} intents, {outcomes} outcomes");
        }
        for (action, bounds) in &mut ledger.changes {
            let key = (ledger.tool.to_owned(), (*action).to_owned());
            let found = self.changes.get(&key).copied().unwrap_or(0);
            let Bounds { least, most } = *bounds;
            assert!((least..=most).contains(&found), "{key:?}: {found}, but told {least} of {most}");
            // What was not done by now is never done.
            *bounds = Bounds { least: found, most: found };
        }
    }

    /// What there was of everything.
    pub(super) fn figures(&self, ledgers: &[Ledger; 2]) -> String {
        let told: usize = ledgers.iter().map(|ledger| ledger.told).sum();
        let doubt: usize = ledgers.iter().map(|ledger| ledger.tried).sum::<usize>() - told;
        let calls = ledgers.iter().flat_map(|ledger| ledger.called.values());
        let (mut ended, mut lost) = (0, 0);
        for is_told in calls {
            *(if *is_told { &mut ended } else { &mut lost }) += 1;
        }
        format!(
            "{told} changes acknowledged and {doubt} in doubt, {ended} calls acknowledged and {lost} in doubt, {} records",
            self.to
        )
    }
}

/// How a tool stands, if all that is kept of it fits together.
fn standing(view: &ToolView) -> Standing {
    assert_eq!(view.because, None, "{view:?}");
    let code = view.document["code"].as_str().expect("its code");
    let edition =
        code.strip_prefix("return ").and_then(|rest| rest.trim().parse().ok()).expect("its edition");
    assert_eq!(view.document["tests"][0]["equals"], edition, "code and tests are of one edition");
    let passed = view.pass.as_ref().map(|pass| pass["covered"].as_str().unwrap_or_default());
    let state = match view.line.state.as_str() {
        "PUBLISHED" => "PUBLISHED",
        "READY" => "READY",
        "DRAFT" => "DRAFT",
        other => panic!("{} is {other}", view.line.name),
    };
    if state != "DRAFT" {
        assert_eq!(passed, Some(view.hash.as_str()), "{state} by a pass of this edition");
    }
    Standing { edition, state }
}
