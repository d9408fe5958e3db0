use super::{Looks, MOST, Viewer};

fn named(name: usize) -> Viewer {
    Viewer { key: None, name: Some(name.to_string()) }
}

#[test]
fn each_has_seen_what_they_were_shown_last() {
    let mut looks = Looks::default();
    looks.remember(named(1), "early");
    looks.remember(Viewer::default(), "the operator's");
    looks.remember(named(1), "late");
    assert_eq!(looks.of(&named(1)), Some(&"late"));
    assert_eq!(looks.of(&Viewer::default()), Some(&"the operator's"));
    assert_eq!((looks.of(&named(2)), looks.has_forgotten()), (None, false));
}

#[test]
fn whoever_is_forgotten_does_not_count_as_one_who_never_looked() {
    let mut looks = Looks::default();
    for number in 0..MOST {
        looks.remember(named(number), number);
    }
    looks.remember(named(0), 0);
    assert!(!looks.has_forgotten());
    looks.remember(named(MOST), MOST);
    assert!(looks.has_forgotten());
    assert_eq!((looks.of(&named(1)), looks.of(&named(0))), (None, Some(&0)));
}
