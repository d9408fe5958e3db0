//! A whole core behind the routes, and people beside it: who watches, who holds a key, who writes code.

use axum::http::StatusCode;
use bailiwick_types::{Scope, Scopes};
use serde_json::{Value, json as object};

use crate::real::{ADD, ask, yaml};
use crate::schema::{holds, is_a};
use crate::stage::{Answer, Stage, bare, block_on, get, json, principal};
use crate::streams::next;

bailiwick_testkit::tests!(
    who_watches_hears_of_a_tool_and_its_records,
    a_key_is_made_listed_and_revoked,
    code_is_looked_at_and_run,
    the_badge_moves_with_the_overrides_of_a_draft,
    who_may_only_call_gets_nothing_else,
    who_may_only_call_reaches_every_published_tool_page_by_page,
);

const OK: StatusCode = StatusCode::OK;

/// A stage on which `add` is published, and each of its calls waits for a person.
async fn asking() -> Stage {
    let stage = Stage::real().await;
    let document = format!("{}approval: {{mode: REQUIRED}}\n", ADD.trim_start());
    let body = json("POST", "/v1/tools/publish", &object!({"document": document}));
    ask(&stage, "POST /v1/tools/publish", body, OK).await;
    stage
}

fn who_watches_hears_of_a_tool_and_its_records() {
    block_on(async {
        let stage = Stage::real().await;
        let mut watching = stage.send(get("/v1/events?types=tool,audit")).await;
        // The watch begins when the stream is first read, so the tool is taken in beside the reading.
        let made = async {
            loop {
                let document = ADD.replace("name: add\n", "name: plus\n");
                stage.ask(yaml("POST", "/v1/tools", ADD)).await;
                stage.ask(yaml("POST", "/v1/tools", &document)).await;
                stage.ask(bare("DELETE", "/v1/tools/add")).await;
                stage.ask(bare("DELETE", "/v1/tools/plus")).await;
            }
        };
        let heard = async {
            let (mut tool, mut audit) = (None, None);
            while tool.is_none() || audit.is_none() {
                let (name, data) = next(&mut watching).await.expect("an event");
                match name.as_str() {
                    "tool" => tool = Some(data),
                    "audit" => audit = Some(data),
                    _ => {}
                }
            }
            (tool.expect("a change"), audit.expect("a record"))
        };
        let (tool, audit): (Value, Value) = tokio::select! {
            heard = heard => heard,
            () = made => panic!("it never ends"),
        };
        is_a("ToolChange", &tool);
        is_a("Record", &audit);
    });
}

fn a_key_is_made_listed_and_revoked() {
    block_on(async {
        let stage = Stage::real().await;
        let wish = json("POST", "/v1/keys", &object!({"name": "bot", "scopes": ["call"], "expiresInS": 60}));
        let made = ask(&stage, "POST /v1/keys", wish, StatusCode::CREATED).await;
        assert!(made.json()["key"].as_str().is_some_and(|key| key.starts_with("bwk_")), "{}", made.text);
        let listed = ask(&stage, "GET /v1/keys", get("/v1/keys"), OK).await;
        assert!(listed.text.contains("\"bot\"") && !listed.text.contains("bwk_"), "{}", listed.text);
        let gone = || bare("DELETE", "/v1/keys/bot");
        ask(&stage, "DELETE /v1/keys/{key}", gone(), StatusCode::NO_CONTENT).await;
        let nobody = bare("DELETE", "/v1/keys/nobody");
        ask(&stage, "DELETE /v1/keys/{key}", nobody, StatusCode::NOT_FOUND).await;
        ask(&stage, "GET /v1/secrets", get("/v1/secrets"), OK).await;
    });
}

fn code_is_looked_at_and_run() {
    block_on(async {
        let stage = Stage::real().await;
        ask(&stage, "GET /v1/execution/limits", get("/v1/execution/limits"), OK).await;
        let look = json("POST", "/v1/validate", &object!({"code": "return eval('1')"}));
        let looked = ask(&stage, "POST /v1/validate", look, OK).await;
        assert_eq!(looked.json()["findings"][0]["name"], "eval", "{}", looked.text);
        let run = json("POST", "/v1/execute", &object!({"code": "return a * 2", "arguments": {"a": 21}}));
        let ran = ask(&stage, "POST /v1/execute", run, OK).await;
        assert_eq!(ran.json()["value"], 42, "{}", ran.text);
        let throws = json("POST", "/v1/execute", &object!({"code": "throw new Error('no')"}));
        let threw = ask(&stage, "POST /v1/execute", throws, OK).await;
        assert_eq!(threw.json()["error"]["code"], "EVAL_ERROR", "{}", threw.text);
        let wrong = json("POST", "/v1/execute", &object!({"code": "1", "entry": "sideways"}));
        ask(&stage, "POST /v1/execute", wrong, StatusCode::BAD_REQUEST).await;
    });
}

