//! What the operator allows and requires of limits. A typed limit above its ceiling is an error, since lowering it would
//! give somebody less than was asked for without a word; a preset above it is lowered, since nobody insisted.

use crate::limits::Limit;
use crate::{From, Limits, LimitsError};

/// The most that a sandbox may use, and the limits that have to be held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ceilings {
    most: Vec<(Limit, u64)>,
    required: Vec<Limit>,
}

impl Ceilings {
    /// None at all.
    pub const NONE: Self = Self { most: Vec::new(), required: Vec::new() };

    /// With a ceiling on one limit; a second one on the same limit takes the place of the first.
    pub fn with<'a>(
        mut self,
        limit: Limit,
        amount: impl Into<crate::limits::Amount<'a>>,
    ) -> Result<Self, LimitsError> {
        let value = limit.read(&amount.into())?;
        if limit == Limit::Processes && value == 0 {
            let why = "0 would be no limit; leave the ceiling out".to_owned();
            return Err(LimitsError::Value { what: limit.name(), value: "0".to_owned(), why });
        }
        self.most.retain(|(held, _)| *held != limit);
        self.most.push((limit, value));
        Ok(self)
    }

    /// With a limit that must be held wherever a sandbox runs.
    #[must_use]
    pub fn requiring(mut self, limit: Limit) -> Self {
        if !self.required.contains(&limit) {
            self.required.push(limit);
        }
        self
    }

    /// The ceiling of a limit.
    pub fn most(&self, limit: Limit) -> Option<u64> {
        self.most.iter().find(|(held, _)| *held == limit).map(|(_, most)| *most)
    }

    /// Whether the operator requires a limit.
    pub fn requires(&self, limit: Limit) -> bool {
        self.required.contains(&limit)
    }
}

impl Limits {
    /// These limits as far as the operator allows them.
    pub fn within(mut self, ceilings: &Ceilings) -> Result<Self, LimitsError> {
        for limit in Limit::ALL {
            let (value, from) = (self.get(limit), self.from(limit));
            // No limit of its own is above every ceiling.
            let none = limit == Limit::Processes && value == 0;
            let kept = match ceilings.most(limit) {
                Some(most) if none || value > most => {
                    if from == From::Typed {
                        let value = if none { "0 (no limit)".to_owned() } else { limit.told(value) };
                        return Err(LimitsError::Ceiling {
                            what: limit.name(),
                            value,
                            ceiling: limit.told(most),
                        });
                    }
                    most
                }
                _ => value,
            };
            let from = if ceilings.requires(limit) { From::Operator } else { from };
            if limit == Limit::Processes && kept == 0 && from == From::Operator {
                let why = "the operator requires a limit, and 0 is none".to_owned();
                return Err(LimitsError::Value { what: limit.name(), value: "0".to_owned(), why });
            }
            // A value that stays is not written again: a timeout keeps its parts of a millisecond.
            if kept == value {
                self.mark(limit, from);
            } else {
                self.put(limit, kept, from);
            }
        }
        Ok(self)
    }

    const fn mark(&mut self, limit: Limit, from: From) {
        match limit {
            Limit::Cpu => self.cpu.from = from,
            Limit::Memory => self.memory.from = from,
            Limit::Disk => self.disk.from = from,
            Limit::Timeout => self.timeout.from = from,
            Limit::Processes => self.processes.from = from,
            Limit::Output => self.output.from = from,
        }
    }
}
