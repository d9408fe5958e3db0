//! "Did you mean": the nearest of the known names, or nothing; and texts short enough for a message.

/// The candidate nearest to `typed`, when it is near enough that a person could have meant it.
///
/// Near enough is one edit for short words and about a third of the letters for longer ones; letter case
/// and `-`/`_` do not count.
pub fn closest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A megabyte of key is no typo, and the distance is quadratic.
    if typed.len() > 64 {
        return None;
    }
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
    let wanted = plain(typed);
    candidates
        .into_iter()
        .map(|candidate| {
            let candidate_plain = plain(candidate);
            let distance = strsim::damerau_levenshtein(&wanted, &candidate_plain);
            (distance, wanted.chars().count().max(candidate_plain.chars().count()), candidate)
        })
        .filter(|(distance, length, _)| *distance <= (length / 3).max(1))
        .min_by_key(|(distance, _, candidate)| (*distance, *candidate))
        .map(|(_, _, candidate)| candidate)
}

/// A hint for a name that is not known: the one that was probably meant, or else what `otherwise` says.
pub fn did_you_mean<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    closest(typed, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// A text that fits into a message, however long it was.
pub fn shortened(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
