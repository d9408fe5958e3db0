//! `bailiwick approvals`: one verb at a time, and the live view at a terminal.

use bailiwick_testkit::{Program, Running};
use rustix::process::{Pid, Signal, kill_process};

use super::{Serving, asking, bailiwick, run};

/// A server whose one tool asks first.
fn stage() -> (Program, Serving) {
    let program = bailiwick().with_file("asks.tool.yaml", &asking());
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "asks.tool.yaml"], 0);
    (program, server)
}

/// A call that waits at the server, by a key that covers nothing else.
fn waiting_call(program: &Program, who: &str) -> Running {
    let call = program.start(&["tool", "call", "asks", "--arg", &format!("who={who}")]);
    call.wait_for("waits: ");
    call
}

/// The id of the one question that waits.
#[track_caller]
fn id(program: &Program) -> String {
    let listed = run(program, &["approvals", "list", "--json"], 0);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
    let id = listed.pointer("/approvals/0/id").and_then(serde_json::Value::as_str);
    assert!(id.is_some(), "{listed}");
    id.unwrap_or_default().to_owned()
}

#[test]
fn questions_are_listed_shown_and_answered_without_a_terminal() {
    let (program, server) = stage();
    let first = waiting_call(&program, "ann");
    let waits = id(&program);
    let shown = run(&program, &["approvals", "show", &waits], 0);
    for said in ["asks", "risk", "\"who\": \"ann\"", "no call of this tool was approved before", "hash"] {
        assert!(shown.stdout.contains(said), "{said}: {}", shown.stdout);
    }
    let said = run(&program, &["approvals", "yes", &waits], 0);
    assert!(
        said.stderr.contains("arguments") && said.stderr.contains("risk"),
        "all of it is shown: {}",
        said.stderr
    );
    let (code, text) = first.end();
    assert_eq!(code, Some(0), "{text}");
    let late = run(&program, &["approvals", "no", &waits], 2);
    assert!(late.stderr.contains("yes"), "how it ended is told: {}", late.stderr);

    let second = waiting_call(&program, "bob");
    let waits = id(&program);
    let shown = run(&program, &["approvals", "show", &waits], 0);
    for said in ["-   \"who\": \"ann\"", "+   \"who\": \"bob\"", "last approved"] {
        assert!(shown.stdout.contains(said), "{said}: {}", shown.stdout);
    }
    run(&program, &["approvals", "yes", &waits, "--same-arguments", "5"], 0);
    assert_eq!(second.end().0, Some(0));
    let remembered = run(&program, &["approvals", "remembered"], 0);
    assert!(remembered.stdout.contains("bob"), "{}", remembered.stdout);
    // It asks nobody any more, until that is forgotten.
    run(&program, &["tool", "call", "asks", "--arg", "who=bob"], 0);
    run(&program, &["approvals", "forget", &waits], 0);
    let third = waiting_call(&program, "bob");
    run(&program, &["approvals", "no", &id(&program)], 0);
    assert_eq!(third.end().0, Some(3));
    server.end();
}

#[test]
fn a_yes_at_a_terminal_shows_the_question_and_asks_first() {
    let (program, server) = stage();
    let call = waiting_call(&program, "ann");
    let waits = id(&program);
    for (answer, code) in [("n\n", 3), ("y\n", 0)] {
        let mut running = program.start_at_a_terminal(&["approvals", "yes", &waits]);
        let asked = running.wait_for("say yes to all of this? [y/N] ");
        assert!(asked.contains("\"who\": \"ann\"") && asked.contains("risk"), "{asked}");
        running.send(answer);
        let (ended, text) = running.end();
        assert_eq!(ended, Some(code), "{text}");
    }
    assert_eq!(call.end().0, Some(0));
    server.end();
}

#[test]
fn one_key_answers_in_the_live_view_at_a_server() {
    let (program, server) = stage();
    let viewer = bailiwick().with_variable("BAILIWICK_SERVER", server.address()).with_variable(
        "BAILIWICK_KEY_FILE",
        &program.home().join(".local/share/bailiwick/operator.key").to_string_lossy(),
    );
    check_view(&program, &viewer);
    server.end();
}

