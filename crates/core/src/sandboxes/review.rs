//! What a sandbox has changed of folders under overlays: shown, taken, or dropped. Nothing lands before somebody takes it.
//!
//! The overlay crate finds and writes the changes; here is whose they are, that a person's yes is on the record, and that a
//! commit which was cut off is carried on at the next start. Nothing here may write to the host's folder by itself.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_overlay::{
    Baseline, Bounds, Change, Changes, Commit, DiffBounds, Ended, Fault, Host, Journals, LinksOut, Moment,
    Names, Original, RelPath, Reviewed, Selection, View, What, recover,
};
use bailiwick_sandbox::{Put, Sandbox, SandboxPath, SandboxSpec};
use bailiwick_sys::held::HeldFile;
use bailiwick_types::{ErrorCode, shortened};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::actions::On;
use super::looks::{Looks, Viewer};
use crate::core::OpenCall;
use crate::{Caller, Core, Fault as Told, Origin, Refusal, Reply};

/// Where journals of commits are, in the data folder.
const JOURNALS: &str = "commits";
/// The most names of a folder that are remembered of its begin.
const MOST_NAMES: usize = 2_000_000;
/// The longest file that is put back where a change is dropped.
const MOST_RESTORED: u64 = 64 << 20;
/// The most conflicts that one command is told.
const MOST_CONFLICTS_TOLD: usize = 20;
/// How much of the lines of a diff is shown.
const SHOWN: DiffBounds = DiffBounds { output: 2 << 20, ..SHIPPED };
const SHIPPED: DiffBounds =
    DiffBounds { file: 512 << 10, output: 4 << 20, time: std::time::Duration::from_secs(5) };

/// The word for something in JSON, as people read it.
fn word(what: &impl Serialize) -> String {
    match serde_json::to_value(what) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Which changes somebody means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReviewWish {
    /// The overlay, by its place inside; not needed where there is one.
    pub at: Option<SandboxPath>,
    /// Paths below it, with all that is in them; none for everything.
    pub paths: Vec<String>,
    /// Take links that lead out of the folder, too.
    pub links_out: bool,
    /// The most bytes of the lines that a diff shows, where that is less than is shown anyway.
    pub patch_bytes: Option<u64>,
}

/// Changes as they are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The host's folder.
    pub from: PathBuf,
    /// Where it is inside.
    pub to: SandboxPath,
    /// Each change, with what stands against it: an array of the changes, what was skipped, what was left out.
    pub changes: Value,
    /// As a patch.
    pub patch: String,
    /// How many changes there are.
    pub count: usize,
    /// Changes that cannot be taken, one line each.
    pub conflicts: Vec<String>,
    /// Changes at which a reviewer should look twice, one line each.
    pub sensitive: Vec<String>,
}

/// What became of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Landed {
    /// The host's folder.
    pub from: PathBuf,
    /// Paths whose changes were taken, or dropped.
    pub done: Vec<String>,
    /// What was left as it is, and why, one line each.
    pub left: Vec<String>,
}

/// An overlay of a sandbox, with what is known of its folder.
pub(crate) struct Overlaid {
    to: SandboxPath,
    shared: Arc<Mutex<Reviewing>>,
    /// Ends the look at the names of the folder.
    stop: Arc<AtomicBool>,
}

struct Reviewing {
    view: View,
    /// What was shown last, to each who looked: only that is taken.
    shown: Looks<Reviewed>,
}

