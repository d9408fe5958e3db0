//! Terminals, of which gVisor's kernel opens the commands' ends by their names only.

use bailiwick_sandbox::{Exit, Input, Running, Window};
use bailiwick_testkit::{requires, tests};
use bytes::Bytes;

use crate::place::{Place, is_possible, said, shell, wait};

tests!(
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
        heard.push_str(&String::from_utf8_lossy(&piece.bytes));
    }
    heard
}

fn a_terminal_is_one_of_its_size_each_time() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        for _ in 0..3 {
            let mut command = shell("test -t 0 && test -t 1 && test -t 2 && stty size && tty");
            command.terminal = Some(WINDOW);
            let said = said(&sandbox.exec(command).await.expect("an end"));
            // Its kernel never gives a number twice.
            assert!(said.starts_with("31 97\r\n/dev/pts/"), "{said:?}");
        }
    });
}

fn what_is_typed_is_read_and_an_interrupt_is_a_character() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let mut command = shell("echo ready; read line; echo heard $line; exec cat");
        command.terminal = Some(WINDOW);
        let mut running = sandbox.spawn(command).await.expect("it runs");
        until(&mut running, "ready\r\n").await;
        running.input.send(Input::Bytes(Bytes::from_static(b"a word\n"))).await.expect("it listens");
        until(&mut running, "heard a word\r\n").await;
        running.input.send(Input::Bytes(Bytes::from_static(b"\x03"))).await.expect("it listens");
        let ended = running.ended.await.expect("told").expect("an end");
        assert_eq!(ended.exit, Exit::Signal(2));
    });
}

fn another_size_is_seen() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let mut command = shell("echo ready; read line; stty size; echo over");
        command.terminal = Some(WINDOW);
        let mut running = sandbox.spawn(command).await.expect("it runs");
        until(&mut running, "ready\r\n").await;
        running.input.send(Input::Resize(Window { rows: 5, columns: 7 })).await.expect("it listens");
        running.input.send(Input::Bytes(Bytes::from_static(b"\n"))).await.expect("it listens");
        let said = until(&mut running, "over\r\n").await;
        assert!(said.contains("5 7\r\n"), "{said:?}");
    });
}
