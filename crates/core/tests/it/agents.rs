//! Sandboxes as agents use them, and commands that nobody waits for: whose they are, who is asked, what is on the record;
//! with a backend that has no wall.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bailiwick_core::sandboxes::{
    AgentDoes, AgentWish, CommandWish, Cursor, ExecView, ExecWish, InputBytes, SandboxWish, Session, Target,
};
use bailiwick_core::{Action, Actor, Backends, Caller, Core, Refusal, Reply};
use bailiwick_sandbox::{Backend, SandboxPath};
use bailiwick_testkit::tests;
use bailiwick_types::{CorrelationId, ErrorCode, KeyId, RiskLevel, Scope, Scopes};
use serde_json::Value;

use crate::stage::{Place, Says, block_on, cli};
use crate::unwalled::Unwalled;

tests!(
    a_command_that_nobody_waits_for_is_looked_at_and_ended,
    what_such_a_command_says_is_kept_within_a_bound_and_what_is_dropped_is_told,
    only_so_many_run_while_nobody_waits,
    a_sandbox_in_which_one_runs_is_in_use,
    such_commands_end_with_the_core_and_the_record_says_so,
    what_is_off_is_refused_whoever_asks,
    an_agent_finds_its_own_sandboxes_and_nobody_elses,
    an_agent_keeps_no_more_than_the_operator_lets_it,
    a_person_is_asked_where_the_badge_says_so_and_everything_but_a_yes_is_a_no,
    what_is_above_the_ceiling_is_refused_before_anybody_is_asked,
    a_tool_that_always_asks_asks_whatever_its_level,
    all_that_an_agent_does_is_one_story,
);

pub(crate) const ALL: &str = "mcp.tools=run_command,sandbox_create,sandbox_exec,sandbox_poll,sandbox_kill,sandbox_read_file,\
                   sandbox_write_file,sandbox_list_files,sandbox_close,run_python,sandbox_upload,sandbox_download,sandbox_expose";

pub(crate) struct Ground {
    place: Place,
    pub(crate) core: Core,
    pub(crate) backend: Unwalled,
}

pub(crate) async fn ground(place: Place) -> Ground {
    let (mut opening, backend) = (place.opening(), Unwalled::default());
    opening.backends = Backends::new([Arc::new(backend.clone()) as Arc<dyn Backend>]);
    std::fs::create_dir_all(place.data()).expect("a data folder");
    Ground { core: Core::open(opening).await.expect("a core"), backend, place }
}

pub(crate) async fn standing() -> Ground {
    ground(Place::new().serving().set(ALL)).await
}

/// An agent with a key, by its number.
pub(crate) fn agent(number: u8) -> Caller {
    let actor = Actor { key: Some(format!("key{number}")), client: "mcp/test".to_owned() };
    Caller {
        key: Some(KeyId::from_parts(1, &[number; 10])),
        ..Caller::covering(actor, Scopes::of([Scope::Call]))
    }
}

/// One without.
pub(crate) fn keyless() -> Caller {
    Caller::covering(Actor { key: None, client: "mcp/test".to_owned() }, Scopes::of([Scope::Call]))
}

pub(crate) fn shell(text: &str) -> CommandWish {
    CommandWish { shell: Some(text.to_owned()), keep_output: true, ..CommandWish::default() }
}

pub(crate) fn create() -> AgentDoes {
    AgentDoes::Create { env: BTreeMap::new(), ports: Vec::new() }
}

pub(crate) fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).expect("a path")
}

impl Ground {
    pub(crate) async fn does(&self, caller: Caller, does: AgentDoes) -> Result<Reply, Refusal> {
        let wish = AgentWish { does, correlation: None, is_tied: false };
        self.core.perform(caller, Action::AgentUse(Box::new(wish))).await
    }

