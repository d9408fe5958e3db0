//! A time in whole seconds, as it is kept and shown.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, shown in UTC.
///
/// ```
/// use bailiwick_secrets::Moment;
///
/// assert_eq!(Moment::from_unix(1_700_000_000).to_string(), "2023-11-14T22:13:20Z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// From seconds since 1970.
    pub const fn from_unix(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Seconds since 1970.
    pub const fn as_unix(self) -> u64 {
        self.0
    }
}

impl From<SystemTime> for Moment {
    /// A clock that stands before 1970 gives 1970.
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0 / 86_400, self.0 % 86_400);
        let (year, month, day) = date(days);
        let text = format!(
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
            rest / 3600,
            rest / 60 % 60,
            rest % 60
        );
        f.pad(&text)
    }
}

/// The date that many days after 1970-01-01. Years are counted from March, so that a leap day comes last.
fn date(days: u64) -> (u64, u64, u64) {
    const FOUR_CENTURIES: u64 = 146_097;
    // Days from 0000-03-01.
    let days = days.saturating_add(719_468);
    let (era, day) = (days / FOUR_CENTURIES, days % FOUR_CENTURIES);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march_based = (5 * day + 2) / 153;
    let month = if march_based < 10 { march_based + 3 } else { march_based - 9 };
    let january_or_february = u64::from(month <= 2);
    (era * 400 + year + january_or_february, month, day - (153 * march_based + 2) / 5 + 1)
}
