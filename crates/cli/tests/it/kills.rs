//! An owner that is killed at any moment, again and again: what it said was done is done, nothing is half done, nothing
//! is left running, and whoever comes next finds a folder that works.
//!
//! `BAILIWICK_KILL_ROUNDS` chooses how many times, `BAILIWICK_KILL_SEED` which moments.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of this is a test"
)]

mod chance;
mod clients;
mod ledger;
mod look;
mod processes;

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bailiwick_testkit::{Program, Running};

use crate::bailiwick;
use chance::Chance;
use clients::{AtDesk, by_commands, told, words};
use ledger::Ledger;
use look::Looked;

/// Rounds where nobody chooses.
const ROUNDS: u64 = 40;
const SEED: u64 = 20_261_116;
/// The latest moment at which an owner is killed.
const LATEST_US: u64 = 800_000;
/// The latest moment at which one that only starts is killed.
const WHILE_IT_STARTS_US: u64 = 100_000;
/// In one round of so many there is no lasting owner: one of two commands is it for as long as it runs.
const WITHOUT_OWNER: u64 = 5;
/// The whole chain is proven after so many rounds.
const PROVEN_EVERY: u64 = 10;

#[expect(clippy::disallowed_methods, reason = "read by tests only, which have no settings")]
fn chosen(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Lets a random while pass, a short one more often than a long one. There is nothing to wait for: that is the point.
#[expect(clippy::disallowed_methods, reason = "a kill at a moment that nobody expects")]
fn some_while(chance: &mut Chance, at_most_us: u64) {
    let bound = 1 + chance.below(at_most_us);
    std::thread::sleep(Duration::from_micros(chance.below(bound)));
}

fn say(text: &str) {
    // A reader that went away has nothing to miss.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn what_an_owner_acknowledged_outlives_its_kill_at_any_moment() {
    let (rounds, seed) = (chosen("BAILIWICK_KILL_ROUNDS", ROUNDS), chosen("BAILIWICK_KILL_SEED", SEED));
    say(&format!("seed {seed}, {rounds} rounds"));
    let started = Instant::now();
    let mut chance = Chance::new(seed);
    let program = bailiwick();
    let mut ledgers = [Ledger::new("first"), Ledger::new("second")];
    let mut looked = Looked::default();
    for round in 1..=rounds {
        if round % WITHOUT_OWNER == 0 {
            kill_a_command(&program, &mut ledgers, &mut chance);
        } else {
            kill_the_owner(&program, &mut ledgers, &mut chance, &mut looked);
        }
        if round % PROVEN_EVERY == 0 {
            prove(&program, round);
        }
    }
    let owner = own(&program);
    looked.look(&AtDesk::open(&program), &mut ledgers);
    owner.terminate();
    assert_eq!(owner.end().0, Some(0));
    prove(&program, rounds);
    let listed = program.run(&["tool", "list", "--json"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(!listed.stdout.contains("REVOKED"), "{}", listed.stdout);
    say(&format!("{} in {:.1} s", looked.figures(&ledgers), started.elapsed().as_secs_f64()));
}

/// Starts a lasting owner. Whatever its predecessor left does not keep it from owning.
fn own(program: &Program) -> Running {
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    owner
}

/// One round: a lasting owner, looked at, then used by two clients at once and killed.
fn kill_the_owner(program: &Program, ledgers: &mut [Ledger; 2], chance: &mut Chance, looked: &mut Looked) {
    let owner = own(program);
    let desk = AtDesk::open(program);
    looked.look(&desk, ledgers);
    let stop = AtomicBool::new(false);
    let [first, second] = ledgers;
    let below = std::thread::scope(|scope| {
        let (theirs, stop) = (chance.fork(), &stop);
        scope.spawn(move || by_commands(program, first, theirs, stop));
        let theirs = chance.fork();
        scope.spawn(move || desk.work(second, theirs, stop));
        some_while(chance, LATEST_US);
        let below = processes::kill(&owner);
        stop.store(true, Ordering::Relaxed);
        below
    });
    assert_eq!(owner.end().0, None, "it was killed");
    processes::wait_until_gone(&below);
}

/// One round: two commands, of which one owns the folder and the other asks it; one of the two is killed.
fn kill_a_command(program: &Program, ledgers: &mut [Ledger; 2], chance: &mut Chance) {
    let started: Vec<_> = ledgers
        .iter_mut()
        .map(|ledger| {
            // What the round before left open is not known here, so only what is possible in every case is asked for.
            let wish = ledger.replaces();
            let words = words(program, ledger.tool, &wish);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            ledger.begins(&wish);
            (program.start(&words), wish)
        })
        .collect();
    some_while(chance, LATEST_US);
    let killed = usize::from(chance.below(2) == 1);
    let below = processes::kill(&started[killed].0);
    for (ledger, (running, wish)) in ledgers.iter_mut().zip(started) {
        let (code, text) = running.end();
        told(ledger, &wish, code, &text, &text);
    }
    processes::wait_until_gone(&below);
}

#[track_caller]
fn prove(program: &Program, round: u64) {
    let run = program.run(&["audit", "verify"]);
    assert_eq!(run.code, Some(0), "round {round}: {}{}", run.stdout, run.stderr);
    assert!(run.stdout.starts_with("whole: "), "round {round}: {}", run.stdout);
}

#[test]
fn a_folder_whose_making_was_killed_is_made_by_the_next() {
    let rounds = chosen("BAILIWICK_KILL_ROUNDS", ROUNDS) / 4;
    let seed = chosen("BAILIWICK_KILL_SEED", SEED);
    say(&format!("seed {seed}, {rounds} rounds"));
    let mut chance = Chance::new(seed);
    for round in 0..rounds {
        let program = bailiwick();
        let owner = program.start(&["own"]);
        some_while(&mut chance, WHILE_IT_STARTS_US);
        let below = processes::kill(&owner);
        assert_eq!(owner.end().0, None, "it was killed");
        processes::wait_until_gone(&below);
        let run = program.run(&["tool", "list"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "there are no tools\n"), "{}", run.stderr);
        prove(&program, round);
    }
}