impl Drop for Overlaid {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The overlays of a sandbox that was just made; it began before `since`.
pub(crate) fn overlaid(sandbox: &dyn Sandbox, since: Moment) -> Result<Vec<Overlaid>, Refusal> {
    let mut all = Vec::new();
    for overlay in &sandbox.spec().overlays {
        // A commit goes to the directory that was checked, whatever has its path by then.
        let host = Host::held(overlay.source()).map_err(refusal)?;
        let upper = sandbox.written_over(&overlay.to)?;
        let view = View::new(host, upper, Baseline::at(since));
        let shared = Arc::new(Mutex::new(Reviewing { view, shown: Looks::default() }));
        let stop = Arc::new(AtomicBool::new(false));
        learn_names(overlay.source(), since, &shared, &stop);
        all.push(Overlaid { to: overlay.to.clone(), shared, stop });
    }
    Ok(all)
}

/// Reads the names of a folder beside everything else: who waits for the sandbox does not wait for that.
fn learn_names(source: &HeldFile, since: Moment, shared: &Arc<Mutex<Reviewing>>, stop: &Arc<AtomicBool>) {
    let (source, weak, stop) = (source.clone(), Arc::downgrade(shared), stop.clone());
    drop(tokio::task::spawn_blocking(move || {
        let names = Host::held(&source).and_then(|host| Names::scan(&host, since, MOST_NAMES, &stop));
        match (names, weak.upgrade()) {
            (Ok(names), Some(shared)) => {
                shared.lock().unwrap_or_else(PoisonError::into_inner).view.know(names);
            }
            // What is not known is a conflict later, and never written over.
            (Err(error), _) => tracing::debug!(%error, "the names under an overlay are not known"),
            (Ok(_), None) => {}
        }
    }));
}

/// The one that is meant.
fn pick<'a>(all: &'a [Overlaid], wish: &ReviewWish) -> Result<&'a Overlaid, Refusal> {
    let places = || all.iter().map(|one| one.to.to_string()).collect::<Vec<_>>().join(", ");
    let refused =
        |message: String, hint: String| Refusal::new(ErrorCode::InvalidInput, message).with_hint(hint);
    match (&wish.at, all) {
        (_, []) => Err(refused(
            "the sandbox has no overlay, so there is nothing to review".to_owned(),
            "make one with --overlay FOLDER".to_owned(),
        )),
        (None, [one]) => Ok(one),
        (None, _) => {
            Err(refused("the sandbox has several overlays".to_owned(), format!("say which: {}", places())))
        }
        (Some(at), all) => all.iter().find(|one| one.to == *at).ok_or_else(|| {
            refused(format!("no overlay is at {at}"), format!("there are overlays at {}", places()))
        }),
    }
}

fn selection(wish: &ReviewWish) -> Result<Selection, Refusal> {
    if wish.paths.is_empty() {
        return Ok(Selection::All);
    }
    let paths = wish.paths.iter().map(|text| {
        RelPath::parse(text).map_err(|error| {
            Refusal::new(ErrorCode::InvalidInput, format!("`{}`: {error}", shortened(text)))
                .with_hint("name paths as the diff shows them, from the folder on")
        })
    });
    Ok(Selection::Paths(paths.collect::<Result<_, _>>()?))
}

/// Does something with a view beside other tasks: it reads files.
async fn with<T: Send + 'static>(
    one: &Overlaid,
    doing: impl FnOnce(&mut Reviewing) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let shared = one.shared.clone();
    let done = tokio::task::spawn_blocking(move || {
        doing(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
    });
    done.await.map_err(|_| Refusal::internal("looking at changes"))?
}

/// Shows what was changed.
pub(crate) async fn diff(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    wish: ReviewWish,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    Ok(Reply::Changes(Box::new(show(on.overlaid(), wish, Viewer::of(caller)).await?)))
}

