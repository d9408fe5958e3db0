use super::of;

#[test]
fn an_archive_has_the_agent_first_and_modules_in_their_order() {
    let archive =
        of(b"agent", &[("b".to_owned(), b"one".to_vec()), ("a".to_owned(), b"two".to_vec())]).unwrap();
    let text = String::from_utf8(archive.clone()).unwrap();
    let places: Vec<usize> =
        ["init", "agent", "modules", "modules/000-b", "one", "modules/001-a", "two", "TRAILER!!!"]
            .iter()
            .map(|part| text.find(part).unwrap())
            .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(archive.len() % 4, 0);
    for (at, _) in text.match_indices("070701") {
        assert_eq!(at % 4, 0);
    }
}
