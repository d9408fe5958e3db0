use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Fails on the case `red`, and counts what ran.
struct Counted(&'static AtomicUsize);

impl Prepared for Counted {
    fn check(&self, case: &str) -> Result<(), String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        if case == "red" { Err("it is red".to_owned()) } else { Ok(()) }
    }

    fn finish(&self, is_whole: bool) -> Result<(), String> {
        Err(format!("{} ran, whole: {is_whole}", self.0.load(Ordering::SeqCst)))
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().copied().map(str::to_owned).collect()
}

fn running(group: Group, cases: usize) -> Running {
    let is_whole = cases == group.cases.len();
    let slot = Mutex::new(Slot::NotYet);
    Running { group, is_whole, slot, left: Mutex::new(cases), all_ended: Condvar::new() }
}

#[test]
fn quick_and_rest_have_every_case_exactly_once() {
    static RAN: AtomicUsize = AtomicUsize::new(0);
    let group = |quick| Group::new("g", names(&["a", "b", "c"]), || Some(Counted(&RAN))).quick(quick);
    let check = |quick: Option<Vec<String>>, selection, expected: &[&str]| {
        assert_eq!(group(quick).selected(selection), names(expected));
    };
    check(None, Selection::Quick, &["a", "b", "c"]);
    check(None, Selection::Rest, &[]);
    check(Some(names(&["b"])), Selection::Quick, &["b"]);
    check(Some(names(&["b"])), Selection::Rest, &["a", "c"]);
    check(Some(names(&["b"])), Selection::Full, &["a", "b", "c"]);
}

#[test]
fn the_look_afterwards_sees_every_case_and_the_group_is_gone_then() {
    static RAN: AtomicUsize = AtomicUsize::new(0);
    let group = Group::new("g", names(&["a", "red"]), || Some(Counted(&RAN))).finished();
    let running = running(group, 2);
    assert!(matches!(running.check("a"), Ok(Completion::Completed)));
    assert!(running.check("red").is_err_and(|failed| failed.message() == Some("it is red")));
    assert!(running.finish().is_err_and(|failed| failed.message() == Some("2 ran, whole: true")));
    assert!(matches!(*lock(&running.slot), Slot::Missing));
}

#[test]
fn cases_of_a_group_that_the_machine_cannot_prepare_are_skipped_and_not_passed() {
    let running = running(Group::new("g", names(&["a"]), || None::<Counted>).one_at_a_time(names(&["a"])), 1);
    assert!(matches!(running.check("a"), Ok(Completion::Ignored { .. })));
}
