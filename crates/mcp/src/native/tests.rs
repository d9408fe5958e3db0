//! What the settings may name is what is there, and whoever is to be asked is.

use std::collections::BTreeSet;

use bailiwick_core::Action;
use bailiwick_types::{NATIVE_TOOLS, NATIVE_TOOLS_THAT_RUN};
use serde_json::{Map, json};

use super::{Cause, Native};

#[test]
fn the_settings_may_name_exactly_the_tools_that_are_there() {
    let there: BTreeSet<&str> = Native::ALL.iter().map(|native| native.name()).collect();
    assert_eq!(there, NATIVE_TOOLS.iter().copied().collect());
}

#[test]
fn a_person_can_be_asked_about_exactly_the_tools_that_do_something() {
    for native in Native::ALL {
        let asks = match native {
            Native::DescribeRuntime => false,
            // Whether they are is decided in `core`, for each call.
            Native::Sandbox(_) => true,
            Native::RunJavascript => {
                let arguments = Map::from_iter([("code".to_owned(), json!("return 1"))]);
                let (action, _) = native.action(arguments, Cause::default(), true).unwrap();
                matches!(action, Action::CodeRun(run) if run.always_asks)
            }
        };
        assert_eq!(asks, NATIVE_TOOLS_THAT_RUN.contains(&native.name()), "{}", native.name());
    }
}
