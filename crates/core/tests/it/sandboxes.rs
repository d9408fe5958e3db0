//! Sandboxes as actions: made, used, kept, ended in time, on the record; with a backend that has no wall.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bailiwick_core::sandboxes::{
    CommandWish, ExecWish, Executed, FileWish, GivenInput, InputBytes, SandboxView, SandboxWish, Target,
};
use bailiwick_core::{Action, Actor, Backends, Caller, Core, Happening, Refusal, Reply};
use bailiwick_sandbox::{Backend, Demand, Limit, Mount, SandboxPath};
use bailiwick_testkit::tests;
use bailiwick_types::{ErrorCode, KeyId, Scope, Scopes, Tier};
use serde_json::Value;

use crate::stage::{Place, block_on, cli};
use crate::unwalled::Unwalled;

tests!(
    a_kept_sandbox_keeps_its_files_between_commands,
    a_command_in_a_sandbox_of_its_own_leaves_nothing,
    every_command_is_on_the_record_before_and_after_with_its_secrets_masked,
    what_is_refused_is_refused_before_anything_is_made_and_is_on_the_record,
    a_sandbox_that_turns_out_below_the_floor_is_ended_before_anything_runs_in_it,
    a_fork_that_is_weaker_than_what_it_is_a_fork_of_is_ended,
    a_process_that_does_not_stay_keeps_no_sandbox,
    there_are_no_more_sandboxes_than_the_operator_lets_there_be,
    sandboxes_end_in_time_and_not_while_they_are_used,
    all_sandboxes_end_with_the_core,
    sandboxes_are_found_by_name_and_by_the_beginning_of_their_id,
    whoever_is_not_the_operator_sees_only_their_own,
    a_name_tells_nobody_of_the_sandbox_of_another_and_takes_nobodys_place,
    of_two_who_ask_for_one_name_at_once_one_gets_it,
    what_a_preset_wants_and_nothing_holds_is_a_warning_and_typed_it_is_refused,
    a_sandbox_that_turns_out_to_lack_a_wall_is_ended_before_anything_runs_in_it,
    a_caller_who_goes_away_ends_the_command_and_not_the_sandbox,
    mounts_over_a_wire_are_held_to_the_list,
    what_is_done_to_a_sandbox_is_told_to_whoever_may_know_of_it,
    backends_are_begun_by_a_process_that_stays,
);

struct Ground {
    _place: Place,
    core: Core,
    backend: Unwalled,
}

async fn ground(place: Place, backend: Unwalled) -> Ground {
    let mut opening = place.opening();
    opening.backends = Backends::new([Arc::new(backend.clone()) as Arc<dyn Backend>]);
    std::fs::create_dir_all(place.data()).expect("a data folder");
    Ground { core: Core::open(opening).await.expect("a core"), backend, _place: place }
}

async fn standing() -> Ground {
    ground(Place::new().serving(), Unwalled::default()).await
}

impl Ground {
    async fn ask(&self, action: Action) -> Result<Reply, Refusal> {
        self.core.perform(cli(), action).await
    }

    async fn create(&self, wish: SandboxWish) -> Result<SandboxView, Refusal> {
        match self.ask(Action::SandboxCreate(Box::new(wish))).await? {
            Reply::Sandbox(view) => Ok(*view),
            other => panic!("{other:?}"),
        }
    }

    async fn exec(&self, target: Target, command: CommandWish) -> Result<Executed, Refusal> {
        let wish = ExecWish { target, command, correlation: None };
        match self.ask(Action::SandboxExec(Box::new(wish))).await? {
            Reply::Executed(executed) => Ok(*executed),
            other => panic!("{other:?}"),
        }
    }

    async fn sh(&self, sandbox: &str, text: &str) -> Executed {
        self.exec(Target::Kept(sandbox.to_owned()), shell(text)).await.expect("it runs")
    }

    async fn records(&self) -> Vec<Value> {
        match self.ask(Action::AuditTail { limit: 50 }).await {
            Ok(Reply::Records(records)) => records,
            other => panic!("{other:?}"),
        }
    }

