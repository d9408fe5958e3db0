//! The registry and the engine say the same about what this build has.

use bailiwick_cell::OFFERED;
use bailiwick_policy::Capability;

#[test]
fn a_capability_is_available_if_and_only_if_the_engine_installs_its_names() {
    for capability in Capability::ALL {
        for name in capability.globals() {
            assert_eq!(OFFERED.contains(name), capability.is_available(), "{capability}: {name}");
        }
    }
}
