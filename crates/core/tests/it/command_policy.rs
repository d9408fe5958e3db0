//! What the operator and a person have to say about command tools: badge, mounts, ceilings, staleness, approval, walls.

use bailiwick_core::{Action, Offered, Reasons, Refusal, Reply, Tested, Which};
use bailiwick_sandbox::Demand;
use bailiwick_testkit::tests;
use bailiwick_types::{ErrorCode, RiskLevel};
use serde_json::json;

use crate::commands::{COUNT, Ground, VALUE, ground, ground_with, keep_secret, shell};
use crate::stage::{Place, Says, block_on, refused, with, yaml};
use crate::unwalled::Unwalled;

tests!(
    what_reaches_out_is_not_passed_behind_its_back,
    a_pass_covers_the_command,
    the_badge_follows_from_network_mounts_and_secrets,
    clients_are_told_what_the_sandbox_lets_it_do,
    a_mount_is_held_to_the_operators_list_whoever_calls,
    what_the_operator_does_not_allow_is_not_published,
    a_lower_floor_or_a_larger_preset_makes_a_command_stale,
    a_command_waits_for_a_person_where_its_level_asks_for_one,
    a_sealed_secret_is_never_used_without_an_authority,
    a_sealed_secret_is_lent_by_its_name_and_handed_to_nobody,
    an_image_of_a_command_is_in_its_sandbox,
    a_wall_that_is_not_there_is_never_claimed,
);

const ALL_NETWORKS: &str = "sandbox.network=none,allow,git,full,host";

async fn badge(ground: &Ground, text: &str) -> (RiskLevel, Vec<String>) {
    let document = yaml("t", text);
    match ground.house.act(Action::ToolPolicy { document }).await {
        Ok(Reply::Policy(view)) => {
            (view.risk.level, view.risk.reasons.iter().map(|reason| reason.signal.clone()).collect())
        }
        other => panic!("{other:?}"),
    }
}

async fn offered(ground: &Ground, name: &str) -> Offered {
    match ground.house.act(Action::ToolOffered { after: None, limit: 10 }).await {
        Ok(Reply::Offered(all)) => all.into_iter().find(|one| one.name == name).expect("it is offered"),
        other => panic!("{other:?}"),
    }
}

fn what_reaches_out_is_not_passed_behind_its_back() {
    block_on(async {
        let shared = tempfile::tempdir().expect("a folder");
        let path = shared.path().canonicalize().expect("a path").display().to_string();
        let place = Place::new().set(&format!("fs.mounts={path}"));
        let ground = ground_with(place, Unwalled::default()).await;
        for rest in [", network: git".to_owned(), format!(", mounts: ['{path}:/data:rw']")] {
            let tool = shell("reach", "echo hi", &rest);
            let refusal = ground.try_out(&tool).await.refused.expect("a refusal");
            assert!(refusal.message.contains("reach out") && refusal.hint.is_some(), "{refusal:?}");
            assert_eq!(ground.made(), 0);
        }
        let tool = shell("reach", "echo hi", &format!(", mounts: ['{path}:/data:rw']"));
        ground.house.import(&[yaml("reach", &tool)]).await.expect("imported");
        let test = Action::ToolTest { which: Which::Named(vec!["reach".to_owned()]), live: true };
        let Ok(Reply::Tested(tested)) = ground.house.act(test).await else { panic!() };
        assert!(tested[0].passed, "{tested:#?}");
        let records = ground.house.tail(10).await;
        assert!(
            records.iter().any(|one| one["kind"] == "intent" && one["outcome"]["live"] == true),
            "{records:?}"
        );
    });
}

fn a_pass_covers_the_command() {
    block_on(async {
        let ground = ground().await;
        ground.offer("count", COUNT).await;
        ground.house.import(&[yaml("count", &COUNT.replace("wc, -c", "wc, -m"))]).await.expect("imported");
        assert_eq!(ground.house.state("count").await, "DRAFT");
        let (code, _) = refused(ground.house.call("count", json!({"text": "x"})).await);
        assert_eq!(code, ErrorCode::Conflict);
        ground.offer("count", COUNT).await;
        let all = crate::tampering::columns(&ground.place);
        let (table, column) = all.into_iter().find(|(_, column)| column == "document").expect("a column");
        let change = format!("UPDATE {table} SET {column} = replace({column}, '\"-c\"', '\"-l\"')");
        assert_eq!(crate::stage::sql(&ground.place, &change), 1);
        let ground = ground.reopened().await;
        let (code, _) = refused(ground.house.call("count", json!({"text": "x"})).await);
        assert_eq!(code, ErrorCode::Revoked);
    });
}

