//! `layering`: an edge between two crates of the workspace is in the table of
//! [`layers`](crate::tidy::layers), or it is not.

use crate::tidy::finding::{Placed, Remark};
use crate::tidy::layers::{Layer, TESTED_WITH, TESTKIT, TESTKIT_SANDBOX, layer, own_name};
use crate::tidy::manifest::{Dependency, Member, Section};
use crate::tidy::survey::Survey;

pub(super) fn look(survey: &Survey) -> Vec<Placed> {
    survey.members.iter().flat_map(look_at).collect()
}

fn look_at(member: &Member) -> Vec<Placed> {
    let Some(layer) = own_name(&member.package).and_then(layer) else {
        let wrong = format!("`{}` is not in the table of layers", member.package);
        let instead = "give it a row with a reason in xtask/src/tidy/layers.rs";
        return vec![Remark::new(1, wrong, instead).on(&member.manifest)];
    };
    let remarks = member.dependencies.iter().filter_map(|dependency| look_at_edge(layer, dependency));
    remarks.map(|remark| remark.on(&member.manifest)).collect()
}

fn look_at_edge(layer: &Layer, dependency: &Dependency) -> Option<Remark> {
    let other = own_name(&dependency.package)?;
    let Layer { name, reason, .. } = layer;
    let kits = [TESTKIT, TESTKIT_SANDBOX];
    let may_test_with = other == TESTKIT || other == TESTKIT_SANDBOX && name.starts_with("sandbox-");
    if may_test_with && !kits.contains(name) {
        return (dependency.section != Section::Dev).then(|| {
            let wrong = format!("`{name}` ships `{other}`, which is for tests");
            Remark::new(dependency.line, wrong, "make it a dev-dependency")
        });
    }
    let is_for_tests = dependency.section == Section::Dev && TESTED_WITH.contains(&(*name, other));
    if layer.allows(other) || is_for_tests {
        return None;
    }
    let wrong = format!("`{name}` may not know `{other}` ({reason})");
    let instead = "turn the edge around with a trait or a type further down, or change the table of layers";
    Some(Remark::new(dependency.line, wrong, instead))
}