    fn alive(&self) -> u64 {
        self.backend.alive.load(Ordering::SeqCst)
    }
}

fn shell(text: &str) -> CommandWish {
    CommandWish { shell: Some(text.to_owned()), keep_output: true, ..CommandWish::default() }
}

fn named(name: &str) -> SandboxWish {
    SandboxWish { name: Some(name.to_owned()), ..SandboxWish::default() }
}

fn fresh() -> Target {
    Target::Fresh(Box::default())
}

fn a_kept_sandbox_keeps_its_files_between_commands() {
    block_on(async {
        let ground = standing().await;
        ground.create(named("one")).await.expect("a sandbox");
        assert_eq!(ground.sh("one", "echo kept > a; echo said").await.result.stdout.text(), Some("said\n"));
        assert_eq!(ground.sh("one", "cat a; exit 7").await.result.exit_status(), 7);
        let path = SandboxPath::new("/work/b").expect("a path");
        let bytes = InputBytes::new("written");
        let write = FileWish::Write { path: path.clone(), bytes: bytes.clone(), executable: false };
        let files = |wish| Action::SandboxFiles { sandbox: "one".to_owned(), wish };
        assert_eq!(ground.ask(files(write)).await, Ok(Reply::Done));
        assert_eq!(ground.sh("one", "cat a b").await.result.stdout.text(), Some("kept\nwritten"));
        assert_eq!(
            ground.ask(files(FileWish::Read { path: path.clone() })).await,
            Ok(Reply::FileBytes(bytes))
        );
        assert_eq!(ground.ask(files(FileWish::Remove { path: path.clone() })).await, Ok(Reply::Done));
        let gone = ground.ask(files(FileWish::Read { path })).await.expect_err("it is gone");
        assert_eq!(gone.code, ErrorCode::NotFound);
        let taken = ground.ask(Action::SandboxSnapshot { sandbox: "one".to_owned() }).await;
        let Ok(Reply::Snapshots(taken)) = taken else { panic!("{taken:?}") };
        assert_eq!(ground.ask(Action::SnapshotList).await, Ok(Reply::Snapshots(taken.clone())));
        let snapshot = taken[0].snapshot.id.to_string();
        assert_eq!(ground.ask(Action::SnapshotForget { snapshot }).await, Ok(Reply::Done));
        let fork = Action::SandboxFork { sandbox: "one".to_owned(), name: Some("two".to_owned()) };
        assert!(matches!(ground.ask(fork).await, Ok(Reply::Sandbox(_))));
        assert_eq!(ground.alive(), 2);
        for sandbox in ["one", "two"] {
            let remove = Action::SandboxRemove { sandbox: sandbox.to_owned() };
            assert_eq!(ground.ask(remove).await, Ok(Reply::Done));
        }
        assert_eq!(ground.alive(), 0);
    });
}

fn a_command_in_a_sandbox_of_its_own_leaves_nothing() {
    block_on(async {
        let ground = standing().await;
        let input = GivenInput::Bytes(InputBytes::new("given"));
        let cat = CommandWish { input, ..shell("cat; echo told >&2; exit 3") };
        let Executed { result, .. } = ground.exec(fresh(), cat).await.expect("it runs");
        assert_eq!(result.exit_status(), 3);
        assert_eq!((result.stdout.text(), result.stderr.text()), (Some("given"), Some("told\n")));
        let late = CommandWish { timeout: Some("50ms".to_owned()), ..shell("exec sleep 60") };
        let Executed { result, .. } = ground.exec(fresh(), late).await.expect("it runs");
        assert_eq!((result.timed_out, result.exit_status()), (true, 124));
        let wish = SandboxWish { limits: [(Limit::Output, "3".to_owned())].into(), ..SandboxWish::default() };
        let cut = ground.exec(Target::Fresh(Box::new(wish)), shell("echo abcdef")).await.expect("it runs");
        assert_eq!((cut.result.stdout.text(), cut.result.stdout.truncated), (Some("abc"), true));
        assert_eq!(ground.alive(), 0);
    });
}

