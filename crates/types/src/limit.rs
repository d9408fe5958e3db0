//! The bounds of a call. Each limit is a type of its own whose constructor is the check: there is no zero
//! and no "unlimited".
//!
//! One table makes the types, [`LimitKind`] (to walk over all of them) and [`Limits`] (one of each). A
//! default and a ceiling are what the shipped baseline says; the operator may change both, up to the hard
//! maximum, which is where a number stops being a limit.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::{
    ErrorCode, QuantityError, format_duration_ms, format_size, parse_count, parse_duration_ms, parse_size,
};

/// What a limit is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Milliseconds; written `5s`, serialised with the suffix `Ms`.
    Milliseconds,
    /// Bytes; written `64MiB`, serialised with the suffix `Bytes`.
    Bytes,
    /// A plain number.
    Count,
}

impl Unit {
    /// What follows a limit's key in JSON.
    pub const fn json_suffix(self) -> &'static str {
        match self {
            Self::Milliseconds => "Ms",
            Self::Bytes => "Bytes",
            Self::Count => "",
        }
    }

    /// Reads a value as people write it.
    pub fn parse(self, text: &str) -> Result<u64, QuantityError> {
        match self {
            Self::Milliseconds => parse_duration_ms(text),
            Self::Bytes => parse_size(text),
            Self::Count => parse_count(text),
        }
    }

    /// Writes a value as people do.
    pub fn format(self, value: u64) -> String {
        match self {
            Self::Milliseconds => format_duration_ms(value),
            Self::Bytes => format_size(value),
            Self::Count => value.to_string(),
        }
    }
}

/// What happens when a limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Breach {
    /// The call fails with this code.
    Fails(ErrorCode),
    /// The surplus is dropped, and the result says how much.
    Dropped,
    /// The surplus waits its turn.
    Waits,
}

/// Why a number is not a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// Zero would mean "nothing", and elsewhere often means "no limit"; neither is meant here.
    #[error("`{key}` must not be zero: there is no unlimited, and nothing can run on nothing")]
    Zero {
        /// The limit's key.
        key: &'static str,
    },
    /// Beyond what can be called a limit.
    #[error("`{key}` of {given} is above the hard maximum of {max}")]
    AboveHardMaximum {
        /// The limit's key.
        key: &'static str,
        /// What was given.
        given: String,
        /// The hard maximum.
        max: String,
    },
}

macro_rules! limits {
    ($($kind:ident $field:ident $key:literal $unit:ident
        default $default:literal ceiling $ceiling:literal hard $hard:literal
        breach $breach:ident $doc:literal;)+) => {
        /// Which limit. Walk [`LimitKind::ALL`] to treat all of them alike.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum LimitKind { $(#[doc = $doc] $kind,)+ }

        impl LimitKind {
            /// Every limit, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The key in documents and in the operator's file.
            pub const fn key(self) -> &'static str { match self { $(Self::$kind => $key,)+ } }

            /// What it is counted in.
            pub const fn unit(self) -> Unit { match self { $(Self::$kind => Unit::$unit,)+ } }

            /// What it bounds, in a few words.
            pub const fn doc(self) -> &'static str { match self { $(Self::$kind => $doc,)+ } }

            /// What happens at the limit.
            pub const fn breach(self) -> Breach {
                match self { $(Self::$kind => limits!(@breach $breach),)+ }
            }

            /// The shipped default.
            pub const fn default_value(self) -> u64 { match self { $(Self::$kind => $default,)+ } }

            /// The shipped ceiling, up to which a tool may ask for more.
            pub const fn default_ceiling(self) -> u64 { match self { $(Self::$kind => $ceiling,)+ } }

            /// The largest value that is still a limit.
            pub const fn hard_maximum(self) -> u64 { match self { $(Self::$kind => $hard,)+ } }
        }

        $(
            #[doc = $doc]
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
            #[serde(try_from = "u64", into = "u64")]
            pub struct $kind(NonZeroU64);

            impl $kind {
                /// The only way to make one: not zero, not above the hard maximum.
                pub fn new(value: u64) -> Result<Self, LimitError> {
                    LimitKind::$kind.check(value).map(Self)
                }

                /// The number, in the unit of [`LimitKind::unit`].
                pub const fn get(self) -> u64 { self.0.get() }
            }

            impl TryFrom<u64> for $kind {
                type Error = LimitError;
                fn try_from(value: u64) -> Result<Self, LimitError> { Self::new(value) }
            }

            impl From<$kind> for u64 {
                fn from(limit: $kind) -> Self { limit.get() }
            }
        )+

        /// One of each limit: what bounds a call, or (as ceilings) what bounds the limits a tool may ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Limits { $(#[doc = $doc] pub $field: $kind,)+ }

        impl Limits {
            /// The shipped defaults.
            pub fn shipped_defaults() -> Self {
                Self { $($field: $kind(const { match NonZeroU64::new($default) { Some(n) => n, None => NonZeroU64::MIN } }),)+ }
            }

            /// The shipped ceilings.
            pub fn shipped_ceilings() -> Self {
                Self { $($field: $kind(const { match NonZeroU64::new($ceiling) { Some(n) => n, None => NonZeroU64::MIN } }),)+ }
            }

            /// The value of one limit.
            pub const fn get(&self, kind: LimitKind) -> u64 {
                match kind { $(LimitKind::$kind => self.$field.get(),)+ }
            }

            /// Sets one limit, after its check.
            pub fn set(&mut self, kind: LimitKind, value: u64) -> Result<(), LimitError> {
                match kind { $(LimitKind::$kind => self.$field = $kind::new(value)?,)+ }
                Ok(())
            }
        }
    };
    (@breach Dropped) => { Breach::Dropped };
    (@breach Waits) => { Breach::Waits };
    (@breach $code:ident) => { Breach::Fails(ErrorCode::$code) };
}

