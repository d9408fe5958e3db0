//! `approvals.notify`: programs and addresses that are told of questions.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bailiwick_config::files::{Readers, replace};
use bailiwick_testkit::upstream::{Answer, Request, Upstream};
use serde_json::{Value, json};

use crate::asking::{Served, agent, place};
use crate::stage::{block_on, with};

bailiwick_testkit::tests!(
    a_program_is_told_of_a_question_on_its_input,
    an_address_gets_the_question,
    what_fails_is_counted_and_delays_nothing,
    who_answers_at_once_is_not_announced,
);

/// A program of the operator's.
fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    replace(&path, text, Readers::Owner).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("permissions");
    path
}

/// Asks one question, says no to it, and ends the server, which waits for the announcements.
async fn ask_and_end(mut served: Served) -> (bailiwick_core::Core, Value) {
    let call = served.call(agent(), json!({"n": 7}));
    let waiting = served.asked().await;
    served.answer(waiting.id, false).await.expect("answered");
    call.await.expect("no panic").expect("a report");
    served.nothing_ran().await;
    let core = served.house.core.clone();
    served.house.close().await;
    (core, json!(waiting))
}

fn a_program_is_told_of_a_question_on_its_input() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let (told, around) = (folder.path().join("told"), folder.path().join("around"));
        let text = format!(
            "#!/bin/sh\ncat > {}\n{{ echo \"$# $PWD\"; env; }} > {}\n",
            told.display(),
            around.display()
        );
        let program = program(folder.path(), "bell", &text);
        let served = Served::at(place().set(&format!("approvals.notify={}", program.display()))).await;
        let (core, waiting) = ask_and_end(served).await;
        assert_eq!(core.troubles(), Vec::<String>::new());
        #[expect(clippy::disallowed_methods, reason = "a file of this test's own program")]
        let read = |path: &Path| std::fs::read_to_string(path).expect("it was written");
        let said: Value = serde_json::from_str(&read(&told)).expect("JSON");
        assert_eq!(said, waiting);
        let around = read(&around);
        let mut lines = around.lines();
        assert_eq!(lines.next(), Some("0 /"), "no arguments, and no folder of ours");
        // What the shell sets by itself is not ours.
        let of_shell = ["PATH=", "PWD=", "OLDPWD=", "SHLVL=", "_="];
        let other = lines.find(|line| !of_shell.iter().any(|name| line.starts_with(name)));
        assert_eq!(other, None);
    });
}

fn an_address_gets_the_question() {
    block_on(async {
        let taken: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let kept = Arc::clone(&taken);
        let upstream = Upstream::http(move |request: &Request| {
            let body = serde_json::from_slice(&request.body).expect("JSON");
            kept.lock().expect("not poisoned").push((request.method.clone(), body));
            Answer::ok("")
        });
        let served =
            Served::at(place().set(&format!("approvals.notify=http://{}/bell", upstream.address()))).await;
        let (core, waiting) = ask_and_end(served).await;
        assert_eq!(core.troubles(), Vec::<String>::new());
        assert_eq!(*taken.lock().expect("not poisoned"), [("POST".to_owned(), waiting)]);
    });
}

fn what_fails_is_counted_and_delays_nothing() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let fails = program(folder.path(), "fails", "#!/bin/sh\nexit 3\n");
        let missing = folder.path().join("missing");
        let listed = format!("approvals.notify={},{}", fails.display(), missing.display());
        let (core, _) = ask_and_end(Served::at(place().set(&listed)).await).await;
        let told = core.troubles();
        assert!(told.iter().any(|trouble| trouble.starts_with("2 waiting questions")), "{told:?}");
    });
}

fn who_answers_at_once_is_not_announced() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let told = folder.path().join("told");
        let program = program(folder.path(), "bell", &format!("#!/bin/sh\ncat > {}\n", told.display()));
        let served = Served::at(place().set(&format!("approvals.notify={}", program.display()))).await;
        let caller = with(crate::stage::Says::yes());
        assert!(served.call(caller, json!({"n": 1})).await.expect("no panic").expect("a report").is_ok());
        served.house.close().await;
        assert!(!told.exists());
    });
}
