//! `vague-name`: a name that says nothing collects everything.

use std::collections::BTreeMap;

use crate::tidy::finding::{Placed, Remark};
use crate::tidy::survey::Survey;

const VAGUE: &[&str] = &["common", "utils", "util", "helpers", "helper", "misc"];

pub(super) fn look(survey: &Survey) -> Vec<Placed> {
    // The path up to each vague name, once, however many files are below it.
    let mut found = BTreeMap::new();
    for path in &survey.rust_paths {
        let mut end = 0;
        for part in path.split_inclusive('/') {
            end += part.len();
            let name = part.trim_end_matches('/');
            let name = name.strip_suffix(".rs").unwrap_or(name);
            if VAGUE.contains(&name) {
                let up_to = path.get(..end).unwrap_or(path).trim_end_matches('/');
                found.insert(up_to, name);
            }
        }
    }
    found
        .into_iter()
        .map(|(path, name)| {
            let wrong = format!("`{name}` says nothing about what is in it");
            Remark::new(1, wrong, "name it after the thing it holds").on(path)
        })
        .collect()
}
