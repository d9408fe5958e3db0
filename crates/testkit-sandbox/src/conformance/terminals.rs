//! Terminals.

use bailiwick_sandbox::{Exit, Input, Running, Stream, Window};
use bytes::Bytes;

use super::{Place, Subject, checks};
use crate::{shell, wait};

checks!(
    a_terminal_is_one_of_its_size_each_time,
    what_is_typed_is_read_and_an_interrupt_is_a_character,
    another_size_is_seen,
);

const WINDOW: Window = Window { rows: 31, columns: 97 };

/// Hears what a command says until it has said this.
async fn until(running: &mut Running, text: &str) -> String {
    let mut heard = String::new();
    while !heard.contains(text) {
        let piece = running.output.recv().await.expect("it speaks on");
        assert_eq!(piece.stream, Stream::Stdout);
        heard.push_str(&String::from_utf8_lossy(&piece.bytes));
    }
    heard
}

/// A text for the shell, on a terminal.
async fn spawn(place: &Place<'_>, text: &str) -> (Box<dyn bailiwick_sandbox::Sandbox>, Running) {
    let sandbox = place.sandbox().await;
    let mut command = shell(text);
    command.terminal = Some(WINDOW);
    let running = sandbox.spawn(command).await.expect("it runs");
    (sandbox, running)
}

fn a_terminal_is_one_of_its_size_each_time(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        for _ in 0..3 {
            let mut command = shell("test -t 0 && test -t 1 && test -t 2 && stty size && tty");
            command.terminal = Some(WINDOW);
            let said = crate::said(&sandbox.exec(command).await.expect("an end"));
            // Some kernels never give a number twice.
            assert!(said.starts_with("31 97\r\n/dev/pts/"), "{said:?}");
        }
    });
}

fn what_is_typed_is_read_and_an_interrupt_is_a_character(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let (_sandbox, mut running) =
            spawn(&place, "echo ready; read line; echo heard $line; exec cat").await;
        until(&mut running, "ready\r\n").await;
        running.input.send(Input::Bytes(Bytes::from_static(b"a word\n"))).await.expect("it listens");
        until(&mut running, "heard a word\r\n").await;
        running.input.send(Input::Bytes(Bytes::from_static(b"\x03"))).await.expect("it listens");
        let ended = running.ended.await.expect("told").expect("an end");
        assert_eq!(ended.exit, Exit::Signal(2));
    });
}

fn another_size_is_seen(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let (_sandbox, mut running) = spawn(&place, "echo ready; read line; stty size; echo over").await;
        until(&mut running, "ready\r\n").await;
        running.input.send(Input::Resize(Window { rows: 5, columns: 7 })).await.expect("it listens");
        running.input.send(Input::Bytes(Bytes::from_static(b"\n"))).await.expect("it listens");
        let said = until(&mut running, "over\r\n").await;
        assert!(said.contains("5 7\r\n"), "{said:?}");
    });
}