#[test]
fn one_key_answers_in_the_live_view_beside_the_owner() {
    let (program, server) = stage();
    check_view(&program, &program);
    server.end();
}

#[track_caller]
fn check_view(program: &Program, viewer: &Program) {
    let mut view = viewer.start_at_a_terminal(&["approvals"]);
    view.wait_for("nothing waits");
    for (who, key, code) in [("ann", "y", 0), ("bob", "n", 3), ("cyd", "r", 0)] {
        let call = waiting_call(program, who);
        view.wait_for(&format!("\"{who}\""));
        // A key that is too early is told so, and one later counts: the view says itself when it has.
        view.send(key);
        while !answered(&view, key) {
            view.send(key);
        }
        if key == "r" {
            view.wait_for("minutes");
            view.send("\r");
        }
        let (ended, text) = call.end();
        assert_eq!(ended, Some(code), "{who}: {text}");
    }
    view.send("q");
    let (code, text) = view.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with("\u{1b}[?1049l"), "the terminal is put back: {text:?}");
}

/// Whether the view has taken this key; it paints four times a second.
fn answered(view: &Running, key: &str) -> bool {
    let frames = view.wait_for("\u{1b}[H").matches("\u{1b}[H").count();
    let text = view.wait_for_nth("\u{1b}[H", frames + 1);
    match key {
        "y" => text.contains("said yes"),
        "n" => text.contains("said no"),
        _ => text.contains("identical arguments for"),
    }
}

#[test]
fn the_view_gives_the_terminal_back_when_it_is_ended() {
    let (program, server) = stage();
    let view = program.start_at_a_terminal(&["approvals"]);
    view.wait_for("nothing waits");
    view.terminate();
    let (code, text) = view.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with("\u{1b}[?1049l"), "{text:?}");
    server.end();
}

#[track_caller]
fn signal(view: &Running, signal: Signal) {
    let id = i32::try_from(view.id()).ok().and_then(Pid::from_raw);
    let sent = id.map(|id| kill_process(id, signal));
    assert_eq!(sent, Some(Ok(())), "{signal:?}");
}

#[test]
fn the_view_gives_the_terminal_back_when_it_is_made_to_quit_or_stopped() {
    const ENTERED: &str = "\u{1b}[?1049h";
    const LEFT: &str = "\u{1b}[?1049l";
    let (program, server) = stage();
    let view = program.start_at_a_terminal(&["approvals"]);
    view.wait_for("nothing waits");
    signal(&view, Signal::TSTP);
    let text = view.wait_for(LEFT);
    assert!(text.ends_with(LEFT) && text.contains("\u{1b}[?2004l"), "{text:?}");
    // Whether it stands still by now or not: it goes on only when it is told to.
    while !is_stopped(&view) {
        std::thread::yield_now();
    }
    signal(&view, Signal::CONT);
    view.wait_for_nth(ENTERED, 2);
    view.wait_for_nth("nothing waits", 2);
    signal(&view, Signal::QUIT);
    let (code, text) = view.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with(LEFT), "{text:?}");
    assert_eq!((text.matches(ENTERED).count(), text.matches(LEFT).count()), (2, 2), "{text:?}");
    server.end();
}

#[expect(clippy::disallowed_methods, reason = "the kernel's word on a process of the test's own")]
fn is_stopped(view: &Running) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", view.id())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
}

#[test]
fn the_view_never_takes_the_data_folder_of_a_server_that_ended() {
    let (program, server) = stage();
    let view = program.start_at_a_terminal(&["approvals"]);
    view.wait_for("nothing waits");
    let call = waiting_call(&program, "ann");
    view.wait_for("\"ann\"");
    server.running.kill();
    let (code, text) = view.end();
    assert_eq!(code, Some(5), "{text}");
    assert!(text.contains("the server ended: 1 question it had is a no"), "{text}");
    drop(call);
}