fn the_badge_follows_from_network_mounts_and_secrets() {
    block_on(async {
        let ground = ground_with(Place::new().set(ALL_NETWORKS), Unwalled::default()).await;
        for (rest, level, signal) in [
            ("", RiskLevel::L1, "runs a command"),
            (", network: {allow: [example.org]}", RiskLevel::L3, "network allowlist"),
            (", network: git", RiskLevel::L3, "network allowlist"),
            (", network: full", RiskLevel::L4, "full network below a container"),
            (", network: full, minTier: CONTAINER", RiskLevel::L3, "network full"),
            (", network: host", RiskLevel::L5, "host network"),
            (", mounts: ['/srv/a:/a']", RiskLevel::L3, "read-only mount"),
            (", mounts: ['/srv/a:/a:rw']", RiskLevel::L4, "read-write mount"),
            (", network: git, mounts: ['/srv/a:/a']", RiskLevel::L4, "files can leave by the network"),
        ] {
            let (found, signals) = badge(&ground, &shell("t", "true", rest)).await;
            assert_eq!((found, signals[0].as_str()), (level, signal), "{rest}");
        }
        let secret = "statics: [{name: TOKEN, value: '${TOKEN}'}]\n";
        let tool = format!("{}{secret}", shell("t", "true", ", network: git"));
        let (level, signals) = badge(&ground, &tool).await;
        assert_eq!((level, signals[0].as_str()), (RiskLevel::L4, "a secret can leave by the network"));
        let tool = format!("{}{secret}", shell("t", "true", ""));
        assert_eq!(badge(&ground, &tool).await.0, RiskLevel::L1);
    });
}

fn clients_are_told_what_the_sandbox_lets_it_do() {
    block_on(async {
        let ground = ground().await;
        ground.offer("count", COUNT).await;
        let hints = offered(&ground, "count").await.hints;
        assert!(hints.read_only && hints.idempotent && !hints.destructive && !hints.open_world, "{hints:?}");
        ground.house.import(&[yaml("net", &shell("net", "true", ", network: git"))]).await.expect("imported");
        let test = Action::ToolTest { which: Which::Named(vec!["net".to_owned()]), live: true };
        ground.house.act(test).await.expect("tested");
        ground.house.publish("net", Reasons::default()).await.expect("published");
        let hints = offered(&ground, "net").await.hints;
        assert!(!hints.read_only && !hints.idempotent && hints.destructive && hints.open_world, "{hints:?}");
    });
}

fn a_mount_is_held_to_the_operators_list_whoever_calls() {
    block_on(async {
        let shared = tempfile::tempdir().expect("a folder");
        let path = shared.path().canonicalize().expect("a path").display().to_string();
        let tool = shell("look", "echo hi", &format!(", mounts: ['{path}:/data']"));
        // Typed at a terminal or not: a document is nobody's typed word.
        let closed = ground().await;
        let refusal = closed.try_out(&tool).await.refused.expect("a refusal");
        assert_eq!(refusal.code, ErrorCode::FsDenied, "{refusal:?}");
        assert!(refusal.message.contains("fs.mounts") && closed.made() == 0, "{refusal:?}");
        let place = Place::new().set(&format!("fs.mounts={path}"));
        let open = ground_with(place, Unwalled::default()).await;
        open.offer("look", &tool).await;
        assert_eq!(open.house.call("look", json!({})).await.expect("called").value(), "hi\n");
        // Our own folders are mounted for nobody.
        let own = open.place.data().canonicalize().expect("a path").display().to_string();
        let tool = shell("own", "true", &format!(", mounts: ['{own}:/data']"));
        let refusal = open.try_out(&tool).await.refused.expect("a refusal");
        assert_eq!(refusal.code, ErrorCode::FsDenied);
    });
}

