//! What a registry wants before it answers: `WWW-Authenticate`, read strictly.

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A password, each time.
    Basic,
    /// A token, to be had at an address.
    Bearer { realm: String, service: Option<String> },
}

impl Challenge {
    /// Reads one header; none for a kind that nobody knows here.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service) = (None, None);
        let mut rest = rest.trim_start();
        while !rest.is_empty() {
            let (key, after) = rest.split_once('=')?;
            let (value, after) = quoted(after)?;
            match key.trim().to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value),
                "service" => service = Some(value),
                _ => {}
            }
            rest = after.trim_start().strip_prefix(',').unwrap_or(after).trim_start();
        }
        Some(Self::Bearer { realm: realm?, service })
    }
}

/// A value in quotes or without, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let Some(inner) = text.strip_prefix('"') else {
        let end = text.find(',').unwrap_or(text.len());
        let (value, rest) = text.split_at_checked(end)?;
        return Some((value.trim().to_owned(), rest));
    };
    let mut value = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, inner.get(at + 1..)?)),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}