/// The changes of an overlay.
async fn show(all: &[Overlaid], wish: ReviewWish, viewer: Viewer) -> Result<Shown, Refusal> {
    let one = pick(all, &wish)?;
    let (selection, to) = (selection(&wish)?, one.to.clone());
    let asked = wish.patch_bytes.map_or(SHOWN.output, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let bounds = DiffBounds { output: asked.min(SHOWN.output), ..SHOWN };
    with(one, move |reviewing| {
        let changes = reviewing.view.changes(&selection, Bounds::default()).map_err(refusal)?;
        let diff = reviewing.view.diff(&changes, bounds).map_err(refusal)?;
        reviewing.shown.remember(viewer, changes.reviewed());
        let Changes { changes: listed, skipped, left_out } = &changes;
        let line = |path: &RelPath, words: Vec<String>| format!("{path}: {}", words.join(", "));
        let conflicts = listed.iter().filter(|change| !change.findings.is_empty());
        let sensitive = listed.iter().filter(|change| !change.sensitive.is_empty());
        Ok(Shown {
            from: reviewing.view.host().path().to_owned(),
            to,
            changes: json!({"changes": listed, "skipped": skipped, "leftOut": left_out}),
            patch: diff.patch(),
            count: listed.len(),
            conflicts: conflicts
                .map(|change| line(&change.path, change.findings.iter().map(ToString::to_string).collect()))
                .collect(),
            sensitive: sensitive
                .map(|change| line(&change.path, change.sensitive.iter().map(word).collect()))
                .collect(),
        })
    })
    .await
}

/// Takes changes: they are written to the host's folder, all or none.
pub(crate) async fn commit(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    wish: ReviewWish,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    let arguments = json!({"at": wish.at, "paths": wish.paths, "linksOut": wish.links_out});
    let done = async {
        let by = By { viewer: Viewer::of(caller), must_look: caller.origin == Origin::Wire };
        let landed = land(core.inner.world.data(), on.overlaid(), wish, by).await?;
        let told = json!({"ok": true, "folder": landed.from, "written": landed.done, "left": landed.left});
        Ok((landed, told, None))
    };
    Ok(Reply::Landed(Box::new(on.noted(open, "sandbox.commit", arguments, done).await?)))
}

/// Who takes changes.
#[derive(Default)]
struct By {
    viewer: Viewer,
    /// Whether they take only what they were shown, also where they never looked.
    must_look: bool,
}

/// Writes changes to the host's folder.
async fn land(data: &Path, all: &[Overlaid], wish: ReviewWish, by: By) -> Result<Landed, Refusal> {
    let one = pick(all, &wish)?;
    let selection = selection(&wish)?;
    let journals = data.join(JOURNALS);
    let links_out = if wish.links_out { LinksOut::Write } else { LinksOut::Refuse };
    with(one, move |Reviewing { view, shown }| {
        let journals = Journals::open(&journals).map_err(refusal)?;
        let reviewed = shown.of(&by.viewer);
        if reviewed.is_none() && (by.must_look || shown.has_forgotten()) {
            let message = "nothing of this was shown to whoever takes it, and only what was shown is taken";
            return Err(Refusal::new(ErrorCode::Conflict, message)
                .with_hint("look at the changes first, with the same key: sandbox diff, GET …/diff"));
        }
        let commit = Commit { selection, links_out, reviewed, ..Commit::default() };
        let committed = view.commit(&commit, &journals, &mut ()).map_err(refusal)?;
        let skipped = committed.skipped.iter().map(|one| format!("{}: {}", one.path, word(&one.why)));
        let left = committed.left.iter().map(|one| format!("{}: {}", one.path, one.finding));
        Ok(Landed {
            from: view.host().path().to_owned(),
            done: committed.written.iter().map(ToString::to_string).collect(),
            left: left.chain(skipped).collect(),
        })
    })
    .await
}

/// Drops changes: the sandbox sees again what the host has. It is done from inside, since what is laid over a folder must not
/// be changed from outside while somebody looks through it.
pub(crate) async fn discard(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    wish: ReviewWish,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    let arguments = json!({"at": wish.at, "paths": wish.paths});
    let done = async {
        let landed = drop_changes(&on, &wish).await?;
        let told =
            json!({"ok": true, "folder": landed.from, "dropped": landed.done.len(), "left": landed.left});
        Ok((landed, told, None))
    };
    Ok(Reply::Landed(Box::new(on.noted(open, "sandbox.discard", arguments, done).await?)))
}

async fn drop_changes(on: &On<'_>, wish: &ReviewWish) -> Result<Landed, Refusal> {
    let one = pick(on.overlaid(), wish)?;
    let selection = selection(wish)?;
    let (changes, from) = with(one, move |reviewing| {
        let changes = reviewing.view.changes(&selection, Bounds::default()).map_err(refusal)?;
        Ok((changes, reviewing.view.host().path().to_owned()))
    })
    .await?;
    let mut landed = Landed { from, done: Vec::new(), left: Vec::new() };
    let mut removed: Option<RelPath> = None;
    for change in changes.changes {
        let path = change.path.clone();
        let text = path.to_string();
        let Some(inside) = inside(&one.to, &path) else {
            landed.left.push(format!("{text}: its name is not UTF-8"));
            continue;
        };
        let is_gone = removed.as_ref().is_some_and(|above| path.is_within(above));
        if matches!(change.what, What::Added | What::TypeChanged) && !is_gone {
            on.sandbox().remove(&inside).await?;
            removed = Some(path.clone());
        }
        if change.what != What::Added {
            let looked = path.clone();
            let original =
                with(one, move |reviewing| reviewing.view.original(&looked, MOST_RESTORED).map_err(refusal));
            let put = match original.await? {
                Original::Nothing => None,
                Original::Folder(mode) => Some(Put::Folder { mode }),
                Original::File { bytes, mode } => Some(Put::File { bytes: bytes.into(), mode }),
                Original::Link(target) => {
                    let Ok(to) = std::str::from_utf8(target.as_bytes()) else {
                        landed.left.push(format!("{text}: where the link leads is not UTF-8"));
                        continue;
                    };
                    Some(Put::Link { to: to.to_owned() })
                }
                Original::TooLarge(size) => {
                    landed.left.push(format!("{text}: with {size} bytes it is too large to be put back"));
                    continue;
                }
            };
            if let Some(put) = put {
                if matches!(put, Put::Link { .. }) && change.what == What::Changed {
                    on.sandbox().remove(&inside).await?;
                }
                on.sandbox().put(&inside, put).await?;
            }
        }
        landed.done.push(text);
    }
    Ok(landed)
}

/// The path inside of something below an overlay.
fn inside(to: &SandboxPath, path: &RelPath) -> Option<SandboxPath> {
    let below = std::str::from_utf8(path.as_bytes()).ok()?;
    let above = to.as_str().trim_end_matches('/');
    SandboxPath::new(&format!("{above}/{below}")).ok()
}

/// What stands against each change that cannot be taken.
fn conflicts(fault: &Fault) -> Vec<Told> {
    let Fault::Refused(changes) = fault else { return Vec::new() };
    let told = |change: &Change| Told {
        document: "changes".to_owned(),
        path: change.path.to_string(),
        line: 0,
        column: 0,
        message: change.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        hint: None,
    };
    changes.iter().take(MOST_CONFLICTS_TOLD).map(told).collect()
}

/// Why changes cannot be shown or taken.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn refusal(fault: Fault) -> Refusal {
    let (code, hint) = match &fault {
        Fault::Refused(_) => {
            (ErrorCode::Conflict, "look at them with sandbox diff; name paths to take only others")
        }
        Fault::StillWritten { .. } => (ErrorCode::Conflict, "stop what runs in the sandbox, and try again"),
        Fault::NoSuchChange { .. } => (ErrorCode::NotFound, "name paths as sandbox diff shows them"),
        Fault::TooMuch { .. } => (ErrorCode::InvalidInput, "name some paths"),
        _ => (ErrorCode::Internal, "nothing was lost: what the sandbox changed is still there"),
    };
    Refusal::new(code, fault.to_string()).with_hint(hint).with_faults(conflicts(&fault))
}

