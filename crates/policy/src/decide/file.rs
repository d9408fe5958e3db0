//! May code touch this path? By name alone; the gateway opens what was granted beneath a held folder.

use bailiwick_types::{DenialReason, ErrorCode, LayerName};

use super::fix::Widening;
use super::{Answers, Question, Refusal, Verdict};
use crate::path::{GuestPath, PathError, Root};
use crate::{Capability, EffectivePolicy};

/// What is to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileOp {
    /// Read, list, look at.
    Read,
    /// Create, change, move.
    Write,
    /// Remove, or replace by a move.
    Delete,
}

impl FileOp {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }

    /// The capability it needs.
    pub const fn capability(self) -> Capability {
        match self {
            Self::Read => Capability::FsRead,
            Self::Write => Capability::FsWrite,
            Self::Delete => Capability::FsDelete,
        }
    }
}

/// "May I do this with this path?" A relative path starts at the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileQuestion<'a> {
    /// What is to be done.
    pub op: FileOp,
    /// The path, as the guest wrote it.
    pub path: &'a str,
}

/// A file access that policy granted: beneath which folder, and the plain path from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccess {
    op: FileOp,
    root: Root,
    below: GuestPath,
    layer: LayerName,
}

impl FileAccess {
    /// What may be done.
    pub const fn op(&self) -> FileOp {
        self.op
    }

    /// Beneath which folder.
    pub const fn root(&self) -> &Root {
        &self.root
    }

    /// The plain relative path from there.
    pub const fn below(&self) -> &GuestPath {
        &self.below
    }

    /// The layer that granted it.
    pub const fn layer(&self) -> &LayerName {
        &self.layer
    }
}

/// As much of a path as there can be: a part of one may be half a secret, which nobody would find.
const MOST_SHOWN: usize = GuestPath::MAX_BYTES;

type No = (DenialReason, &'static str, LayerName);

impl Question for FileQuestion<'_> {
    type Granted = FileAccess;

    fn judge(&self, policy: &EffectivePolicy, answers: Answers) -> Verdict<FileAccess> {
        let capability = self.op.capability();
        let place = policy.place(self);
        let allowed = policy.powers.allowed.contains(capability);
        // What lies in no folder is no question of switches.
        let nowhere = matches!(&place, Err((reason, ..)) if *reason != DenialReason::OutsideBasePath);
        let verdict = if allowed || nowhere { place.clone() } else { Err(policy.why_not(capability)) };
        let (reason, rule, layer) = match verdict {
            Ok((root, below)) => {
                let switch = match self.op {
                    FileOp::Read => policy.files.read,
                    FileOp::Write => policy.files.write,
                    FileOp::Delete => policy.files.delete,
                };
                let access = FileAccess { op: self.op, root, below, layer: policy.layer_name(switch.layer) };
                return policy.yes_or_ask(access, policy.files.ask, answers.fs);
            }
            Err(no) => no,
        };
        Verdict::No(Refusal {
            code: ErrorCode::FsDenied,
            capability,
            rule,
            layer,
            reason,
            candidates: policy.widenings_for_file(self, place.err().map(|(reason, ..)| reason)),
        })
    }

    fn asked(&self) -> String {
        let shown: String = self.path.chars().take(MOST_SHOWN).collect();
        format!("{} {shown}", self.op.word())
    }
}

impl EffectivePolicy {
    /// Where a path lies, whatever the switches say.
    fn place(&self, question: &FileQuestion<'_>) -> Result<(Root, GuestPath), No> {
        let path = GuestPath::parse(question.path).map_err(|error| match error {
            PathError::Climbs => (DenialReason::OutsideRoots, "roots", LayerName::Guard),
            PathError::Empty | PathError::TooLong | PathError::Nul => {
                (DenialReason::BadPath, "guard", LayerName::Guard)
            }
        })?;
        let (root, below) = if path.is_absolute() {
            let deepest = self
                .baseline
                .read_roots
                .iter()
                .filter_map(|root| root.below(&path).map(|below| (root, below)))
                .min_by_key(|(_, below)| below.to_string().len());
            let Some((root, below)) = deepest else {
                return Err((DenialReason::OutsideRoots, "fs.readRoots", LayerName::Baseline));
            };
            if question.op != FileOp::Read {
                return Err((DenialReason::ReadOnlyRoot, "fs.readRoots", LayerName::Baseline));
            }
            (Root::ReadRoot(root.clone()), below)
        } else {
            (Root::Workspace, path.clone())
        };
        match &self.files.base {
            Some(base) if !base.value.contains(&path) => {
                Err((DenialReason::OutsideBasePath, "basePath", self.layer_name(base.layer)))
            }
            _ => Ok((root, below)),
        }
    }

    fn widenings_for_file(
        &self,
        question: &FileQuestion<'_>,
        misplaced: Option<DenialReason>,
    ) -> Vec<Widening> {
        let base = match misplaced {
            None => None,
            Some(DenialReason::OutsideBasePath) => {
                let wider = self
                    .files
                    .base
                    .as_ref()
                    .and_then(|base| base.value.common_folder(&GuestPath::parse(question.path).ok()?));
                let Some(wider) = wider else { return Vec::new() };
                Some(wider)
            }
            // No override moves a folder.
            Some(_) => return Vec::new(),
        };
        let capability = question.op.capability();
        if self.powers.allowed.contains(capability) {
            return vec![Widening { base_path: base, ..Widening::default() }];
        }
        // A base path that confines nothing today may confine what is granted then.
        let dormant = self.layers.iter().rev().find_map(|layer| layer.base_path.as_ref());
        let wider = dormant.and_then(|base| base.value.common_folder(&GuestPath::parse(question.path).ok()?));
        let grants = self.grants_of(capability);
        let with_base = |base: Option<GuestPath>| {
            grants
                .iter()
                .map(move |grant| Widening { base_path: base.clone(), ..grant.clone() })
                .collect::<Vec<_>>()
        };
        let mut candidates = with_base(base);
        candidates.extend(wider.map(|wider| with_base(Some(wider))).into_iter().flatten());
        candidates
    }
}
