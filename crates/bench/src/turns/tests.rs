//! What several turns of two programs give.

use std::cell::RefCell;
use std::path::Path;

use super::Programs;
use crate::row::Row;

/// Measures two programs that give one of these values in each turn, and checks the value of each and the ratio.
#[track_caller]
fn check(row: fn(usize) -> Row, new: [usize; 3], old: [usize; 3], expected: (f64, f64, Option<f64>)) {
    let programs = Programs { old: Some("old".into()), ..Programs::alone("new".into()) };
    let (new, old) = (RefCell::new(new.into_iter()), RefCell::new(old.into_iter()));
    let measure = async |program: &Path| {
        let values = if program == Path::new("new") { &new } else { &old };
        Ok(vec![row(values.borrow_mut().next().unwrap())])
    };
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rows = tokio.block_on(programs.in_turns((1, 3), measure)).unwrap();
    let [row] = &rows[..] else { panic!("{} rows", rows.len()) };
    let old = row.old.as_ref().unwrap();
    assert_eq!((row.value, old.value, row.to_old()), expected);
    assert_eq!(row.samples, 30);
}

fn time(value: usize) -> Row {
    Row::new("time", f64::from(u32::try_from(value).unwrap()), "ms", 10)
}

#[test]
fn the_median_of_each_program_counts() {
    check(time, [9, 1, 2], [4, 8, 3], (2.0, 4.0, Some(0.5)));
}

#[test]
fn wrong_answers_of_one_turn_are_not_lost() {
    let wrong = |count| Row { samples: 10, ..Row::wrong("wrong", count) };
    check(wrong, [0, 7, 0], [0, 0, 0], (7.0, 0.0, None));
}

#[test]
fn a_program_that_is_alone_has_its_own_number_of_turns() {
    let programs = Programs::alone("new".into());
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rows = tokio.block_on(programs.in_turns((2, 5), async |_: &Path| Ok(vec![time(1)]))).unwrap();
    assert_eq!((rows[0].samples, rows[0].old.is_none()), (20, true));
}
