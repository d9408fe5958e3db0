//! `bailiwick tool apply`: documents of a folder as they are to be published. Each is taken in, tested and published in
//! one step; one that fails leaves the tool that is published as it is. What is published and unchanged is left alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bailiwick_core::{Action, Deaf, Document, Published, Reasons, Refusal, Reply, ToolView};
use bailiwick_tool::{MANAGED, Read, Syntax, Tool};
use bailiwick_types::{ErrorClass, ErrorCode, RiskLevel};
use serde_json::{Value, json};

use super::list::look_of;
use crate::desk::{At, Person, ask, at_desk, caller};
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, Span, bad, faint, good, plain, strong, warning};
use crate::resolved::Session;
use crate::targets;
use crate::typed::tool::Apply;

/// The exit code where a document is not published.
const NOT_ALL: u8 = 1;

/// What became of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It is published now.
    Published,
    /// It was published before, and nothing differs.
    Unchanged,
    /// It passed, and waits for a written reason.
    Waits,
    /// It did not pass, or was refused.
    Failed,
}

/// One document, as it is told.
struct Applied {
    file: String,
    name: Option<String>,
    outcome: Outcome,
    /// The state of the tool afterwards; none where there is no such tool.
    state: Option<String>,
    level: Option<RiskLevel>,
    /// Why it is not published.
    because: Option<String>,
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Unchanged => "unchanged",
            Self::Waits => "waits",
            Self::Failed => "failed",
        }
    }
}

impl Applied {
    fn to_json(&self) -> Value {
        let Self { file, name, outcome, state, level, because } = self;
        json!({
            "file": file, "name": name, "result": outcome.word(), "state": state, "level": level,
            "because": because,
        })
    }
}

/// `bailiwick tool apply PATH…`
pub(crate) fn apply(screen: &mut Screen, session: &Session, what: &Apply) -> Result<u8, Failure> {
    let Apply { paths, reasons, approval_off, cells } = what;
    let reasons = WrittenReasons::read(reasons)?;
    let mut documents = Vec::new();
    for path in targets::files_below(paths)? {
        documents.push((path.display().to_string(), targets::read(&path)?));
    }
    refuse_twins(&documents)?;
    let applied = at_desk(session, cells, async |desk| {
        let mut applied = Vec::with_capacity(documents.len());
        for (file, document) in documents {
            let job = Job { desk, reasons: &reasons, approval_off: *approval_off };
            applied.push(job.apply(file, document).await?);
        }
        Ok(applied)
    })?;
    let is_done = |one: &Applied| matches!(one.outcome, Outcome::Published | Outcome::Unchanged);
    let code = if applied.iter().all(is_done) { 0 } else { NOT_ALL };
    if screen.wants_json() {
        let tools: Vec<Value> = applied.iter().map(Applied::to_json).collect();
        screen.json(&json!({"ok": code == 0, "tools": tools}));
    } else {
        tell(screen, &applied);
    }
    Ok(code)
}

/// Why tools of a level are worth it: one reason for every level that needs one, or one for each level.
struct WrittenReasons {
    for_all: Option<String>,
    by_level: BTreeMap<RiskLevel, String>,
}

impl WrittenReasons {
    fn read(texts: &[String]) -> Result<Self, Failure> {
        let mut read = Self { for_all: None, by_level: BTreeMap::new() };
        for text in texts {
            let level = text.split_once('=').and_then(|(level, reason)| Some((named(level)?, reason)));
            let before = match level {
                Some((level, reason)) => read.by_level.insert(level, reason.to_owned()),
                None => read.for_all.replace(text.clone()),
            };
            if before.is_some() {
                return Err(Failure::Argument {
                    message: "--reason is given twice for the same tools".to_owned(),
                    hint: "give one for all, or one for each level: --reason L4=…".to_owned(),
                });
            }
        }
        Ok(read)
    }

    /// The reason for a tool of this level; none below the level from which one is needed.
    fn of(&self, level: RiskLevel) -> Option<String> {
        let text = self.by_level.get(&level).or(self.for_all.as_ref());
        text.filter(|_| level >= RiskLevel::L4).cloned()
    }
}

fn named(level: &str) -> Option<RiskLevel> {
    RiskLevel::ALL.into_iter().find(|known| known.name() == level)
}

/// Refuses documents of one name: the last of them would silently win.
fn refuse_twins(documents: &[(String, Document)]) -> Result<(), Failure> {
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for (file, document) in documents {
        let Some(tool) = read(document) else { continue };
        let name = tool.name().as_str().to_owned();
        if let Some(other) = names.insert(name.clone(), file) {
            return Err(Failure::Argument {
                message: format!("{other} and {file} are both named `{name}`"),
                hint: "names are unique: change one of them".to_owned(),
            });
        }
    }
    Ok(())
}

fn read(document: &Document) -> Option<Tool> {
    let syntax = Syntax::of_path(Path::new(&document.name))?;
    Tool::read(&document.name, &document.text, syntax).ok().map(|Read { tool, .. }| tool)
}

struct Job<'a> {
    desk: &'a At,
    reasons: &'a WrittenReasons,
    approval_off: bool,
}

