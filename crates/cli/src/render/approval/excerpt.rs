//! The begin and the end of a long text, and how much between them is left out. Nothing is left out without being told.

/// The most lines and bytes of the begin, and of the end.
const LINES: usize = 200;
const BYTES: usize = 32 << 10;

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a, K> {
    /// A line or a part of one.
    Text(K, &'a str),
    /// So many bytes are left out here.
    LeftOut(usize),
}

/// Lines, each with what kind it is, cut in the middle where they are too much for a screen.
pub(super) fn excerpt<'a, K: Copy>(lines: &[(K, &'a str)]) -> Vec<Piece<'a, K>> {
    let bytes: usize = lines.iter().map(|(_, line)| line.len()).sum();
    if lines.len() <= 2 * LINES && bytes <= 2 * BYTES {
        return lines.iter().map(|(kind, line)| Piece::Text(*kind, line)).collect();
    }
    let begin = taken(lines.iter().copied(), |line, room| line.get(..line.floor_char_boundary(room)));
    let mut end = taken(lines.iter().rev().copied(), |line, room| {
        line.get(line.ceil_char_boundary(line.len().saturating_sub(room))..)
    });
    end.reverse();
    let shown: usize = begin.iter().chain(&end).map(|(_, line)| line.len()).sum();
    let text = |(kind, line)| Piece::Text(kind, line);
    let mut pieces: Vec<Piece<'a, K>> = begin.into_iter().map(text).collect();
    pieces.push(Piece::LeftOut(bytes.saturating_sub(shown)));
    pieces.extend(end.into_iter().map(text));
    pieces
}

/// As many lines as there is room for, the last of them a part that `part` gives.
fn taken<'a, K>(
    lines: impl Iterator<Item = (K, &'a str)>,
    part: impl Fn(&'a str, usize) -> Option<&'a str>,
) -> Vec<(K, &'a str)> {
    let mut room = BYTES;
    let mut taken = Vec::new();
    for (kind, line) in lines.take(LINES) {
        if line.len() > room {
            taken.extend(part(line, room).filter(|part| !part.is_empty()).map(|part| (kind, part)));
            break;
        }
        room -= line.len();
        taken.push((kind, line));
    }
    taken
}

#[cfg(test)]
mod tests;
