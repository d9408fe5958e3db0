//! Measures the program turn by turn. Two builds of it have alternate turns, so that a change is judged by figures of the same minutes.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::failure::Failure;
use crate::row::{Row, Times, WRONG};

/// The turns of a measurement that takes many samples in one turn.
pub(crate) const FEW_TURNS: (usize, usize) = (1, 5);

/// The measured program, and an older build to measure in turns with it.
pub(crate) struct Programs {
    measured: PathBuf,
    old: Option<PathBuf>,
    /// Where the copies of the two are.
    _copies: Option<TempDir>,
}

impl Programs {
    /// The program alone.
    pub(crate) fn alone(measured: PathBuf) -> Self {
        Self { measured, old: None, _copies: None }
    }

    /// Copies of two programs, so that both files were written in the same way: the same program was up to 1.3 times as fast from a copy
    /// as from the file that the linker wrote, likely because the page cache holds a copy in larger pages.
    pub(crate) fn in_copies(measured: &Path, old: &Path) -> std::io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let copy = |program, name| {
            let copy = directory.path().join(name);
            std::fs::copy(program, &copy).map(|_| copy)
        };
        let (measured, old) = (copy(measured, "new")?, copy(old, "old")?);
        Ok(Self { measured, old: Some(old), _copies: Some(directory) })
    }

    /// Measures rows of the program, so many times where it is alone, and so many where an old program is measured beside it.
    pub(crate) async fn in_turns(
        &self,
        (alone, beside): (usize, usize),
        measure: impl AsyncFn(&Path) -> Result<Vec<Row>, Failure>,
    ) -> Result<Vec<Row>, Failure> {
        let turns = if self.old.is_some() { beside } else { alone };
        let (mut of_new, mut of_old) = (Vec::new(), Vec::new());
        for turn in 0..turns {
            let both = [(Some(&self.measured), &mut of_new), (self.old.as_ref(), &mut of_old)];
            // Each program is the first in every second turn.
            let in_order: Vec<_> = if turn % 2 == 0 { both.into() } else { both.into_iter().rev().collect() };
            for (program, rows) in in_order {
                if let Some(program) = program {
                    rows.push(measure(program).await?);
                }
            }
        }
        let (mut rows, mut of_old) = (merge(of_new), merge(of_old));
        for row in &mut rows {
            let place = of_old.iter().position(|old| old.id == row.id);
            row.old = place.map(|place| Box::new(of_old.swap_remove(place)));
        }
        Ok(rows)
    }
}

/// One row for each id: the median of all turns, and their spread where there are several.
fn merge(turns: Vec<Vec<Row>>) -> Vec<Row> {
    let mut turns = turns.into_iter();
    let mut rows = turns.next().unwrap_or_default();
    let others: Vec<Row> = turns.flatten().collect();
    for row in &mut rows {
        let same: Vec<&Row> = others.iter().filter(|other| other.id == row.id).collect();
        if same.is_empty() {
            continue;
        }
        let ratios = Times::new(same.iter().filter_map(|row| row.ratio).chain(row.ratio).collect());
        let values = Times::new(same.iter().map(|row| row.value).chain([row.value]).collect());
        // Of wrong answers the worst turn counts: a median would hide a turn that had some.
        row.value = if row.unit == WRONG { values.percentile(100) } else { values.median() };
        row.ratio = row.ratio.map(|_| ratios.median());
        row.spread = Some(values.spread());
        row.samples += same.iter().map(|row| row.samples).sum::<usize>();
    }
    rows
}