fn the_badge_moves_with_the_overrides_of_a_draft() {
    block_on(async {
        let stage = Stage::real().await;
        for (overrides, level) in [
            ("{}", "L0"),
            ("{network: allowlist, hosts: [api.example.com]}", "L3"),
            ("{fileWrite: true}", "L4"),
        ] {
            let draft = format!("{}overrides: {overrides}\n", ADD.trim_start());
            let operation = "POST /v1/tools/policy";
            let seen = ask(&stage, operation, yaml("POST", "/v1/tools/policy", &draft), OK).await;
            assert_eq!(seen.json()["risk"]["level"], level, "{}", seen.text);
        }
        stage.ask(yaml("POST", "/v1/tools", ADD)).await;
        let kept = get("/v1/tools/add/policy");
        ask(&stage, "GET /v1/tools/{tool}/policy", kept, OK).await;
    });
}

fn who_may_only_call_gets_nothing_else() {
    block_on(async {
        let stage = asking().await;
        let scopes = Scopes::of([Scope::Call]);
        for (operation, request) in [
            ("POST /v1/tools", yaml("POST", "/v1/tools", ADD)),
            ("POST /v1/tools/{tool}/publish", bare("POST", "/v1/tools/add/publish")),
            ("DELETE /v1/tools/{tool}", bare("DELETE", "/v1/tools/add")),
            ("POST /v1/tools/policy", yaml("POST", "/v1/tools/policy", ADD)),
            ("GET /v1/approvals", get("/v1/approvals")),
            ("GET /v1/audit", get("/v1/audit")),
            ("GET /v1/audit/export", get("/v1/audit/export")),
            ("POST /v1/keys", json("POST", "/v1/keys", &object!({"name": "a", "scopes": ["operate"]}))),
            ("GET /v1/secrets", get("/v1/secrets")),
            ("POST /v1/execute", {
                let body = object!({"code": "1", "overrides": {"network": "open"}});
                json("POST", "/v1/execute", &body)
            }),
        ] {
            let answer = Answer::of(stage.send_as(principal(scopes), request).await).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{operation}: {}", answer.text);
            holds(operation, &answer);
        }
        let listed = Answer::of(stage.send_as(principal(scopes), get("/v1/tools")).await).await;
        assert_eq!(listed.json()["tools"][0]["name"], "add", "{}", listed.text);
    });
}

fn who_may_only_call_reaches_every_published_tool_page_by_page() {
    block_on(async {
        let stage = Stage::real().await;
        // A draft before, behind and between the published ones, more than a page of them.
        let mut published = Vec::new();
        for number in 0..14 {
            let name = format!("t{number:02}");
            let document = ADD.trim_start().replace("name: add\n", &format!("name: {name}\n"));
            if [4, 5, 9].contains(&number) {
                let body = json("POST", "/v1/tools/publish", &object!({"document": document}));
                ask(&stage, "POST /v1/tools/publish", body, OK).await;
                published.push(name);
            } else {
                ask(&stage, "POST /v1/tools", yaml("POST", "/v1/tools", &document), StatusCode::CREATED)
                    .await;
            }
        }
        for limit in [1, 2, 3, 100] {
            let (mut seen, mut after) = (Vec::new(), String::new());
            loop {
                let request = get(&format!("/v1/tools?limit={limit}{after}"));
                let who = principal(Scopes::of([Scope::Call]));
                let page = Answer::of(stage.send_as(who, request).await).await.json();
                let tools = page["tools"].as_array().expect("tools");
                seen.extend(tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)));
                let Some(next) = page["next"].as_str() else { break };
                assert_eq!(tools.len(), limit, "a page that goes on is full");
                after = format!("&after={next}");
            }
            assert_eq!(seen, published, "{limit} at a time");
        }
    });
}