/// Carries on, or drops, what commits of a process that was killed have left. Gives what is worth a record.
pub(crate) fn recover_commits(data: &Path) -> Vec<Value> {
    let folder = data.join(JOURNALS);
    if !folder.is_dir() {
        return Vec::new();
    }
    let recovered = Journals::open(&folder).and_then(|journals| recover(&journals, &mut ()));
    match recovered {
        Ok(recovered) => recovered
            .into_iter()
            .map(|one| {
                tracing::info!(ended = ?one.ended, "a commit that was cut off");
                json!({"ok": !matches!(one.ended, Ended::Kept { .. }), "recovered": one})
            })
            .collect(),
        Err(error) => {
            tracing::warn!(%error, "commits that were cut off could not be looked at");
            vec![json!({"ok": false, "message": error.to_string()})]
        }
    }
}

/// What a single command has changed under overlays, as lines for whoever ran it; taken where that was asked for, with journals in
/// this data folder. Where it was asked for and cannot be done, that is a refusal: nobody goes on as if it had landed.
pub async fn after_one(
    data: &Path,
    sandbox: &dyn Sandbox,
    since: Moment,
    takes: bool,
    ended_well: bool,
) -> Result<Vec<String>, Refusal> {
    let SandboxSpec { overlays, .. } = sandbox.spec();
    if overlays.is_empty() {
        return Ok(Vec::new());
    }
    let all = overlaid(sandbox, since)?;
    let (mut lines, mut stuck) = (Vec::new(), Vec::new());
    for one in &all {
        let wish = ReviewWish { at: Some(one.to.clone()), ..ReviewWish::default() };
        let shown = show(&all, wish.clone(), Viewer::default()).await;
        let Shown { from, count, conflicts, .. } = match shown {
            Ok(shown) => shown,
            // Nothing was to be taken, and what the command gave is not lost for want of a count.
            Err(refusal) if !takes || !ended_well => {
                lines.push(format!(
                    "changes at {} were dropped; they could not be counted: {}",
                    one.to, refusal.message
                ));
                continue;
            }
            Err(refusal) => return Err(refusal),
        };
        let folder = from.display();
        if count == 0 {
            continue;
        }
        if !takes {
            lines.push(format!("{count} changes to {folder} were dropped; --commit takes them"));
        } else if !ended_well {
            lines.push(format!(
                "{count} changes to {folder} were dropped, since the command did not end well"
            ));
        } else if conflicts.is_empty() {
            let landed = land(data, &all, wish, By::default()).await?;
            lines.push(format!("{} changes were written to {folder}", landed.done.len()));
            lines.extend(landed.left.into_iter().map(|left| format!("left alone: {left}")));
        } else {
            let more = match conflicts.len().saturating_sub(MOST_CONFLICTS_TOLD) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            let told: Vec<String> = conflicts.into_iter().take(MOST_CONFLICTS_TOLD).collect();
            let told = told.join("; ");
            stuck.push(format!(
                "{count} changes to {folder} were dropped, since some cannot be taken: {told}{more}"
            ));
        }
    }
    if stuck.is_empty() {
        return Ok(lines);
    }
    stuck.extend(lines);
    Err(Refusal::new(ErrorCode::Conflict, stuck.join("; "))
        .with_hint("run it in a sandbox that is kept, and take what can be taken with sandbox commit"))
}