limits! {
    Wall wall "wall" Milliseconds default 5_000 ceiling 30_000 hard 86_400_000
        breach Timeout "wall-clock time of a call";
    Cpu cpu "cpu" Milliseconds default 2_000 ceiling 30_000 hard 86_400_000
        breach CpuLimit "CPU time of a call";
    Steps steps "steps" Count default 50_000_000 ceiling 10_000_000_000 hard 1_000_000_000_000_000
        breach StepLimit "loop turns and calls, counted in blocks";
    Memory memory "memory" Bytes default 67_108_864 ceiling 536_870_912 hard 68_719_476_736
        breach MemoryLimit "memory of a call";
    Stack stack "stack" Bytes default 524_288 ceiling 4_194_304 hard 67_108_864
        breach StackLimit "stack of a call";
    ResultSize result "result" Bytes default 1_048_576 ceiling 16_777_216 hard 1_073_741_824
        breach OutputLimit "size of the result";
    ConsoleLines console_lines "consoleLines" Count default 1_000 ceiling 1_000 hard 1_000_000
        breach Dropped "console lines kept";
    ConsoleBytes console_bytes "consoleBytes" Bytes default 262_144 ceiling 262_144 hard 1_073_741_824
        breach Dropped "console text kept";
    Code code "code" Bytes default 102_400 ceiling 1_048_576 hard 67_108_864
        breach CodeTooLarge "size of the code";
    Fetches fetches "fetches" Count default 20 ceiling 100 hard 10_000
        breach FetchLimit "requests of one call";
    FetchesAtOnce fetches_at_once "fetchesAtOnce" Count default 6 ceiling 6 hard 100
        breach Waits "requests of one call at the same time";
    NestingDepth nesting_depth "nestingDepth" Count default 4 ceiling 4 hard 16
        breach NestingLimit "how deep calls within calls go";
    NestedCalls nested_calls "nestedCalls" Count default 50 ceiling 50 hard 10_000
        breach NestingLimit "calls within one call, in all";
}

impl LimitKind {
    /// Finds a limit by its key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.key() == key)
    }

    /// The key in JSON, with its unit: `wallMs`, `memoryBytes`, `steps`.
    pub fn json_key(self) -> String {
        // `consoleBytes` says its unit already.
        if self.key().ends_with(self.unit().json_suffix()) {
            return self.key().to_owned();
        }
        format!("{}{}", self.key(), self.unit().json_suffix())
    }

    fn check(self, value: u64) -> Result<NonZeroU64, LimitError> {
        let value = NonZeroU64::new(value).ok_or(LimitError::Zero { key: self.key() })?;
        if value.get() > self.hard_maximum() {
            return Err(LimitError::AboveHardMaximum {
                key: self.key(),
                given: self.unit().format(value.get()),
                max: self.unit().format(self.hard_maximum()),
            });
        }
        Ok(value)
    }
}