    pub(crate) async fn made(&self, caller: Caller) -> String {
        match self.does(caller, create()).await {
            Ok(Reply::Sandbox(view)) => view.line.id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn start(&self, sandbox: &str, text: &str) -> Result<String, Refusal> {
        let (target, command) = (Target::Kept(sandbox.to_owned()), shell(text));
        let wish = ExecWish { target, command, correlation: None };
        match self.core.perform(cli(), Action::ExecStart(Box::new(wish))).await? {
            Reply::ExecStarted(line) => Ok(line.id.to_string()),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn poll(&self, sandbox: &str, exec: &str, cursor: Cursor) -> ExecView {
        let (sandbox, exec) = (sandbox.to_owned(), exec.to_owned());
        let poll = Action::ExecPoll { sandbox, exec, cursor, wait_ms: 10_000 };
        match self.core.perform(cli(), poll).await {
            Ok(Reply::ExecView(view)) => *view,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn kill(&self, sandbox: &str, exec: &str) -> ExecView {
        let kill = Action::ExecKill { sandbox: sandbox.to_owned(), exec: exec.to_owned() };
        match self.core.perform(cli(), kill).await {
            Ok(Reply::ExecView(view)) => *view,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn kept(&self) -> String {
        let wish = SandboxWish { idle: Some("1m".to_owned()), ..SandboxWish::default() };
        match self.core.perform(cli(), Action::SandboxCreate(Box::new(wish))).await {
            Ok(Reply::Sandbox(view)) => view.line.id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn records(&self) -> Vec<Value> {
        match self.core.perform(cli(), Action::AuditTail { limit: 100 }).await {
            Ok(Reply::Records(records)) => records,
            other => panic!("{other:?}"),
        }
    }
}

fn text(bytes: &InputBytes) -> String {
    String::from_utf8(bytes.clone().into_bytes().to_vec()).expect("text")
}

fn a_command_that_nobody_waits_for_is_looked_at_and_ended() {
    block_on(async {
        let ground = standing().await;
        let sandbox = ground.kept().await;
        let exec = ground.start(&sandbox, "echo out; echo err >&2; exec sleep 60").await.expect("it begins");
        let (mut out, mut err, mut cursor) = (String::new(), String::new(), Cursor::default());
        while out.is_empty() || err.is_empty() {
            let view = ground.poll(&sandbox, &exec, cursor).await;
            assert!(view.line.is_running && view.result.is_none(), "{view:?}");
            out += &text(&view.stdout.bytes);
            err += &text(&view.stderr.bytes);
            cursor = view.cursor;
        }
        assert_eq!((out.as_str(), err.as_str()), ("out\n", "err\n"));
        let listed = ground.core.perform(cli(), Action::ExecList { sandbox: sandbox.clone() }).await;
        let Ok(Reply::Execs(listed)) = listed else { panic!("{listed:?}") };
        assert_eq!((listed.len(), listed[0].is_running), (1, true));
        let ended = ground.kill(&sandbox, &exec).await;
        assert!(!ended.line.is_running);
        assert_eq!(ended.result.map(|result| result.exit_status()), Some(137));
        let records = ground.records().await;
        let told: Vec<_> = records.iter().map(|r| (r["action"].as_str(), r["kind"].as_str())).collect();
        let (exec_, kill) = (Some("exec"), Some("exec.kill"));
        let (intent, outcome) = (Some("intent"), Some("outcome"));
        assert!(
            told.ends_with(&[(exec_, intent), (kill, intent), (exec_, outcome), (kill, outcome)]),
            "{told:?}"
        );
        let begun = records.iter().find(|r| r["action"] == "exec").expect("it is on the record");
        assert_eq!(
            (begun["callId"].as_str(), &begun["arguments"]["background"]),
            (Some(exec.as_str()), &true.into())
        );
        let unknown = Action::ExecKill { sandbox, exec: "018f2f00-0000-7000-8000-000000000001".to_owned() };
        assert_eq!(ground.core.perform(cli(), unknown).await.expect_err("none").code, ErrorCode::NotFound);
    });
}

fn what_such_a_command_says_is_kept_within_a_bound_and_what_is_dropped_is_told() {
    block_on(async {
        let ground = standing().await;
        let sandbox = ground.kept().await;
        let all = 3_000_000;
        let exec = ground
            .start(&sandbox, &format!("head -c {all} /dev/zero | tr '\\0' x"))
            .await
            .expect("it begins");
        // Nobody reads until it has ended.
        loop {
            let view = ground.poll(&sandbox, &exec, Cursor { stdout: u64::MAX, stderr: 0 }).await;
            if !view.line.is_running {
                break;
            }
        }
        let (mut cursor, mut read, mut dropped) = (Cursor::default(), 0, 0);
        loop {
            let view = ground.poll(&sandbox, &exec, cursor).await;
            let piece = view.stdout.bytes.into_bytes().len() as u64;
            assert!(piece <= 64 * 1024, "one look gives {piece}");
            read += piece;
            dropped += view.stdout.dropped;
            cursor = view.cursor;
            if !view.stdout.is_more {
                break;
            }
        }
        assert_eq!((read, read + dropped), (256 * 1024, all));
    });
}

fn only_so_many_run_while_nobody_waits() {
    block_on(async {
        let ground = standing().await;
        let sandbox = ground.kept().await;
        let mut execs = Vec::new();
        for _ in 0..8 {
            execs.push(ground.start(&sandbox, "exec sleep 60").await.expect("it begins"));
        }
        let refused = ground.start(&sandbox, "exec sleep 60").await.expect_err("one too many");
        assert_eq!(refused.code, ErrorCode::Busy);
        ground.kill(&sandbox, &execs[0]).await;
        execs.push(ground.start(&sandbox, "exec sleep 60").await.expect("there is room again"));
        for exec in &execs {
            ground.kill(&sandbox, exec).await;
        }
        // Those that ended are kept, but not all of them.
        for _ in 0..20 {
            let exec = ground.start(&sandbox, "true").await.expect("it begins");
            while ground.poll(&sandbox, &exec, Cursor::default()).await.line.is_running {}
        }
        let listed = ground.core.perform(cli(), Action::ExecList { sandbox }).await;
        let Ok(Reply::Execs(listed)) = listed else { panic!("{listed:?}") };
        assert_eq!(listed.len(), 16 + 1 - 1, "the last that ended");
    });
}

fn a_sandbox_in_which_one_runs_is_in_use() {
    block_on(async {
        let ground = standing().await;
        let sandbox = ground.kept().await;
        let exec = ground.start(&sandbox, "exec sleep 60").await.expect("it begins");
        ground.core.put_clock_ahead(Duration::from_secs(90));
        // Whatever is swept is swept before this is answered or soon after; another sandbox tells when.
        let other = ground.kept().await;
        ground.core.put_clock_ahead(Duration::from_secs(61));
        let until = tokio::time::Instant::now() + Duration::from_secs(20);
        while ground.backend.alive.load(Ordering::SeqCst) > 1 {
            assert!(tokio::time::Instant::now() < until, "the other did not end in time");
            tokio::task::yield_now().await;
        }
        let gone = ground.core.perform(cli(), Action::SandboxShow { sandbox: other }).await;
        assert_eq!(gone.expect_err("it is gone").code, ErrorCode::NotFound);
        assert!(ground.poll(&sandbox, &exec, Cursor { stdout: 0, stderr: 0 }).await.line.is_running);
        ground.kill(&sandbox, &exec).await;
    });
}

fn such_commands_end_with_the_core_and_the_record_says_so() {
    block_on(async {
        let ground = standing().await;
        let sandbox = ground.kept().await;
        ground.start(&sandbox, "exec sleep 60").await.expect("it begins");
        ground.core.close().await.expect("closed");
        assert_eq!(ground.backend.alive.load(Ordering::SeqCst), 0);
        let Ground { place, .. } = ground;
        let again = place.open().await;
        let records = again.core.perform(cli(), Action::AuditTail { limit: 100 }).await;
        let Ok(Reply::Records(records)) = records else { panic!("{records:?}") };
        let outcome = records.iter().find(|r| r["action"] == "exec" && r["kind"] == "outcome");
        assert_eq!(outcome.map(|r| &r["outcome"]["code"]), Some(&"CANCELLED".into()), "{records:#?}");
    });
}

fn what_is_off_is_refused_whoever_asks() {
    block_on(async {
        let ground = ground(Place::new().serving().set("mcp.tools=run_command")).await;
        for caller in [agent(1), keyless(), cli()] {
            let refused = ground.does(caller.clone(), create()).await.expect_err("it is off");
            assert_eq!(refused.code, ErrorCode::Forbidden);
            let run = AgentDoes::RunCommand { session: Session::None, command: shell("echo on") };
            let Ok(Reply::Executed(ran)) = ground.does(caller, run).await else { panic!("it is on") };
            assert_eq!(ran.result.stdout.text(), Some("on\n"));
        }
        assert_eq!(ground.backend.alive.load(Ordering::SeqCst), 0, "nothing is kept");
    });
}

fn an_agent_finds_its_own_sandboxes_and_nobody_elses() {
    block_on(async {
        let ground = standing().await;
        let (theirs, operators) = (ground.made(agent(1)).await, ground.kept().await);
        let of_nobody = ground.made(keyless()).await;
        let does = |sandbox: &str| {
            let sandbox = sandbox.to_owned();
            [
                AgentDoes::Exec { sandbox: sandbox.clone(), command: shell("true"), background: false },
                AgentDoes::Exec { sandbox: sandbox.clone(), command: shell("true"), background: true },
                AgentDoes::RunCommand { session: Session::Kept(sandbox.clone()), command: shell("true") },
                AgentDoes::ReadFile { sandbox: sandbox.clone(), path: path("/work/a") },
                AgentDoes::ListFiles { sandbox: sandbox.clone(), path: path("/work") },
                AgentDoes::WriteFile {
                    sandbox: sandbox.clone(),
                    path: path("/work/a"),
                    bytes: InputBytes::new("a"),
                    executable: false,
                },
                AgentDoes::Kill { sandbox: sandbox.clone(), exec: theirs.clone() },
                AgentDoes::Poll {
                    sandbox: sandbox.clone(),
                    exec: theirs.clone(),
                    cursor: Cursor::default(),
                    wait_ms: 0,
                },
                AgentDoes::RunPython {
                    session: Session::Kept(sandbox.clone()),
                    code: String::new(),
                    timeout: None,
                },
                AgentDoes::Upload {
                    sandbox: sandbox.clone(),
                    path: path("/work/a"),
                    bytes: InputBytes::new("a"),
                    executable: false,
                },
                AgentDoes::Download { sandbox: sandbox.clone(), path: path("/work/a") },
                AgentDoes::Expose { sandbox: sandbox.clone(), port: 80 },
                AgentDoes::Close { sandbox },
            ]
        };
        for (caller, sandbox) in [
            (agent(2), theirs.as_str()),
            (keyless(), theirs.as_str()),
            (agent(1), of_nobody.as_str()),
            // What somebody made by another door may do more than the operator offers to agents.
            (agent(1), operators.as_str()),
            (cli(), operators.as_str()),
            // Nobody guesses at ids.
            (agent(1), theirs.get(..30).expect("most of it")),
            (agent(1), ""),
        ] {
            for does in does(sandbox) {
                let refused = ground.does(caller.clone(), does.clone()).await.expect_err("not theirs");
                assert_eq!(refused.code, ErrorCode::NotFound, "{does:?}");
            }
        }
        let close = AgentDoes::Close { sandbox: theirs };
        assert_eq!(ground.does(agent(1), close).await, Ok(Reply::Done));
    });
}

fn an_agent_keeps_no_more_than_the_operator_lets_it() {
    block_on(async {
        let ground = ground(Place::new().serving().set(ALL).set("mcp.sandbox.most=2")).await;
        let one = ground.made(agent(1)).await;
        ground.made(agent(1)).await;
        let refused = ground.does(agent(1), create()).await.expect_err("one too many");
        assert_eq!(refused.code, ErrorCode::Busy);
        ground.made(agent(2)).await;
        ground.does(agent(1), AgentDoes::Close { sandbox: one }).await.expect("closed");
        ground.made(agent(1)).await;
    });
}

/// A place whose agents can change a folder of the host.
pub(crate) fn wide(place: Place) -> (Place, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let mount = format!("mcp.sandbox.mounts={}:/data:rw", folder.path().display());
    (place.set(ALL).set(&mount), folder)
}

fn a_person_is_asked_where_the_badge_says_so_and_everything_but_a_yes_is_a_no() {
    block_on(async {
        let (place, _folder) = wide(Place::new());
        let ground = ground(place.serving()).await;
        for says in [Says::no(), Arc::new(bailiwick_core::NoApprover) as Arc<_>]
            as [Arc<dyn bailiwick_core::Approver>; 2]
        {
            let caller = Caller { approver: says, ..keyless() };
            for does in [create(), AgentDoes::RunCommand { session: Session::None, command: shell("true") }] {
                let refused = ground.does(caller.clone(), does).await.expect_err("nobody said yes");
                let codes = [ErrorCode::ApprovalDeclined, ErrorCode::ApprovalUnavailable];
                assert!(codes.contains(&refused.code), "{refused:?}");
            }
        }
        assert_eq!(ground.backend.made.load(Ordering::SeqCst), 0, "nothing was made");
        let says = Says::yes();
        let caller = Caller { approver: says.clone(), ..keyless() };
        let sandbox = ground.made(caller.clone()).await;
        let exec =
            AgentDoes::Exec { sandbox: sandbox.clone(), command: shell("echo yes"), background: false };
        let ran = ground.does(caller.clone(), exec).await;
        assert!(
            matches!(&ran, Ok(Reply::Executed(ran)) if ran.result.stdout.text() == Some("yes\n")),
            "{ran:?}"
        );
        // What touches nothing but the sandbox asks nobody.
        ground.does(caller, AgentDoes::Close { sandbox }).await.expect("closed");
        let asked = says.asked.lock().expect("not poisoned").clone();
        let shown: Vec<_> = asked.iter().map(|q| (q.tool.as_str(), q.risk.level)).collect();
        assert_eq!(shown, [("sandbox_create", RiskLevel::L4), ("sandbox_exec", RiskLevel::L4)]);
        assert!(asked[1].arguments.to_string().contains("echo yes"), "{}", asked[1].arguments);
        let records = ground.records().await;
        let ran = records.iter().rfind(|r| r["action"] == "exec" && r["kind"] == "outcome").expect("it ran");
        assert_eq!(
            (&ran["risk"]["level"], &ran["approval"]["answer"]),
            (&"L4".into(), &"yes".into()),
            "{ran:#}"
        );
        let declined = records.iter().filter(|r| r["outcome"]["code"] == "APPROVAL_DECLINED").count();
        assert_eq!(declined, 2, "{records:#?}");
    });
}

fn what_is_above_the_ceiling_is_refused_before_anybody_is_asked() {
    block_on(async {
        let (place, _folder) = wide(Place::new());
        let ground = ground(place.serving().set("ceilings.risk=L3")).await;
        let says = Says::yes();
        let caller = Caller { approver: says.clone(), ..keyless() };
        let refused = ground.does(caller, create()).await.expect_err("above the ceiling");
        assert_eq!(refused.code, ErrorCode::Forbidden);
        assert!(says.asked.lock().expect("not poisoned").is_empty());
        assert_eq!(ground.backend.made.load(Ordering::SeqCst), 0);
    });
}

fn a_tool_that_always_asks_asks_whatever_its_level() {
    block_on(async {
        let ground = ground(Place::new().serving().set(ALL).set("mcp.ask=sandbox_close,run_command")).await;
        let says = Says::no();
        let caller = Caller { approver: says.clone(), ..keyless() };
        let sandbox = ground.made(caller.clone()).await;
        let run = AgentDoes::RunCommand { session: Session::None, command: shell("true") };
        for does in [AgentDoes::Close { sandbox }, run] {
            let refused = ground.does(caller.clone(), does).await.expect_err("nobody said yes");
            assert_eq!(refused.code, ErrorCode::ApprovalDeclined);
        }
        assert_eq!(ground.backend.alive.load(Ordering::SeqCst), 1, "it was not closed");
    });
}

fn all_that_an_agent_does_is_one_story() {
    block_on(async {
        let ground = standing().await;
        let cause = CorrelationId::parse("a-session").expect("an id");
        let wish = AgentWish { does: create(), correlation: Some(cause), is_tied: true };
        let made = ground.core.perform(agent(1), Action::AgentUse(Box::new(wish))).await;
        let Ok(Reply::Sandbox(view)) = made else { panic!("{made:?}") };
        let sandbox = view.line.id.to_string();
        let exec = |text: &str| AgentDoes::Exec {
            sandbox: sandbox.clone(),
            command: shell(text),
            background: false,
        };
        let write = AgentDoes::WriteFile {
            sandbox: sandbox.clone(),
            path: path("/work/a"),
            bytes: InputBytes::new("written"),
            executable: false,
        };
        ground.does(agent(1), write).await.expect("written");
        ground.does(agent(1), exec("cat a")).await.expect("it ran");
        let read = AgentDoes::ReadFile { sandbox: sandbox.clone(), path: path("/work/a") };
        assert_eq!(ground.does(agent(1), read).await, Ok(Reply::FileBytes(InputBytes::new("written"))));
        ground.does(agent(1), AgentDoes::Close { sandbox: sandbox.clone() }).await.expect("closed");
        let shown = ground.core.perform(cli(), Action::AuditShow { about: "a-session".to_owned() }).await;
        let Ok(Reply::Records(records)) = shown else { panic!("{shown:?}") };
        let told: Vec<String> = records
            .iter()
            .filter(|record| record["kind"] == "outcome")
            .map(|record| {
                let of =
                    |pointer: &str| record.pointer(pointer).and_then(Value::as_str).unwrap_or("?").to_owned();
                format!("{} {} {}", of("/actor/key"), of("/tool/name"), of("/action"))
            })
            .collect();
        assert_eq!(
            told,
            [
                "key1 sandbox_create sandbox.create",
                "key1 sandbox_write_file sandbox.write",
                "key1 sandbox_exec exec",
                "key1 sandbox_read_file sandbox.read",
                "key1 sandbox_close sandbox.remove",
            ]
        );
        assert_eq!(records.len(), 10, "each with its intent");
    });
}
