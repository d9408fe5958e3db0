//! What stands between agents, and between an agent and a person: whose a sandbox or a command is, what is asked and shown,
//! and that all of it is as the operator set it up. Each of these was seen to fail without the guard that it is about.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use bailiwick_core::sandboxes::{
    AgentDoes, CommandWish, Cursor, ExecWish, GivenInput, InputBytes, SandboxWish, Session, Target, Window,
};
use bailiwick_core::{Action, Actor, Caller, Reply};
use bailiwick_testkit::tests;
use bailiwick_types::{ErrorCode, KeyId};

use crate::agents::{ALL, agent, create, ground, keyless, path, shell, standing, wide};
use crate::stage::{Place, Says, block_on, cli};

tests!(
    agents_of_one_name_are_parted_by_their_keys_and_those_without_a_key_by_their_names,
    a_command_is_found_in_its_own_sandbox_only,
    only_so_many_run_in_all_sandboxes_while_nobody_waits,
    nobody_types_for_a_command_of_an_agent_or_one_that_nobody_waits_for,
    a_person_is_shown_all_that_decides_what_a_command_does,
    every_tool_that_reaches_the_host_asks_and_none_goes_on_without_a_yes,
    what_the_operator_requires_asks_whatever_its_level,
    a_yes_is_of_no_use_to_a_key_that_does_not_hold_any_more,
    what_is_made_for_an_agent_is_what_the_operator_offers,
);

fn agents_of_one_name_are_parted_by_their_keys_and_those_without_a_key_by_their_names() {
    block_on(async {
        let ground = standing().await;
        let of = |key: Option<u8>, name: &str| Caller {
            key: key.map(|number| KeyId::from_parts(1, &[number; 10])),
            actor: Actor { key: Some(name.to_owned()), client: "mcp/test".to_owned() },
            ..keyless()
        };
        let all = [of(Some(1), "anna"), of(Some(2), "anna"), of(None, "anna"), of(None, "bert"), keyless()];
        let mut made = Vec::new();
        for caller in &all {
            made.push(ground.made(caller.clone()).await);
        }
        for (number, caller) in all.iter().enumerate() {
            for (whose, sandbox) in made.iter().enumerate() {
                let (sandbox, command) = (sandbox.clone(), shell("true"));
                let exec = AgentDoes::Exec { sandbox, command, background: false };
                let found = ground.does(caller.clone(), exec).await.is_ok();
                assert_eq!(found, number == whose, "{number} in the sandbox of {whose}");
            }
        }
    });
}

fn a_command_is_found_in_its_own_sandbox_only() {
    block_on(async {
        let ground = standing().await;
        let (one, two) = (ground.made(agent(1)).await, ground.made(agent(1)).await);
        let others = ground.made(agent(2)).await;
        let (sandbox, command) = (one.clone(), shell("exec sleep 60"));
        let started = ground.does(agent(1), AgentDoes::Exec { sandbox, command, background: true }).await;
        let Ok(Reply::ExecStarted(line)) = started else { panic!("{started:?}") };
        let exec = line.id.to_string();
        let kill = |sandbox: &str| AgentDoes::Kill { sandbox: sandbox.to_owned(), exec: exec.clone() };
        let poll = |sandbox: &str| AgentDoes::Poll {
            sandbox: sandbox.to_owned(),
            exec: exec.clone(),
            cursor: Cursor::default(),
            wait_ms: 0,
        };
        for (caller, sandbox) in [(agent(1), &two), (agent(2), &others), (agent(2), &one)] {
            for does in [kill(sandbox), poll(sandbox)] {
                let refused = ground.does(caller.clone(), does).await.expect_err("not there");
                assert_eq!(refused.code, ErrorCode::NotFound);
            }
        }
        let looked = ground.does(agent(1), poll(&one)).await;
        assert!(matches!(&looked, Ok(Reply::ExecView(view)) if view.line.is_running), "{looked:?}");
        let ended = ground.does(agent(1), kill(&one)).await;
        assert!(matches!(&ended, Ok(Reply::ExecView(view)) if !view.line.is_running), "{ended:?}");
    });
}

fn only_so_many_run_in_all_sandboxes_while_nobody_waits() {
    block_on(async {
        let ground = standing().await;
        let mut running = Vec::new();
        for _ in 0..8 {
            let sandbox = ground.kept().await;
            for _ in 0..8 {
                let exec = ground.start(&sandbox, "exec sleep 60").await.expect("it begins");
                running.push((sandbox.clone(), exec));
            }
        }
        let another = ground.kept().await;
        let refused = ground.start(&another, "true").await.expect_err("one too many in all");
        assert_eq!(refused.code, ErrorCode::Busy);
        let (sandbox, exec) = running.pop().expect("one of them");
        ground.kill(&sandbox, &exec).await;
        let exec = ground.start(&another, "true").await.expect("there is room again");
        ground.poll(&another, &exec, Cursor::default()).await;
        ground.core.close().await.expect("closed");
    });
}

