//! Which mask is chosen, and that it can form no pattern.

use zeroize::Zeroizing;

use super::choose;

#[track_caller]
fn check(patterns: &[&str], expect: &str) {
    let patterns: Vec<_> = patterns.iter().map(|pattern| Zeroizing::new((*pattern).to_owned())).collect();
    assert_eq!(choose(&patterns).as_deref(), Some(expect));
}

#[test]
fn three_stars_are_the_usual_mask() {
    check(&["hunter22"], "***");
    check(&["with*one*star", "with**two"], "***");
}

#[test]
fn a_pattern_that_contains_the_mask_rules_it_out() {
    check(&["ab***cd"], "###");
    check(&["ab****cd"], "###");
}

#[test]
fn a_pattern_that_begins_or_ends_like_the_mask_rules_it_out() {
    check(&["*abc"], "###");
    check(&["**abc"], "###");
    check(&["abc*"], "###");
    check(&["abc**"], "###");
}

#[test]
fn a_pattern_within_the_mask_rules_it_out() {
    check(&["**"], "###");
}

#[test]
fn the_list_is_followed_in_order() {
    check(&["*abc", "abc#"], "___");
    check(&["*abc#", "_abc~"], "•••");
}

#[test]
fn a_mask_of_several_bytes_is_judged_by_characters() {
    // `‣` shares its first two bytes with `•`.
    check(&["*abc#", "_abc~", "‣abc‣"], "•••");
}

#[test]
fn the_last_resort_is_a_character_in_no_pattern() {
    check(&["*abc#", "_abc~", "•abc"], "\u{2580}\u{2580}\u{2580}");
    check(&["*abc#", "_abc~", "•abc", "ab\u{2580}cd"], "\u{2581}\u{2581}\u{2581}");
    let shapes: String = ('\u{2580}'..='\u{25ff}').collect();
    check(&["*abc#", "_abc~", "•abc", &shapes], "¡¡¡");
}

#[test]
fn there_is_no_mask_when_every_character_is_taken() {
    let all: String = ("*#_~•".chars()).chain('\0'..=char::MAX).collect();
    let patterns = ["*abc#", "_abc~", "•abc", &all].map(|pattern| Zeroizing::new(pattern.to_owned()));
    assert_eq!(choose(&patterns), None);
}
