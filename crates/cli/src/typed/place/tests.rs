//! Every command that there is, and where it works.

use std::collections::BTreeSet;

use clap::{CommandFactory as _, Parser as _};

use super::{Place, place};
use crate::typed::Typed;

/// As little as can be typed for each; words up to one in capitals or with a dash are the command.
const COMMANDS: &[(Place, &str)] = &[
    (Place::HereOrNot, "serve"),
    (Place::HereOrNot, "own"),
    (Place::HereOrNot, "secret set A"),
    (Place::HereOrNot, "secret list"),
    (Place::HereOrNot, "secret rm A"),
    (Place::HereOrNot, "secret rotate --key"),
    (Place::Here, "jsrun"),
    (Place::Here, "doctor"),
    (Place::Here, "probe NAME"),
    (Place::Here, "policy show"),
    (Place::Here, "policy explain --query x"),
    (Place::Here, "policy diff A B"),
    (Place::Here, "policy learn A"),
    (Place::Here, "config show"),
    (Place::Here, "trust --list"),
    (Place::Here, "mcp config -- cursor"),
    (Place::Here, "mcp install -- cursor"),
    (Place::HereOfCourse, "tool new"),
    (Place::HereOfCourse, "completions -- bash"),
    (Place::HereOfCourse, "man"),
    (Place::Server, "run -e 1"),
    (Place::Server, "exec A"),
    (Place::Server, "sandbox create"),
    (Place::Server, "sandbox ls"),
    (Place::Server, "sandbox show A"),
    (Place::Server, "sandbox exec A B"),
    (Place::Server, "sandbox shell A"),
    (Place::Server, "sandbox cp A B"),
    (Place::Server, "sandbox snapshot A"),
    (Place::Server, "sandbox hibernate A"),
    (Place::Server, "sandbox resume A"),
    (Place::Server, "sandbox fork A"),
    (Place::Server, "sandbox diff A"),
    (Place::Server, "sandbox commit A"),
    (Place::Server, "sandbox discard A"),
    (Place::Server, "sandbox expose A 80"),
    (Place::Server, "sandbox expose A"),
    (Place::Server, "sandbox stop A"),
    (Place::Server, "sandbox rm A"),
    (Place::Server, "image ls"),
    (Place::Server, "image pull A"),
    (Place::Server, "image import A B"),
    (Place::Server, "image rm A"),
    (Place::Server, "limits"),
    (Place::Server, "tool check A"),
    (Place::Server, "tool test A"),
    (Place::Server, "tool publish A"),
    (Place::Server, "tool unpublish A"),
    (Place::Server, "tool rm A"),
    (Place::Server, "tool list"),
    (Place::Server, "tool show A"),
    (Place::Server, "tool import A"),
    (Place::Server, "tool apply A"),
    (Place::Server, "tool export --to A"),
    (Place::Server, "tool call A"),
    (Place::Server, "approvals list"),
    (Place::Server, "approvals show A"),
    (Place::Server, "approvals yes A"),
    (Place::Server, "approvals no A"),
    (Place::Server, "approvals remembered"),
    (Place::Server, "approvals forget A"),
    (Place::Server, "key create A --scope call"),
    (Place::Server, "key list"),
    (Place::Server, "key revoke A"),
    (Place::Server, "audit tail"),
    (Place::Server, "audit show A"),
    (Place::Server, "audit verify"),
    (Place::Server, "audit export"),
    (Place::Server, "audit retain --days 1"),
];

/// The names of all commands that have none below them.
fn leaves(of: &clap::Command, above: &str, found: &mut BTreeSet<String>) {
    for below in of.get_subcommands() {
        let name = format!("{above} {}", below.get_name()).trim().to_owned();
        if below.has_subcommands() {
            leaves(below, &name, found);
        } else {
            found.insert(name);
        }
    }
}

fn name_of(typed: &str) -> String {
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    typed.split(' ').take_while(is_name).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(expected: Place, typed: &str) {
    let words = std::iter::once("bailiwick").chain(typed.split(' '));
    let parsed = Typed::try_parse_from(words).unwrap_or_else(|error| panic!("{typed}: {error}"));
    let (found, called) = place(&parsed.command);
    assert_eq!(found, expected, "{typed}");
    assert!(typed.starts_with(called), "{typed}: {called}");
}

#[test]
fn each_command_works_at_a_server_or_here_only() {
    for (expected, typed) in COMMANDS {
        check(*expected, typed);
    }
}

#[test]
fn no_command_is_forgotten() {
    let mut all = BTreeSet::new();
    leaves(&Typed::command(), "", &mut all);
    let listed: BTreeSet<String> = COMMANDS.iter().map(|(_, typed)| name_of(typed)).collect();
    assert_eq!(all, listed);
}
