//! `purity`, of the manifests: crates that do no I/O depend on nothing that
//! does, and a heavy outside crate stays in its home. Dev-dependencies count:
//! what takes a network stack to be tested is not pure.

use crate::tidy::finding::{Placed, Remark};
use crate::tidy::layers::{ATTACKED_BY, CONFINED, Confined, IMPURE, PURE, own_name, stands_for};
use crate::tidy::manifest::Section;
use crate::tidy::survey::Survey;

pub(super) fn look(survey: &Survey) -> Vec<Placed> {
    let mut found = Vec::new();
    for member in &survey.members {
        let name = own_name(&member.package).unwrap_or(&member.package);
        for dependency in &member.dependencies {
            let (package, line) = (dependency.package.as_str(), dependency.line);
            let attacks = dependency.section == Section::Dev && ATTACKED_BY.contains(&(package, name));
            let remark = impure(name, package, line)
                .or_else(|| if attacks { None } else { away_from_home(name, package, line) });
            found.extend(remark.map(|remark| remark.on(&member.manifest)));
        }
    }
    found
}

fn impure(name: &str, package: &str, line: usize) -> Option<Remark> {
    let is_breach = PURE.contains(&name) && IMPURE.iter().any(|pattern| stands_for(pattern, package));
    is_breach.then(|| {
        let wrong = format!("`{name}` does no I/O and knows no runtime, but depends on `{package}`");
        Remark::new(line, wrong, "take what it would ask for as an argument")
    })
}

fn away_from_home(name: &str, package: &str, line: usize) -> Option<Remark> {
    let names = |one: &&Confined| one.packages.iter().any(|pattern| stands_for(pattern, package));
    let Confined { to, reason, .. } = CONFINED.iter().find(names).filter(|one| !one.to.contains(&name))?;
    let to = to.join("` and `");
    let wrong = format!("`{package}` belongs in `{to}` alone ({reason})");
    Some(Remark::new(line, wrong, format!("go through `{to}`, or move the code there")))
}
