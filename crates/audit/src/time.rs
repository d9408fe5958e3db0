//! A time as a record shows it.

/// The last millisecond of the year 9999: later ones have no four-digit year.
const LAST: u64 = 253_402_300_799_999;

/// Milliseconds since 1970 as RFC 3339 in UTC.
///
/// ```
/// assert_eq!(bailiwick_audit::rfc3339(1_700_000_000_007), "2023-11-14T22:13:20.007Z");
/// ```
pub fn rfc3339(unix_ms: u64) -> String {
    let unix_ms = unix_ms.min(LAST);
    let (seconds, ms) = (unix_ms / 1000, unix_ms % 1000);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date that many days after 1970-01-01: whole years and months are taken away until none fits.
fn date(mut days: u64) -> (u64, u64, u64) {
    // 400 years always have as many days, so that the loop below stays short.
    const FOUR_CENTURIES: u64 = 146_097;
    let mut year = 1970 + days / FOUR_CENTURIES * 400;
    days %= FOUR_CENTURIES;
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    loop {
        let length = if leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}