fn every_command_is_on_the_record_before_and_after_with_its_secrets_masked() {
    block_on(async {
        let ground = standing().await;
        let env = [("TOKEN".to_owned(), "a-value-to-hide".to_owned())];
        let command = CommandWish { env: env.into(), ..shell("echo a-value-to-hide; exit 5") };
        ground.exec(fresh(), command).await.expect("it runs");
        let records = ground.records().await;
        let [.., intent, outcome] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((&intent["kind"], &intent["action"]), (&"intent".into(), &"exec".into()));
        assert_eq!((&outcome["kind"], &outcome["outcome"]["exitCode"]), (&"outcome".into(), &5.into()));
        assert_eq!(intent["callId"], outcome["callId"]);
        assert_eq!(intent["arguments"]["shell"], true, "a shell is marked");
        assert_eq!(intent["arguments"]["argv"][2], "echo ***; exit 5");
        assert_eq!(intent["arguments"]["env"], serde_json::json!(["TOKEN"]));
        assert_eq!(intent["backend"], serde_json::json!({"id": "process", "tier": "PROCESS"}));
        assert!(outcome["outcome"]["receipt"]["walls"].is_array(), "{outcome}");
        let text = serde_json::to_string(&records).expect("text");
        assert!(!text.contains("a-value-to-hide"), "{text}");
    });
}

fn what_is_refused_is_refused_before_anything_is_made_and_is_on_the_record() {
    block_on(async {
        let ground = standing().await;
        let limit = |limit, text: &str| SandboxWish {
            limits: [(limit, text.to_owned())].into(),
            ..SandboxWish::default()
        };
        let mount =
            Mount { from: "/usr".into(), to: SandboxPath::new("/u").expect("a path"), writable: false };
        for (wish, command, code) in [
            (limit(Limit::Timeout, "0s"), shell("true"), ErrorCode::InvalidInput),
            (limit(Limit::Memory, "-5"), shell("true"), ErrorCode::InvalidInput),
            (
                SandboxWish { mounts: vec![mount], ..SandboxWish::default() },
                shell("true"),
                ErrorCode::FsDenied,
            ),
            (SandboxWish::default(), CommandWish::default(), ErrorCode::InvalidInput),
            (
                SandboxWish { backend: Some("none".to_owned()), ..SandboxWish::default() },
                shell("true"),
                ErrorCode::NotFound,
            ),
        ] {
            let target = Target::Fresh(Box::new(wish));
            let refusal = ground.exec(target, command).await.expect_err("a refusal");
            assert_eq!(refusal.code, code, "{refusal:?}");
            let last = ground.records().await.pop().expect("a record");
            assert_eq!((&last["kind"], &last["outcome"]["ok"]), (&"outcome".into(), &false.into()), "{last}");
        }
        assert_eq!(ground.backend.alive.load(Ordering::SeqCst), 0);
    });
}

#[track_caller]
fn is_weaker(refusal: &Refusal, floor: Tier) {
    assert_eq!(refusal.code, ErrorCode::Unenforceable, "{refusal:?}");
    let says = format!("made a sandbox that is PROCESS, below {floor}: it was ended");
    assert!(refusal.message.contains(&says), "{refusal:?}");
}

fn a_sandbox_that_turns_out_below_the_floor_is_ended_before_anything_runs_in_it() {
    block_on(async {
        let claims = Unwalled { claims: Some((Tier::MicroVm, 0)), ..Unwalled::default() };
        let ground = ground(Place::new().serving(), claims).await;
        let strong = || SandboxWish { tier: Some(Tier::UserKernel), ..SandboxWish::default() };
        is_weaker(&ground.create(strong()).await.expect_err("it is weaker"), Tier::UserKernel);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ran");
        let touch = shell(&format!("touch {}", path.display()));
        let refusal = ground.exec(Target::Fresh(Box::new(strong())), touch).await.expect_err("it is weaker");
        is_weaker(&refusal, Tier::UserKernel);
        assert!(!path.exists(), "nothing ran in it");
        assert_eq!((ground.alive(), ground.backend.made.load(Ordering::SeqCst)), (0, 2));
        // Where nobody asks for more than it is, it is taken.
        ground.create(named("weak")).await.expect("a sandbox");
        ground.core.close().await.expect("closed");
    });
}

