//! Code that is no tool: run, checked, within what its caller may ask for.

use bailiwick_core::{Action, Actor, Caller, Code, CodeRun, Refusal, Reply};
use bailiwick_types::{CallReport, ErrorCode, Scope, Scopes};
use serde_json::{Map, Value, json};

use crate::stage::{House, Place, Says, block_on, cli, refused, with, yaml};

fn js(text: &str) -> Code {
    Code { text: text.to_owned(), entry: "body".to_owned(), language: "js".to_owned() }
}

fn snippet(text: &str) -> CodeRun {
    CodeRun {
        code: js(text),
        name: "snippet".to_owned(),
        arguments: Map::new(),
        overrides: None,
        profile: None,
        limits: None,
        correlation: None,
        always_asks: false,
    }
}

fn covering(scopes: &[Scope]) -> Caller {
    Caller::covering(Actor { key: None, client: "test".to_owned() }, Scopes::of(scopes.iter().copied()))
}

async fn run(house: &House, caller: Caller, run: CodeRun) -> Result<CallReport, Refusal> {
    match house.core.perform(caller, Action::CodeRun(Box::new(run))).await? {
        Reply::Called(report) => Ok(*report),
        other => panic!("{other:?}"),
    }
}

fn told(tail: &[Value], kind: &str) -> Vec<Value> {
    tail.iter().filter(|record| record["action"] == "run" && record["kind"] == kind).cloned().collect()
}

fn a_run_leaves_its_intent_and_its_outcome_on_the_record() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let mut adding = snippet("console.log('adding'); return a + b");
        adding.arguments = json!({"a": 1, "b": 2}).as_object().cloned().expect("an object");
        let report = run(&house, covering(&[Scope::Call]), adding).await.expect("a report");
        assert_eq!((report.is_ok(), report.value()), (true, &json!(3)));
        assert_eq!(report.logs().len(), 1);
        let tail = house.tail(10).await;
        let (intents, outcomes) = (told(&tail, "intent"), told(&tail, "outcome"));
        assert_eq!((intents.len(), outcomes.len()), (1, 1));
        assert_eq!(intents[0]["tool"]["name"], "snippet");
        assert_eq!(intents[0]["arguments"], json!({"a": 1, "b": 2}));
        assert_eq!(outcomes[0]["outcome"]["ok"], true);
        assert_eq!(outcomes[0]["callId"], intents[0]["callId"]);
        assert!(outcomes[0]["usage"].is_object());
        house.close().await;
    });
}

fn whoever_only_calls_gets_the_bare_policy_and_no_higher_limit() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let code = "return typeof fetch";
        let wider = CodeRun { overrides: Some(json!({"network": "strict"})), ..snippet(code) };
        let longer = CodeRun { limits: Some(json!({"wall": "20s"})), ..snippet(code) };
        let shorter = CodeRun { limits: Some(json!({"wall": "1s"})), ..snippet(code) };
        // What is not a limit does not come in by that field.
        let smuggled = CodeRun { limits: Some(json!({"network": "strict"})), ..snippet(code) };
        let caller = || covering(&[Scope::Call, Scope::Approve, Scope::Operate]);
        assert_eq!(refused(run(&house, caller(), wider.clone()).await).0, ErrorCode::Forbidden);
        assert_eq!(refused(run(&house, caller(), longer.clone()).await).0, ErrorCode::Forbidden);
        assert_eq!(refused(run(&house, caller(), smuggled).await).0, ErrorCode::Validation);
        assert_eq!(told(&house.tail(20).await, "intent"), Vec::<Value>::new(), "nothing ran");
        let report = run(&house, caller(), shorter).await.expect("a report");
        assert_eq!(report.value(), "undefined");
        assert_eq!(run(&house, cli(), wider).await.expect("a report").value(), "function");
        assert!(run(&house, cli(), longer).await.expect("a report").is_ok());
        let beyond = CodeRun { limits: Some(json!({"wall": "20h"})), ..snippet(code) };
        assert_eq!(refused(run(&house, cli(), beyond).await).0, ErrorCode::Conflict);
        house.close().await;
    });
}

fn a_run_that_needs_a_yes_does_not_begin_without_one() {
    block_on(async {
        let place = Place::new().set("approvals.autoFrom=L2");
        let house = place.open().await;
        let wider = || CodeRun { overrides: Some(json!({"network": "strict"})), ..snippet("return 1") };
        let report = run(&house, cli(), wider()).await.expect("a report");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalUnavailable));
        let report = run(&house, with(Says::no()), wider()).await.expect("a report");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalDeclined));
        assert_eq!(told(&house.tail(20).await, "intent"), Vec::<Value>::new(), "nothing ran");
        let yes = Says::yes();
        let report = run(&house, with(yes.clone()), wider()).await.expect("a report");
        assert_eq!(report.value(), &json!(1));
        let question = yes.asked.lock().expect("not poisoned")[0].clone();
        assert_eq!(question.tool, "code `snippet`, which is no tool", "no name passes for that of a tool");
        assert!(question.hash.is_some() && question.code.is_some());
        assert_eq!(told(&house.tail(20).await, "decision").len(), 3);
        house.close().await;
    });
}

