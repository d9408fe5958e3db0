//! Commands and paths: what is none is refused before anything runs.

use std::time::Duration;

use bytes::Bytes;

use crate::command::{LONGEST_ARGUMENT, MOST_INPUT, MOST_WORDS};
use crate::{Command, CommandError, PathError, SandboxPath, Window};

#[test]
fn words_that_are_no_command_are_refused() {
    let table: [(Vec<String>, CommandError); 7] = [
        (vec![], CommandError::Empty),
        (vec![String::new(), "x".to_owned()], CommandError::NoProgram),
        (vec!["a".to_owned(), "b\0c".to_owned()], CommandError::Nul(1)),
        (vec!["\0".to_owned()], CommandError::Nul(0)),
        (vec!["a".to_owned(), "x".repeat(1 << 20)], CommandError::WordTooLong { index: 1, bytes: 1 << 20 }),
        (vec!["x".to_owned(); MOST_WORDS + 1], CommandError::TooMany(MOST_WORDS + 1)),
        (vec!["x".repeat(LONGEST_ARGUMENT); 9], CommandError::TooLong(9 * (LONGEST_ARGUMENT + 1))),
    ];
    for (words, error) in table {
        assert_eq!(Command::new(words).unwrap_err(), error);
    }
    assert!(Command::new(["x".repeat(LONGEST_ARGUMENT)]).is_ok());
    assert!(Command::new(["a", "", "b"]).is_ok(), "an empty word is a word");
}

#[test]
fn a_shell_is_there_only_where_somebody_asked_for_it() {
    let words = Command::new(["sh", "-c", "true; false"]).unwrap();
    assert!(!words.is_shell());
    let text = Command::shell("true; false").unwrap();
    assert!(text.is_shell());
    assert_eq!(text.argv(), ["/bin/sh", "-c", "true; false"]);
}

#[test]
fn open_fields_of_a_command_are_looked_at_again() {
    #[track_caller]
    fn check(change: impl FnOnce(&mut Command), is_fine: bool) {
        let mut command = Command::new(["true"]).unwrap();
        change(&mut command);
        assert_eq!(command.check().is_ok(), is_fine, "{:?}", command.check());
    }
    check(|_| {}, true);
    check(|command| drop(command.env.insert("A=B".to_owned(), String::new())), false);
    check(|command| drop(command.env.insert("A".to_owned(), "\0".to_owned())), false);
    check(|command| command.timeout = Some(Duration::ZERO), false);
    check(|command| command.timeout = Some(Duration::from_nanos(1)), true);
    check(|command| command.input = Bytes::from(vec![0; MOST_INPUT + 1]), false);
    check(|command| command.terminal = Some(Window { rows: 0, columns: 80 }), false);
    check(|command| command.terminal = Some(Window { rows: 24, columns: 80 }), true);
}

#[test]
fn the_sooner_deadline_counts() {
    let command =
        |seconds| Command::new(["true"]).unwrap().with_timeout(Duration::from_secs(seconds)).unwrap();
    let sandbox = Duration::from_secs(30);
    assert_eq!(command(5).deadline(sandbox), Duration::from_secs(5));
    assert_eq!(command(50).deadline(sandbox), sandbox);
    assert_eq!(Command::new(["true"]).unwrap().deadline(sandbox), sandbox);
    assert!(Command::new(["true"]).unwrap().with_timeout(Duration::ZERO).is_err());
}

#[test]
fn paths_inside_are_absolute_and_in_their_shortest_form() {
    let table: [(&str, Result<&str, PathError>); 8] = [
        ("/", Ok("/")),
        ("/a//b/./c/", Ok("/a/b/c")),
        ("/a..b/...", Ok("/a..b/...")),
        ("a", Err(PathError::Relative("a".to_owned()))),
        ("", Err(PathError::Relative(String::new()))),
        ("/a/../b", Err(PathError::Upwards("/a/../b".to_owned()))),
        ("/..", Err(PathError::Upwards("/..".to_owned()))),
        ("/a\0b", Err(PathError::Nul)),
    ];
    for (text, expected) in table {
        assert_eq!(
            SandboxPath::new(text).as_ref().map(SandboxPath::as_str),
            expected.as_ref().copied(),
            "{text}"
        );
    }
    assert_eq!(SandboxPath::new(&"/x".repeat(2048)), Err(PathError::TooLong(4096)));
}

#[test]
fn a_path_lies_in_a_folder_by_whole_names() {
    let path = |text: &str| SandboxPath::new(text).unwrap();
    let table = [
        ("/a/b", "/a", true),
        ("/a", "/a", true),
        ("/ab", "/a", false),
        ("/a", "/a/b", false),
        ("/x", "/", true),
    ];
    for (inner, outer, expected) in table {
        assert_eq!(path(inner).is_within(&path(outer)), expected, "{inner} in {outer}");
    }
}