fn a_fork_that_is_weaker_than_what_it_is_a_fork_of_is_ended() {
    block_on(async {
        let claims = Unwalled { claims: Some((Tier::MicroVm, 1)), ..Unwalled::default() };
        let ground = ground(Place::new().serving(), claims).await;
        ground.create(named("strong")).await.expect("a sandbox");
        let fork = Action::SandboxFork { sandbox: "strong".to_owned(), name: None };
        is_weaker(&ground.ask(fork).await.expect_err("it is weaker"), Tier::MicroVm);
        assert_eq!(ground.alive(), 1);
        ground.core.close().await.expect("closed");
    });
}

fn a_process_that_does_not_stay_keeps_no_sandbox() {
    block_on(async {
        let ground = ground(Place::new(), Unwalled::default()).await;
        let refusal = ground.create(named("one")).await.expect_err("a refusal");
        assert_eq!(refusal.code, ErrorCode::Unavailable);
        assert!(refusal.hint.expect("a hint").contains("bailiwick serve"));
        assert_eq!(ground.exec(fresh(), shell("exit 4")).await.expect("it runs").result.exit_status(), 4);
    });
}

fn there_are_no_more_sandboxes_than_the_operator_lets_there_be() {
    block_on(async {
        let ground = ground(Place::new().serving().set("sandbox.most=2"), Unwalled::default()).await;
        ground.create(named("one")).await.expect("a sandbox");
        let again = ground.create(named("one")).await.expect_err("the name is taken");
        assert_eq!(again.code, ErrorCode::Conflict);
        ground.create(named("two")).await.expect("a sandbox");
        let refusal = ground.create(named("three")).await.expect_err("there is no room");
        assert_eq!(refusal.code, ErrorCode::Busy);
        ground.ask(Action::SandboxRemove { sandbox: "one".to_owned() }).await.expect("removed");
        ground.create(named("three")).await.expect("there is room again");
    });
}

fn sandboxes_end_in_time_and_not_while_they_are_used() {
    block_on(async {
        let ground = standing().await;
        ground.create(SandboxWish { idle: Some("1m".to_owned()), ..named("one") }).await.expect("a sandbox");
        let running = ground.exec(
            Target::Kept("one".to_owned()),
            CommandWish { input: GivenInput::Nothing, ..shell("echo on; sleep 0.2") },
        );
        let ahead = async {
            ground.core.put_clock_ahead(Duration::from_secs(90));
            tokio::task::yield_now().await;
        };
        let (ran, ()) = tokio::join!(running, ahead);
        assert_eq!(ran.expect("it ran to its end").result.exit_status(), 0);
        assert_eq!(ground.alive(), 1, "it was used just now");
        ground.core.put_clock_ahead(Duration::from_secs(61));
        let until = tokio::time::Instant::now() + Duration::from_secs(20);
        while ground.alive() > 0 {
            assert!(tokio::time::Instant::now() < until, "it did not end in time");
            tokio::task::yield_now().await;
        }
        let refusal = ground.ask(Action::SandboxShow { sandbox: "one".to_owned() }).await;
        assert_eq!(refusal.expect_err("it is gone").code, ErrorCode::NotFound);
    });
}

fn all_sandboxes_end_with_the_core() {
    block_on(async {
        let ground = standing().await;
        for name in ["one", "two", "three"] {
            ground.create(named(name)).await.expect("a sandbox");
        }
        ground.core.close().await.expect("closed");
        assert_eq!(ground.alive(), 0);
    });
}

