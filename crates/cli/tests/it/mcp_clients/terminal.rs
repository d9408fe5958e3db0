//! `mcp install` at a terminal: a person sees what changes, and their yes counts for exactly that.

use super::{CLIENTS, everything, kept, text, with_home};

#[test]
fn only_a_yes_writes() {
    for known in CLIENTS {
        for (answer, code) in [("n\n", 3), ("\n", 3), ("yep\n", 3), ("y\n", 0)] {
            let program = with_home(known.file, known.before);
            let before = everything(&program.home());
            let mut running = program.start_at_a_terminal(&["mcp", "install", known.client]);
            let asked = running.wait_for("? [y/N] ");
            for said in [known.file, "+ ", "bailiwick"] {
                assert!(asked.contains(said), "{said}: {asked}");
            }
            running.send(answer);
            let (ended, text) = running.end();
            assert_eq!(ended, Some(code), "{text}");
            assert_eq!(everything(&program.home()) == before, code != 0, "{answer:?}: {text}");
        }
    }
}

#[test]
fn what_somebody_writes_while_the_question_stands_is_not_lost() {
    for known in CLIENTS {
        let program = with_home(known.file, known.before);
        let mut running = program.start_at_a_terminal(&["mcp", "install", known.client]);
        running.wait_for("? [y/N] ");
        let program = program.with_home_file(known.file, "theirs");
        running.send("y\n");
        let (ended, said) = running.end();
        assert_eq!(ended, Some(2), "{said}");
        assert!(said.contains("has changed since it was read; nothing was written"), "{said}");
        let file = program.home().join(known.file);
        assert_eq!((text(&file).as_str(), kept(&file).len()), ("theirs", 0));
    }
}

#[test]
fn what_a_file_holds_cannot_paint_the_question() {
    let hostile = "{\"mcpServers\": {\"bailiwick\": {\"x\": \"\u{202e}\u{9b}2K\u{200b}\"}}}";
    let program = with_home(".cursor/mcp.json", hostile);
    let mut running = program.start_at_a_terminal(&["mcp", "install", "cursor", "--replace"]);
    let asked = running.wait_for("? [y/N] ");
    for character in ["\u{202e}", "\u{9b}", "\u{200b}"] {
        assert!(!asked.contains(character), "{asked:?}");
    }
    assert!(asked.contains("\\u{202e}"), "{asked:?}");
    running.send("n\n");
    assert_eq!(running.end().0, Some(3));
}
