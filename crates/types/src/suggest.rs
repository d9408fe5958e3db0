//! "Did you mean": the nearest of the known names, or nothing.

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