fn nobody_types_for_a_command_of_an_agent_or_one_that_nobody_waits_for() {
    block_on(async {
        let ground = standing().await;
        let (theirs, operators) = (ground.made(agent(1)).await, ground.kept().await);
        let typed = [
            CommandWish { input: GivenInput::Comes, ..shell("cat") },
            CommandWish { terminal: Some(Window { rows: 24, columns: 80 }), ..shell("true") },
        ];
        for command in typed {
            let session = |session| AgentDoes::RunCommand { session, command: command.clone() };
            let exec = |background| AgentDoes::Exec {
                sandbox: theirs.clone(),
                command: command.clone(),
                background,
            };
            let kept = Session::Kept(theirs.clone());
            for does in
                [exec(false), exec(true), session(kept), session(Session::New), session(Session::None)]
            {
                let refused = ground.does(agent(1), does).await.expect_err("nobody types");
                assert_eq!(refused.code, ErrorCode::InvalidInput);
            }
            let (target, correlation) = (Target::Kept(operators.clone()), None);
            let start = Action::ExecStart(Box::new(ExecWish { target, command, correlation }));
            let refused = ground.core.perform(cli(), start).await.expect_err("nobody types");
            assert_eq!(refused.code, ErrorCode::InvalidInput);
        }
        let target = Target::Fresh(Box::default());
        let wish = ExecWish { target, command: shell("true"), correlation: None };
        let refused = ground.core.perform(cli(), Action::ExecStart(Box::new(wish))).await;
        assert_eq!(refused.expect_err("it is not kept").code, ErrorCode::InvalidInput);
        assert_eq!(ground.backend.made.load(Ordering::SeqCst), 2, "nothing was made for any of it");
    });
}

fn a_person_is_shown_all_that_decides_what_a_command_does() {
    block_on(async {
        let (place, _folder) = wide(Place::new());
        let ground = ground(place.serving()).await;
        let says = Says::yes();
        let caller = Caller { approver: says.clone(), ..keyless() };
        // A value that is a word of the command hides nothing of it.
        let env: BTreeMap<String, String> = [("A", "rm -rf /data"), ("LD_PRELOAD", "/work/evil.so")]
            .map(|(n, v)| (n.into(), v.into()))
            .into();
        let made =
            ground.does(caller.clone(), AgentDoes::Create { env: env.clone(), ports: vec![8080] }).await;
        let Ok(Reply::Sandbox(view)) = made else { panic!("{made:?}") };
        let sandbox = view.line.id.to_string();
        let command = CommandWish {
            env,
            input: GivenInput::Bytes(InputBytes::new("from the input")),
            ..shell("true; : rm -rf /data")
        };
        let exec =
            |background| AgentDoes::Exec { sandbox: sandbox.clone(), command: command.clone(), background };
        let run = |session| AgentDoes::RunCommand { session, command: command.clone() };
        let kept = Session::Kept(sandbox.clone());
        for does in [exec(false), exec(true), run(kept), run(Session::New), run(Session::None)] {
            ground.does(caller.clone(), does).await.expect("a person said yes");
        }
        let asked = says.asked.lock().expect("not poisoned").clone();
        assert_eq!(asked.len(), 6);
        for (number, question) in asked.iter().enumerate() {
            let shown = question.arguments.to_string();
            let words: &[&str] =
                if number == 0 { &["8080"] } else { &["true; : rm -rf /data", "from the input"] };
            for word in ["rm -rf /data", "/work/evil.so"].iter().chain(words) {
                assert!(shown.contains(word), "{word} of {number}: {shown}");
            }
        }
        // The record tells of variables the names.
        let records = serde_json::Value::from(ground.records().await).to_string();
        assert!(records.contains("LD_PRELOAD") && !records.contains("/work/evil.so"), "{records}");
        assert!(!records.contains("from the input"), "{records}");
    });
}