impl Job<'_> {
    async fn apply(&self, file: String, document: Document) -> Result<Applied, Failure> {
        let tool = read(&document);
        let name = tool.as_ref().map(|tool| tool.name().as_str().to_owned());
        let there = match &tool {
            Some(tool) => self.there(tool).await?,
            None => None,
        };
        if let (Some(tool), Some(there)) = (&tool, &there)
            && there.line.state == "PUBLISHED"
            && is_same(&tool.to_json(), &there.document)
        {
            let (state, level) = (Some(there.line.state.clone()), there.line.level);
            return Ok(Applied { file, name, outcome: Outcome::Unchanged, state, level, because: None });
        }
        let refusal = match self.publish(&document).await? {
            Ok(published) => return Ok(of_published(file, published)),
            Err(refusal) => refusal,
        };
        // A tool that is there stays as it is; a new one is kept as a draft, to be looked at.
        let state = match there {
            Some(there) => Some(there.line.state),
            None => self.draft(document).await?,
        };
        let because = Some(because(&refusal));
        Ok(Applied { file, name, outcome: Outcome::Failed, state, level: None, because })
    }

    /// The tool of the catalogue that a document is about.
    async fn there(&self, tool: &Tool) -> Result<Option<ToolView>, Failure> {
        let id = tool.id().map(|id| id.to_string());
        for key in id.into_iter().chain([tool.name().as_str().to_owned()]) {
            match ask(self.desk, Action::ToolShow { tool: key }).await {
                Ok(Reply::Tool(view)) => return Ok(Some(*view)),
                Ok(_) => return Err(Failure::StrangeReply("a tool")),
                Err(refusal) if refusal.code == ErrorCode::NotFound => {}
                Err(refusal) => return Err(refusal.into()),
            }
        }
        Ok(None)
    }

    /// Publishes a document, or says what is wrong with it. A failure is about more than this document.
    async fn publish(&self, document: &Document) -> Result<Result<Published, Refusal>, Failure> {
        let level = match ask(self.desk, Action::ToolPolicy { document: document.clone() }).await {
            Ok(Reply::Policy(view)) => view.risk.level,
            Ok(_) => return Err(Failure::StrangeReply("a policy")),
            // Credentials that do not cover this cover none of the others.
            Err(refusal) if refusal.code == ErrorCode::Forbidden => return Err(refusal.into()),
            Err(refusal) if is_about_the_document(&refusal) => return Ok(Err(refusal)),
            Err(refusal) => return Err(refusal.into()),
        };
        let reasons = Reasons { justification: self.reasons.of(level), despite_scan: None };
        let (document, approval_off) = (document.clone(), self.approval_off);
        let action = Action::ToolPublishDocument { document, reasons, approval_off };
        match self.desk.perform(caller(Person::Nobody, Arc::new(Deaf)), action).await {
            Ok(Reply::Published(published)) => Ok(Ok(*published)),
            Ok(_) => Err(Failure::StrangeReply("a publication")),
            Err(refusal) if is_about_the_document(&refusal) => Ok(Err(refusal)),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Keeps a document that did not pass as a draft, and gives its state; none where it cannot be kept at all.
    async fn draft(&self, document: Document) -> Result<Option<String>, Failure> {
        let action = Action::ToolImport { documents: vec![document], approval_off: false };
        match ask(self.desk, action).await {
            Ok(Reply::Imported(imported)) => Ok(imported.into_iter().next().map(|one| one.state)),
            Ok(_) => Err(Failure::StrangeReply("an import")),
            Err(refusal) if is_about_the_document(&refusal) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }
}

/// Whether two documents differ in nothing but what the catalogue manages.
fn is_same(one: &Value, other: &Value) -> bool {
    let plain = |value: &Value| {
        let mut fields = value.as_object().cloned()?;
        fields.retain(|field, _| !MANAGED.contains(&field.as_str()));
        Some(fields)
    };
    plain(one).is_some_and(|one| plain(other) == Some(one))
}

fn of_published(file: String, published: Published) -> Applied {
    let tool = published.tool;
    let outcome = if tool.state == "PUBLISHED" { Outcome::Published } else { Outcome::Waits };
    let because = (outcome == Outcome::Waits).then(|| {
        let level = tool.level.map_or("high", RiskLevel::name);
        format!("it is {level} and waits for a written reason: --reason {level}=…")
    });
    let (name, state, level) = (Some(tool.name), Some(tool.state), tool.level);
    Applied { file, name, outcome, state, level, because }
}

/// Whether a refusal is about this document, so that the others can go on.
fn is_about_the_document(refusal: &Refusal) -> bool {
    refusal.code.class() != ErrorClass::Ours && refusal.code != ErrorCode::Unauthorized
}

fn because(refusal: &Refusal) -> String {
    let faults = refusal.faults.iter().map(|fault| fault.message.as_str());
    let told: Vec<&str> = std::iter::once(refusal.message.as_str()).chain(faults).collect();
    told.join("; ")
}

fn tell(screen: &mut Screen, applied: &[Applied]) {
    let mut table = Table::new(&["RESULT", "NAME", "BADGE", "STATE", "FILE"]);
    for Applied { file, name, outcome, state, level, because: _ } in applied {
        let look: for<'a> fn(&'a str) -> Span<'a> = match outcome {
            Outcome::Published => good,
            Outcome::Unchanged => faint,
            Outcome::Waits => warning,
            Outcome::Failed => bad,
        };
        let state = state.as_deref().unwrap_or("-");
        table.row(vec![
            Cell::new(outcome.word(), look),
            Cell::new(name.as_deref().unwrap_or("-"), strong),
            Cell::new(level.map_or("-", RiskLevel::name), plain),
            Cell::new(state, look_of(state)),
            Cell::new(file, faint),
        ]);
    }
    table.show(screen);
    screen.show_now();
    for Applied { file, because, .. } in applied {
        if let Some(because) = because {
            screen.note(&format!("{file}: {because}"));
        }
    }
}