fn what_the_operator_does_not_allow_is_not_published() {
    block_on(async {
        let ground = ground().await;
        for (rest, code) in
            [(", network: host", ErrorCode::Forbidden), (", limits: {timeout: 20d}", ErrorCode::InvalidInput)]
        {
            let refusal = ground.try_out(&shell("t", "true", rest)).await.refused.expect("a refusal");
            assert_eq!(refusal.code, code, "{refusal:?}");
        }
        // No wall here is that strong, and a weaker one is not taken.
        let refusal =
            ground.try_out(&shell("t", "true", ", minTier: MICRO_VM")).await.refused.expect("a refusal");
        assert_eq!(refusal.code, ErrorCode::Unenforceable, "{refusal:?}");
        let place = Place::new().set("ceilings.risk=L0");
        let strict = ground_with(place, Unwalled::default()).await;
        strict.house.import(&[yaml("count", COUNT)]).await.expect("imported");
        assert!(strict.house.test("count").await.passed);
        let (code, told) = refused(strict.house.publish("count", Reasons::default()).await);
        assert_eq!(code, ErrorCode::Forbidden, "{told}");
        assert_eq!(strict.made() + ground.made(), 3);
    });
}

fn a_lower_floor_or_a_larger_preset_makes_a_command_stale() {
    block_on(async {
        let place = Place::new().set("sandbox.preset=minimal");
        let mut ground = ground_with(place, Unwalled::default()).await;
        ground.offer("count", COUNT).await;
        ground.place.reset(&["sandbox.preset=standard"]);
        let mut ground = ground.reopened().await;
        let (code, told) = refused(ground.house.call("count", json!({"text": "x"})).await);
        assert_eq!(code, ErrorCode::Stale, "{told}");
        assert!(told.contains("memory is 256MiB and was 64MiB"), "{told}");
        assert_eq!(ground.house.state("count").await, "STALE");
        let list = Action::ToolList { after: None, limit: 10 };
        let Ok(Reply::Tools(lines)) = ground.house.act(list).await else { panic!() };
        assert_eq!(lines[0].state, "STALE", "a list tells it, too");
        assert!(ground.house.test("count").await.passed);
        ground.place.reset(&["sandbox.preset=minimal"]);
        let ground = ground.reopened().await;
        assert!(ground.house.call("count", json!({"text": "x"})).await.expect("narrower is fine").is_ok());
    });
}

fn a_command_waits_for_a_person_where_its_level_asks_for_one() {
    block_on(async {
        let ground = ground_with(Place::new().set("approvals.autoFrom=L1"), Unwalled::default()).await;
        ground.offer("count", COUNT).await;
        let before = ground.made();
        let no = Says::no();
        let report =
            ground.house.call_as(with(no.clone()), "count", json!({"text": "x"})).await.expect("called");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalDeclined));
        assert_eq!(ground.made(), before, "nothing was made before a yes");
        let asked = no.asked.lock().expect("not poisoned").remove(0);
        assert_eq!((asked.tool.as_str(), &asked.arguments), ("count", &json!({"text": "x"})));
        assert_eq!(asked.risk.reasons[0].signal, "runs a command");
        let report =
            ground.house.call_as(with(Says::yes()), "count", json!({"text": "x"})).await.expect("called");
        assert_eq!(report.value(), &json!(1));
    });
}

const SEAL: &str = "sealed: {hosts: [api.github.com], in: 'header:Authorization'}";

/// A tool that reaches one host, with a static that is sealed for it.
fn sealed_tool() -> String {
    let command = shell("t", "echo \"got [$TOKEN]\"", ", network: {allow: [api.github.com]}");
    format!("{command}statics: [{{name: TOKEN, value: '${{TOKEN}}', {SEAL}}}]\n")
}

async fn tested_live(ground: &Ground, text: &str) -> Result<Tested, Refusal> {
    ground.house.import(&[yaml("t", text)]).await.expect("imported");
    let action = Action::ToolTest { which: Which::Named(vec!["t".to_owned()]), live: true };
    match ground.house.act(action).await? {
        Reply::Tested(mut tested) => Ok(tested.remove(0)),
        other => panic!("{other:?}"),
    }
}