fn every_tool_that_reaches_the_host_asks_and_none_goes_on_without_a_yes() {
    block_on(async {
        let (place, folder) = wide(Place::new());
        // What only reads the host's files is L3.
        let ground = ground(place.serving().set("approvals.autoFrom=L3")).await;
        let made = ground.made(Caller { approver: Says::yes(), ..keyless() }).await;
        let says = Says::no();
        let caller = Caller { approver: says.clone(), ..keyless() };
        let sandbox = || made.clone();
        let command = || shell("touch /data/done");
        let bytes = || InputBytes::new("a");
        let python = |session| AgentDoes::RunPython {
            session,
            code: "open('/data/done', 'w')".to_owned(),
            timeout: None,
        };
        let run = |session| AgentDoes::RunCommand { session, command: command() };
        let all = [
            create(),
            run(Session::None),
            run(Session::New),
            run(Session::Kept(sandbox())),
            python(Session::None),
            python(Session::New),
            python(Session::Kept(sandbox())),
            AgentDoes::Exec { sandbox: sandbox(), command: command(), background: false },
            AgentDoes::Exec { sandbox: sandbox(), command: command(), background: true },
            AgentDoes::WriteFile {
                sandbox: sandbox(),
                path: path("/data/a"),
                bytes: bytes(),
                executable: true,
            },
            AgentDoes::Upload { sandbox: sandbox(), path: path("/data/a"), bytes: bytes(), executable: true },
            AgentDoes::ReadFile { sandbox: sandbox(), path: path("/data/a") },
            AgentDoes::Download { sandbox: sandbox(), path: path("/data/a") },
            AgentDoes::ListFiles { sandbox: sandbox(), path: path("/data") },
            AgentDoes::Expose { sandbox: sandbox(), port: 80 },
        ];
        for (number, does) in all.iter().enumerate() {
            let refused = ground.does(caller.clone(), does.clone()).await.expect_err("a person said no");
            assert_eq!(refused.code, ErrorCode::ApprovalDeclined, "{does:?}: {refused:?}");
            assert_eq!(says.asked.lock().expect("not poisoned").len(), number + 1, "{does:?}");
        }
        assert_eq!(ground.backend.made.load(Ordering::SeqCst), 1, "nothing was made");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing was done");
    });
}

fn what_the_operator_requires_asks_whatever_its_level() {
    block_on(async {
        let place = Place::new().serving().set(ALL).set("approvals.required=sandbox_close");
        let ground = ground(place).await;
        let caller = Caller { approver: Says::no(), ..keyless() };
        let sandbox = ground.made(caller.clone()).await;
        let refused = ground.does(caller, AgentDoes::Close { sandbox }).await.expect_err("a person said no");
        assert_eq!(refused.code, ErrorCode::ApprovalDeclined);
        assert_eq!(ground.backend.alive.load(Ordering::SeqCst), 1, "it was not closed");
    });
}

fn a_yes_is_of_no_use_to_a_key_that_does_not_hold_any_more() {
    block_on(async {
        let (place, _folder) = wide(Place::new());
        let ground = ground(place.serving()).await;
        let says = Says::yes();
        // Whoever let this caller in knew the key; by now nobody does.
        let caller = Caller { approver: says.clone(), ..agent(1) };
        let refused = ground.does(caller, create()).await.expect_err("the key does not hold");
        assert_eq!(refused.code, ErrorCode::Unauthorized);
        assert_eq!(says.asked.lock().expect("not poisoned").len(), 1);
        assert_eq!(ground.backend.made.load(Ordering::SeqCst), 0, "nothing was made");
    });
}

fn what_is_made_for_an_agent_is_what_the_operator_offers() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let from = folder.path().display();
        let place = Place::new()
            .serving()
            .set(ALL)
            .set("sandbox.preset=standard")
            .set("mcp.sandbox.preset=minimal")
            .set("mcp.sandbox.network=allow:a.test")
            // Files and a network together are L4.
            .set("approvals.autoFrom=L5")
            .set(&format!("mcp.sandbox.mounts={from}:/data:ro"));
        let ground = ground(place).await;
        let does = AgentDoes::Create { env: BTreeMap::new(), ports: vec![8080] };
        let made = ground.does(keyless(), does).await;
        let Ok(Reply::Sandbox(view)) = made else { panic!("{made:?}") };
        assert_eq!(view.spec["network"], "allow:a.test");
        assert_eq!(view.spec["mounts"].as_array().map(Vec::len), Some(1), "{}", view.spec);
        assert!(
            view.spec["mounts"][0].as_str().is_some_and(|mount| !mount.ends_with(":rw")),
            "{}",
            view.spec
        );
        assert_eq!(view.spec["labels"]["made-by"], "sandbox_create");
        assert_eq!(view.spec["expose"], serde_json::json!([8080]));
        let wide = SandboxWish { preset: Some("standard".to_owned()), ..SandboxWish::default() };
        let standard = ground.core.perform(cli(), Action::SandboxCreate(Box::new(wide))).await;
        let Ok(Reply::Sandbox(standard)) = standard else { panic!("{standard:?}") };
        assert_ne!(
            view.spec["limits"]["memoryBytes"], standard.spec["limits"]["memoryBytes"],
            "{}",
            view.spec
        );
        // What is kept for a model is less than what the operator would let anybody have.
        assert_eq!(view.spec["limits"]["outputBytes"]["value"], 128 * 1024, "{}", view.spec["limits"]);
    });
}
