//! What ships is whole.

use super::{PresetError, Shipped, preset, presets};

#[test]
fn every_preset_names_tools_that_ship() {
    let all = presets().expect("presets");
    assert!(all.len() >= 4, "{:?}", all.keys());
    for (name, tools) in &all {
        let documents = preset(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let named: Vec<&str> =
            documents.iter().filter_map(|one| one.name.strip_suffix(".tool.yaml")).collect();
        assert_eq!(named, *tools, "{name}");
        for document in &documents {
            assert!(document.text.contains("name: "), "{}", document.name);
        }
    }
}

#[test]
fn everything_is_every_tool_that_ships() {
    let everything = preset("everything").expect("a preset").len();
    let shipped = Shipped::iter().filter(|path| path.ends_with(".tool.yaml")).count();
    assert_eq!(everything, shipped);
}

#[test]
fn no_preset_is_no_tools_and_an_unknown_one_is_told_which_there_are() {
    assert_eq!(preset("none").expect("none"), Vec::new());
    match preset("starters") {
        Err(PresetError::Unknown { known, .. }) => {
            assert!(known.contains(&"starter".to_owned()) && known.contains(&"none".to_owned()), "{known:?}");
        }
        other => panic!("{other:?}"),
    }
}