fn a_run_that_always_asks_runs_on_a_yes_alone_at_any_level() {
    block_on(async {
        // Nothing waits by its level here.
        let place = Place::new().set("approvals.autoFrom=L5");
        let house = place.open().await;
        let asks = |overrides: Option<Value>| CodeRun { overrides, always_asks: true, ..snippet("return 1") };
        let levels = [
            (None, "L0"),
            (Some(json!({"network": "strict"})), "L3"),
            (Some(json!({"network": "open"})), "L4"),
        ];
        for (overrides, level) in levels {
            let before = told(&house.tail(100).await, "intent").len();
            let report = run(&house, cli(), asks(overrides.clone())).await.expect("a report");
            assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalUnavailable));
            let no = Says::no();
            let report = run(&house, with(no.clone()), asks(overrides.clone())).await.expect("a report");
            assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalDeclined));
            assert_eq!(no.asked.lock().expect("not poisoned").len(), 1);
            assert_eq!(told(&house.tail(100).await, "intent").len(), before, "nothing ran");
            // Every time: a yes to code is remembered for nobody.
            for round in 1..=2 {
                let yes = Says::yes();
                let report = run(&house, with(yes.clone()), asks(overrides.clone())).await.expect("a report");
                assert_eq!(report.value(), &json!(1), "{report:?}");
                let asked = yes.asked.lock().expect("not poisoned").clone();
                assert_eq!(asked.len(), 1, "round {round}");
                assert_eq!(asked[0].risk.level.name(), level);
                assert_eq!(asked[0].code.as_deref(), Some("return 1"));
            }
            assert_eq!(told(&house.tail(100).await, "intent").len(), before + 2);
        }
        let quiet = Says::no();
        let report = run(&house, with(quiet.clone()), snippet("return 1")).await.expect("a report");
        assert!(report.is_ok() && quiet.asked.lock().expect("not poisoned").is_empty(), "{report:?}");
        house.close().await;
    });
}

fn whoever_goes_away_while_a_run_waits_ran_nothing() {
    block_on(async {
        let place = Place::new().set("approvals.deadline=20s");
        let house = place.open().await;
        let asked = Says::nothing();
        let waits = run(&house, with(asked.clone()), CodeRun { always_asks: true, ..snippet("return 1") });
        let is_asked = async {
            while asked.asked.lock().expect("not poisoned").is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            report = waits => panic!("{report:?}"),
            () = is_asked => {}
        }
        house.core.close().await.expect("closed");
        let house = place.open().await;
        let tail = house.tail(20).await;
        assert_eq!(told(&tail, "intent"), Vec::<Value>::new());
        assert_eq!(told(&tail, "outcome")[0]["outcome"]["code"], "CANCELLED");
        house.close().await;
    });
}

fn a_run_above_the_operators_ceiling_is_refused() {
    block_on(async {
        let place = Place::new().set("ceilings.risk=L1");
        let house = place.open().await;
        let wider = CodeRun { overrides: Some(json!({"network": "strict"})), ..snippet("return 1") };
        let code = refused(run(&house, cli(), wider).await).0;
        assert!(matches!(code, ErrorCode::Forbidden | ErrorCode::Conflict), "{code:?}");
        house.close().await;
    });
}

fn files_of_a_run_go_with_it() {
    let place = Place::new();
    block_on(async {
        let house = place.open().await;
        let code =
            "await safety.fs.writeText('note.txt', 'kept?'); return await safety.fs.readText('note.txt')";
        let overrides = Some(json!({"fileRead": true, "fileWrite": true}));
        let report =
            run(&house, with(Says::yes()), CodeRun { overrides, ..snippet(code) }).await.expect("a report");
        assert_eq!(report.value(), "kept?", "{report:?}");
        let left = std::fs::read_dir(place.data().join("workspaces")).into_iter().flatten().count();
        assert_eq!(left, 0);
        // What a killed process left is gone at the next start; what is a tool's is not.
        let id = "01890000-0000-7000-8000-000000000000";
        let folder = |name: &str| place.data().join("workspaces").join(name);
        for name in [format!("code-{id}"), id.to_owned(), "code-mine".to_owned()] {
            std::fs::create_dir_all(folder(&name)).expect("a folder");
        }
        house.close().await;
        let house = place.open().await;
        assert!(!folder(&format!("code-{id}")).exists());
        assert!(folder(id).exists() && folder("code-mine").exists());
        house.close().await;
    });
}

