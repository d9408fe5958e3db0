//! Which words of a command a program reads as code, as far as that is known by name. A net for an author's slip, and no
//! wall: an interpreter that is not listed here reads its code all the same.

use super::words::Word;

/// How a program is told its code.
#[derive(Clone, Copy)]
enum Told {
    /// By the word behind an option that ends in one of these letters: `-c`, `-lc`.
    Behind(&'static [char]),
    /// By its first word that is no option, or behind `-e`.
    First,
}

const SHELLS: &[&str] = &["sh", "ash", "bash", "dash", "fish", "ksh", "mksh", "zsh"];
const BY_E: &[&str] = &["perl", "ruby", "node", "nodejs", "lua", "bun", "deno", "Rscript", "osascript"];
const FIRST: &[&str] = &["awk", "gawk", "mawk", "nawk", "sed"];
/// Options of those whose value is the next word.
const WITH_VALUE: &[&str] = &["-v", "--assign", "-F", "--field-separator", "-l", "--line-length"];
/// Options of those that name a file of code: no word is code then.
const BY_FILE: &[&str] = &["-f", "--file"];

fn told(program: &str) -> Option<Told> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    if SHELLS.contains(&plain) || matches!(plain, "python" | "pypy") {
        return Some(Told::Behind(&['c']));
    }
    if plain == "php" {
        return Some(Told::Behind(&['r', 'B', 'R', 'E']));
    }
    if BY_E.contains(&plain) {
        return Some(Told::Behind(&['e', 'E', 'p']));
    }
    FIRST.contains(&plain).then_some(Told::First)
}

/// The places of words that are code and have slots.
pub(super) fn with_slots(words: &[&Word]) -> Vec<usize> {
    let mut found: Vec<usize> = words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| {
            let code = match told(word.literal()?)? {
                Told::Behind(letters) => behind(words, at + 1, letters),
                Told::First => first(words, at + 1),
            }?;
            words.get(code)?.literal().is_none().then_some(code)
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The word behind the first option that ends in one of these letters.
fn behind(words: &[&Word], from: usize, letters: &[char]) -> Option<usize> {
    let is_option = |word: &&Word| word.literal().is_some_and(|option| ends_in(option, letters));
    words.iter().skip(from).position(is_option).map(|at| from + at + 1)
}

/// The word behind `-e`, or the first that is no option and no value of one.
fn first(words: &[&Word], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let word = words.get(at)?;
        match word.literal() {
            Some(option) if BY_FILE.contains(&option) => return None,
            Some(option) if WITH_VALUE.contains(&option) => at += 2,
            Some(option) if ends_in(option, &['e']) => return Some(at + 1),
            Some(option) if option.starts_with('-') => at += 1,
            Some(_) => return Some(at),
            None => {
                let begins = match word {
                    Word::One(template) => template.prefix(),
                    Word::Each(_) => "",
                };
                if begins.starts_with('-') && !begins.starts_with("--expression") {
                    at += 1;
                } else {
                    return Some(at);
                }
            }
        }
    }
}

/// Whether a word is a cluster of short options that ends in one of these letters, or the long name of the same.
fn ends_in(option: &str, letters: &[char]) -> bool {
    if let Some(long) = option.strip_prefix("--") {
        return matches!(long, "eval" | "command" | "run" | "print" | "expression");
    }
    let Some(cluster) = option.strip_prefix('-') else { return false };
    cluster.chars().all(|one| one.is_ascii_alphabetic()) && cluster.ends_with(letters)
}