fn sandboxes_are_found_by_name_and_by_the_beginning_of_their_id() {
    block_on(async {
        let ground = standing().await;
        let one = ground.create(named("one")).await.expect("a sandbox").line.id.to_string();
        ground.create(named("two")).await.expect("a sandbox");
        let show = |text: &str| ground.ask(Action::SandboxShow { sandbox: text.to_owned() });
        for text in ["one", one.as_str(), &one[..30]] {
            match show(text).await {
                Ok(Reply::Sandbox(view)) => assert_eq!(view.line.id.to_string(), one),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(show("0").await.expect_err("two begin so").code, ErrorCode::Conflict);
        assert_eq!(show("").await.expect_err("nothing").code, ErrorCode::NotFound);
        assert_eq!(show("x").await.expect_err("none").code, ErrorCode::NotFound);
    });
}

fn whoever_is_not_the_operator_sees_only_their_own() {
    block_on(async {
        let ground = standing().await;
        ground.create(named("operators")).await.expect("a sandbox");
        let theirs = Action::SandboxCreate(Box::new(named("theirs")));
        ground.core.perform(author(1), theirs).await.expect("a sandbox");
        for (caller, sees) in [(cli(), 2), (author(1), 1), (author(2), 0)] {
            match ground.core.perform(caller, Action::SandboxList).await {
                Ok(Reply::Sandboxes(lines)) => assert_eq!(lines.len(), sees),
                other => panic!("{other:?}"),
            }
        }
        let remove = Action::SandboxRemove { sandbox: "operators".to_owned() };
        let refusal = ground.core.perform(author(1), remove).await.expect_err("not theirs");
        assert_eq!(refusal.code, ErrorCode::NotFound);
        let calls = Caller::covering(cli().actor, Scopes::of([Scope::Call]));
        let refusal = ground.core.perform(calls, Action::SandboxList).await.expect_err("not for them");
        assert_eq!(refusal.code, ErrorCode::Forbidden);
    });
}

/// Somebody who may write tools, with a key of this number.
fn author(id: u8) -> Caller {
    Caller {
        key: Some(KeyId::from_parts(1, &[id; 10])),
        ..Caller::covering(
            Actor { key: Some(format!("key{id}")), client: "http".to_owned() },
            Scopes::of([Scope::Author]),
        )
    }
}

fn a_name_tells_nobody_of_the_sandbox_of_another_and_takes_nobodys_place() {
    block_on(async {
        let ground = standing().await;
        let make = async |caller: Caller, name: &str| match ground
            .core
            .perform(caller, Action::SandboxCreate(Box::new(named(name))))
            .await
        {
            Ok(Reply::Sandbox(view)) => Ok(view.line.id.to_string()),
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => Err(refusal.code),
        };
        let found = async |caller: Caller, text: &str| match ground
            .core
            .perform(caller, Action::SandboxShow { sandbox: text.to_owned() })
            .await
        {
            Ok(Reply::Sandbox(view)) => Ok(view.line.id.to_string()),
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => Err(refusal.code),
        };
        let first = make(author(1), "release").await.expect("a sandbox");
        // Another key is not told that there is one of this name, and a fork neither.
        let second = make(author(2), "release").await.expect("a sandbox of its own");
        let other = make(author(2), "other").await.expect("a sandbox");
        let fork = Action::SandboxFork { sandbox: other, name: Some("release".to_owned()) };
        let refusal = ground.core.perform(author(2), fork).await.expect_err("theirs has it");
        assert_eq!(refusal.code, ErrorCode::Conflict);
        assert_eq!(make(author(1), "release").await, Err(ErrorCode::Conflict));
        assert_eq!(found(author(1), "release").await, Ok(first.clone()));
        assert_eq!(found(author(2), "release").await, Ok(second));
        // Who sees both is not given either, and makes no third.
        assert_eq!(found(cli(), "release").await, Err(ErrorCode::Conflict));
        assert_eq!(make(cli(), "release").await, Err(ErrorCode::Conflict));
        // An id is no name to be taken.
        make(author(2), &first).await.expect("a sandbox with an odd name");
        assert_eq!(found(cli(), &first).await, Ok(first.clone()));
        assert_eq!(found(author(1), &first).await, Ok(first));
    });
}

fn of_two_who_ask_for_one_name_at_once_one_gets_it() {
    block_on(async {
        let ground = standing().await;
        let (one, two) = tokio::join!(ground.create(named("same")), ground.create(named("same")));
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        assert_eq!(ground.alive(), 1);
        // The name is free again with the sandbox.
        ground.ask(Action::SandboxRemove { sandbox: "same".to_owned() }).await.expect("removed");
        ground.create(named("same")).await.expect("another one");
    });
}

fn what_a_preset_wants_and_nothing_holds_is_a_warning_and_typed_it_is_refused() {
    block_on(async {
        let lacking = Unwalled { lacks: vec![Demand::Memory], ..Unwalled::default() };
        let ground = ground(Place::new().serving(), lacking).await;
        let executed = ground.exec(fresh(), shell("true")).await.expect("it runs");
        assert_eq!(executed.warnings, ["memory is not held"]);
        let typed =
            SandboxWish { limits: [(Limit::Memory, "64M".to_owned())].into(), ..SandboxWish::default() };
        let refusal =
            ground.exec(Target::Fresh(Box::new(typed)), shell("true")).await.expect_err("a refusal");
        assert_eq!(refusal.code, ErrorCode::Unenforceable);
        assert_eq!(ground.alive(), 0);
    });
}

fn a_sandbox_that_turns_out_to_lack_a_wall_is_ended_before_anything_runs_in_it() {
    block_on(async {
        let feigning = Unwalled { feigns: Some((Demand::Files, 0)), ..Unwalled::default() };
        let ground = ground(Place::new().serving(), feigning.clone()).await;
        let refused = ground.exec(fresh(), shell("true")).await.expect_err("nothing holds its files");
        assert_eq!(refused.code, ErrorCode::Unenforceable);
        let told = "files (absent: nothing but the word of a test): it was ended, and nothing ran in it";
        assert!(refused.message.ends_with(told), "{}", refused.message);
        let made = ground.create(named("one")).await.expect_err("nor here");
        assert_eq!((made.code, ground.alive()), (ErrorCode::Unenforceable, 0));
        assert_eq!(feigning.made.load(Ordering::SeqCst), 2);
        // A fork is held to what it is a fork of.
        let feigning = Unwalled { feigns: Some((Demand::Files, 1)), ..Unwalled::default() };
        let ground = self::ground(Place::new().serving(), feigning).await;
        ground.create(named("whole")).await.expect("a sandbox");
        let fork = Action::SandboxFork { sandbox: "whole".to_owned(), name: None };
        let refused = ground.ask(fork).await.expect_err("nothing holds its files");
        assert_eq!((refused.code, ground.alive()), (ErrorCode::Unenforceable, 1));
        // A limit that only a preset wants is a warning, and not a wall.
        let feigning = Unwalled { feigns: Some((Demand::Memory, 0)), ..Unwalled::default() };
        let ground = self::ground(Place::new().serving(), feigning).await;
        ground.exec(fresh(), shell("true")).await.expect("it runs");
    });
}

fn a_caller_who_goes_away_ends_the_command_and_not_the_sandbox() {
    block_on(async {
        let ground = standing().await;
        ground.create(named("one")).await.expect("a sandbox");
        let running = ground.exec(Target::Kept("one".to_owned()), shell("echo $$ > pid; exec sleep 60"));
        let pid = async {
            loop {
                let said = ground.sh("one", "cat pid 2>/dev/null").await.result.stdout;
                if let Some(pid) = said.text().filter(|text| text.ends_with('\n')) {
                    return pid.trim().to_owned();
                }
            }
        };
        let pid = tokio::select! {
            ran = running => panic!("{ran:?}"),
            pid = pid => pid,
        };
        // The one that was dropped is killed; the sandbox stands.
        let gone = format!("while kill -0 {pid} 2>/dev/null; do :; done");
        assert_eq!(ground.sh("one", &gone).await.result.exit_status(), 0);
        let last = ground.records().await;
        let cancelled = last.iter().filter(|record| record["outcome"]["code"] == "CANCELLED").count();
        assert_eq!(cancelled, 1, "its end is on the record");
    });
}

fn mounts_over_a_wire_are_held_to_the_list() {
    block_on(async {
        let listed = tempfile::tempdir().expect("a folder");
        let path = listed.path().canonicalize().expect("its path");
        let place = Place::new().serving().set(&format!("fs.mounts={}", path.display()));
        let ground = ground(place, Unwalled::default()).await;
        let mounts = |from: &std::path::Path| {
            let mount =
                Mount { from: from.to_owned(), to: SandboxPath::new("/m").expect("a path"), writable: true };
            SandboxWish { mounts: vec![mount], ..SandboxWish::default() }
        };
        ground.create(mounts(&path)).await.expect("it is listed");
        let refusal = ground.create(mounts("/usr".as_ref())).await.expect_err("it is not");
        assert_eq!(refusal.code, ErrorCode::FsDenied);
        let typed = Caller { origin: bailiwick_core::Origin::Typed, ..cli() };
        let create = Action::SandboxCreate(Box::new(mounts("/usr".as_ref())));
        assert!(ground.core.perform(typed, create).await.is_ok(), "the operator's own word");
    });
}

fn what_is_done_to_a_sandbox_is_told_to_whoever_may_know_of_it() {
    block_on(async {
        let ground = standing().await;
        let mut told = ground.core.watch();
        let [mine, theirs] = [1, 2].map(|number| KeyId::from_parts(1, &[number; 10]));
        let author = Scopes::of([Scope::Author]);
        let caller = || Caller { key: Some(mine), ..Caller::covering(cli().actor, author) };
        let ask = async |action| ground.core.perform(caller(), action).await.expect("it is done");
        ask(Action::SandboxCreate(Box::new(named("one")))).await;
        let (target, command) = (Target::Kept("one".to_owned()), shell("exit 7"));
        ask(Action::SandboxExec(Box::new(ExecWish { target, command, correlation: None }))).await;
        ask(Action::SandboxRemove { sandbox: "one".to_owned() }).await;
        let mut heard = Vec::new();
        while let Ok(happening) = told.try_recv() {
            let Happening::Sandbox(change) = &*happening else { continue };
            for (scopes, key, may) in [
                (author, Some(mine), true),
                (author, Some(theirs), false),
                (author, None, false),
                (Scopes::of([Scope::Operate]), None, true),
                (Scopes::of([Scope::Call, Scope::Approve]), Some(theirs), false),
            ] {
                assert_eq!(happening.is_for(scopes, key), may, "{scopes} {key:?}");
            }
            heard.push((change.action.clone(), change.sandbox.state.clone(), change.exit_status));
        }
        let wanted =
            [("sandbox.create", "idle", None), ("exec", "idle", Some(7)), ("sandbox.remove", "gone", None)];
        let wanted = wanted.map(|(action, state, exit)| (action.to_owned(), state.to_owned(), exit));
        assert_eq!(heard, wanted);
    });
}

fn backends_are_begun_by_a_process_that_stays() {
    block_on(async {
        let serving = standing().await;
        let begun = tokio::time::timeout(Duration::from_secs(10), serving.backend.begun.notified());
        begun.await.expect("somebody begins");
        serving.core.close().await.expect("closed");
        let brief = ground(Place::new(), Unwalled::default()).await;
        // All that goes on beside it has ended then.
        brief.core.close().await.expect("closed");
        let begun = tokio::time::timeout(Duration::ZERO, brief.backend.begun.notified());
        assert!(begun.await.is_err(), "one command is no beginning");
    });
}