fn a_sealed_secret_is_never_used_without_an_authority() {
    block_on(async {
        let ground = ground().await;
        keep_secret(&ground);
        let refusal = tested_live(&ground, &sealed_tool()).await.expect_err("a refusal");
        assert_eq!((refusal.code, ground.made()), (ErrorCode::Unenforceable, 0), "{refusal:?}");
        assert!(refusal.message.contains("sealed"), "{refusal:?}");
        assert!(refusal.hint.is_some_and(|hint| hint.contains("sandbox.authority = true")));
        // Taken back by the operator after the pass, it does not run either.
        let mut ground = ground;
        ground.place.reset(&["sandbox.authority=true"]);
        let mut ground = ground.reopened().await;
        assert!(tested_live(&ground, &sealed_tool()).await.expect("tested").passed);
        ground.house.publish("t", Reasons::default()).await.expect("published");
        let made = ground.made();
        ground.place.reset(&[]);
        let ground = ground.reopened().await;
        let (code, told) = refused(ground.house.call("t", json!({})).await);
        assert_eq!((code, ground.made()), (ErrorCode::Unenforceable, made), "{told}");
    });
}

fn a_sealed_secret_is_lent_by_its_name_and_handed_to_nobody() {
    block_on(async {
        let ground = ground_with(Place::new().set("sandbox.authority=true"), Unwalled::default()).await;
        let tested = tested_live(&ground, &sealed_tool()).await.expect("tested");
        assert_eq!(tested.refused.map(|refusal| refusal.code), Some(ErrorCode::MissingSecret));
        assert_eq!(ground.house.state("t").await, "MISSING_REQUIREMENTS");
        keep_secret(&ground);
        let tested = tested_live(&ground, &sealed_tool()).await.expect("tested");
        assert!(tested.passed, "{tested:#?}");
        let signals: Vec<String> =
            tested.risk.iter().flat_map(|risk| &risk.reasons).map(|one| one.signal.clone()).collect();
        assert_eq!(signals, ["network allowlist"], "it cannot leave by the network");
        ground.house.publish("t", Reasons::default()).await.expect("published");
        let report = ground.house.call_as(with(Says::yes()), "t", json!({})).await.expect("called");
        // The backend of these tests has no way out, so there is not even a placeholder; and never the value.
        assert_eq!(report.value(), "got []\n", "{report:?}");
        let records = ground.house.tail(50).await;
        let intent = records.iter().rfind(|one| one["kind"] == "intent").expect("an intent");
        let lent = json!([{"variable": "TOKEN", "secret": "TOKEN", "sealed":
            {"hosts": ["api.github.com"], "in": "header:Authorization"}}]);
        assert_eq!(intent["backend"]["sandbox"]["secrets"], lent, "{intent}");
        assert_eq!(intent["backend"]["sandbox"]["env"], json!([]));
        assert!(!records.iter().any(|one| one.to_string().contains(VALUE)));
        // Another seal is another tool.
        let other = sealed_tool().replace("header:Authorization", "header:X-Token");
        ground.house.import(&[yaml("t", &other)]).await.expect("imported");
        assert_eq!(ground.house.state("t").await, "DRAFT");
    });
}

fn an_image_of_a_command_is_in_its_sandbox() {
    block_on(async {
        let ground = ground().await;
        ground.offer("t", &shell("t", "true", ", image: debian-12")).await;
        ground.house.call("t", json!({})).await.expect("called");
        let intent = ground.house.tail(2).await.remove(0);
        assert_eq!(intent["backend"]["sandbox"]["image"], json!({"named": "debian-12"}), "{intent}");
    });
}

fn a_wall_that_is_not_there_is_never_claimed() {
    block_on(async {
        let backend = Unwalled { lacks: vec![Demand::Memory], ..Unwalled::default() };
        let ground = ground_with(Place::new(), backend).await;
        ground.offer("count", COUNT).await;
        let report = ground.house.call("count", json!({"text": "x"})).await.expect("called");
        let wall = report.receipt().walls.iter().find(|wall| wall.demand == "memory").expect("memory");
        assert_eq!(serde_json::to_value(wall.status).expect("a word"), "absent");
        // Said in the document it is demanded, and what is demanded is held or nothing runs.
        let typed = COUNT.replace("output: json", "output: json\n  limits: {memory: 64MiB}");
        let refusal = ground.try_out(&typed).await.refused.expect("a refusal");
        assert_eq!(refusal.code, ErrorCode::Unenforceable, "{refusal:?}");
    });
}
