//! Two texts side by side, line by line: what stayed, what went, what came.

/// A line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compared<'a> {
    /// In both.
    Same(&'a str),
    /// Only in the text before.
    Gone(&'a str),
    /// Only in the text now.
    New(&'a str),
}

/// Lines beyond which texts are not compared: the work grows with the product.
const MOST_LINES: usize = 1_000;

/// Compares; none where the texts are too long for that.
pub(crate) fn lines<'a>(before: &'a str, now: &'a str) -> Option<Vec<Compared<'a>>> {
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    if before.len() > MOST_LINES || now.len() > MOST_LINES {
        return None;
    }
    // How many lines the rests from (i, j) on have in common, in order.
    let width = now.len() + 1;
    let mut common = vec![0_usize; (before.len() + 1) * width];
    let at = |common: &[usize], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, old) in before.iter().enumerate().rev() {
        for (j, new) in now.iter().enumerate().rev() {
            let count = if old == new {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(place) = common.get_mut(i * width + j) {
                *place = count;
            }
        }
    }
    let mut compared = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        match (before.get(i), now.get(j)) {
            (Some(old), Some(new)) if old == new => {
                compared.push(Compared::Same(new));
                (i, j) = (i + 1, j + 1);
            }
            (Some(old), new) if new.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                compared.push(Compared::Gone(old));
                i += 1;
            }
            (_, Some(new)) => {
                compared.push(Compared::New(new));
                j += 1;
            }
            (_, None) => return Some(compared),
        }
    }
}

#[cfg(test)]
mod tests;