fn a_tool_does_not_share_the_workspace_of_a_run() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", crate::stage::ADD)).await;
        let action = Action::ToolCall {
            tool: "add".to_owned(),
            arguments: json!({"a": 1, "b": 2}).as_object().cloned().expect("an object"),
            correlation: None,
            workspace: Some("code-01890000-0000-7000-8000-000000000000".to_owned()),
        };
        assert_eq!(refused(house.act(action).await).0, ErrorCode::InvalidInput);
        house.close().await;
    });
}

fn words_that_are_none_are_refused_on_the_record() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        for (entry, language) in [("emit", "js"), ("", "js"), ("body", "python"), ("body", "")] {
            let code = Code { text: "1".to_owned(), entry: entry.to_owned(), language: language.to_owned() };
            let wrong = CodeRun { code: code.clone(), ..snippet("") };
            assert_eq!(refused(run(&house, cli(), wrong).await).0, ErrorCode::InvalidInput);
            assert_eq!(refused(house.act(Action::CodeCheck { code }).await).0, ErrorCode::InvalidInput);
        }
        assert_eq!(told(&house.tail(20).await, "outcome").len(), 4);
        house.close().await;
    });
}

fn code_is_looked_at_before_it_runs_and_without() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let report = run(&house, cli(), snippet("return eval('1')")).await.expect("a report");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::Validation), "{report:?}");
        let check = async |text: &str| match house.act(Action::CodeCheck { code: js(text) }).await {
            Ok(Reply::CodeChecked(checked)) => checked,
            other => panic!("{other:?}"),
        };
        let fine = check("return 1").await;
        assert!(fine.ok && fine.findings.is_empty() && fine.error.is_none());
        let blocked = check("return eval('1')").await;
        assert!(!blocked.ok && blocked.findings.iter().any(|finding| finding.name == "eval"));
        let broken = check("return (").await;
        assert!(!broken.ok, "{broken:?}");
        house.close().await;
    });
}

fn a_drafts_policy_is_told_without_keeping_it() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let view =
            async |text: &str| match house.act(Action::ToolPolicy { document: yaml("stars", text) }).await {
                Ok(Reply::Policy(view)) => *view,
                other => panic!("{other:?}"),
            };
        let narrow = view(crate::stage::STARS).await;
        let wide = view(&format!("overrides: {{network: strict}}{}", crate::stage::STARS)).await;
        assert_eq!((narrow.name.as_str(), narrow.approval), ("stars", false));
        assert!(wide.risk.level > narrow.risk.level);
        assert_ne!(wide.policy_hash, narrow.policy_hash);
        assert!(!wide.advice.is_empty() && wide.policy.is_object());
        assert_eq!(
            house.act(Action::ToolList { after: None, limit: 10 }).await,
            Ok(Reply::Tools(Vec::new()))
        );
        house.close().await;
    });
}

fn limits_and_the_names_of_secrets_are_told() {
    let place = Place::new();
    block_on(async {
        let house = place.open().await;
        match house.core.perform(covering(&[]), Action::Limits).await {
            Ok(Reply::Limits(limits)) => {
                assert_eq!(limits["limits"]["wallMs"], 5000);
                assert!(limits["globals"].as_array().is_some_and(|names| !names.is_empty()));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(house.act(Action::SecretList).await, Ok(Reply::Secrets(Vec::new())));
        let secrets = bailiwick_secrets::Secrets::open(&place.data(), bailiwick_secrets::Fallback::none());
        let name = bailiwick_secrets::SecretName::parse("GITHUB_TOKEN").expect("a name");
        let value = bailiwick_redact::Secret::new("a-value-of-some-length".to_owned());
        let now = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        secrets.expect("secrets").set(&name, &value, now).expect("set");
        match house.act(Action::SecretList).await {
            Ok(Reply::Secrets(lines)) => {
                assert_eq!((lines[0].name.as_str(), lines[0].from.as_str()), ("GITHUB_TOKEN", "store"));
                assert_eq!(lines[0].set_at.as_deref(), Some("2023-11-14T22:13:20Z"));
            }
            other => panic!("{other:?}"),
        }
        let caller = covering(&[Scope::Call, Scope::Approve]);
        assert_eq!(refused(house.core.perform(caller, Action::SecretList).await).0, ErrorCode::Forbidden);
        house.close().await;
    });
}

bailiwick_testkit::tests! {
    a_run_leaves_its_intent_and_its_outcome_on_the_record,
    whoever_only_calls_gets_the_bare_policy_and_no_higher_limit,
    a_run_that_needs_a_yes_does_not_begin_without_one,
    a_run_that_always_asks_runs_on_a_yes_alone_at_any_level,
    whoever_goes_away_while_a_run_waits_ran_nothing,
    a_run_above_the_operators_ceiling_is_refused,
    files_of_a_run_go_with_it,
    a_tool_does_not_share_the_workspace_of_a_run,
    words_that_are_none_are_refused_on_the_record,
    code_is_looked_at_before_it_runs_and_without,
    a_drafts_policy_is_told_without_keeping_it,
    limits_and_the_names_of_secrets_are_told,
}
