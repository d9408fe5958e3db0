//! The areas of `specs/` whose cases run in cells.

use bailiwick_testkit::{Group, Specs, tests};

use crate::{bailiwick, group, holds, network, specs};

/// The areas, and how many cases each has at least.
const AREAS: [(&str, usize); 6] =
    [("policy", 10), ("escape", 200), ("limits", 150), ("fs", 45), ("secrets", 26), ("egress", 60)];

pub(crate) fn area(name: &str) -> Specs {
    Specs::new(bailiwick(), &specs(name))
}

pub(crate) fn groups() -> Vec<Group> {
    let here = AREAS.iter().filter(|(name, _)| *name != "egress");
    let mut groups: Vec<Group> =
        here.map(|(name, _)| group(&format!("cells::{name}"), || area(name), holds, || true)).collect();
    groups.push(network::group());
    groups
}

tests!(no_area_has_lost_its_cases);

fn no_area_has_lost_its_cases() {
    for (name, least) in AREAS {
        let found = area(name).cases().len();
        assert!(found >= least, "only {found} cases of {name} were found");
    }
}
