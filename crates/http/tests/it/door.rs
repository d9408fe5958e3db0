//! Whoever is turned away at the perimeter is told so by the same problem as further in, to the last field.

use axum::extract::Request;
use bailiwick_core::{Reply, ToolLine};

use crate::replies;
use crate::schema::is_a;
use crate::stage::{Answer, Stage, bare, block_on, get, with};

bailiwick_testkit::tests!(
    a_refusal_at_the_door_is_a_whole_problem,
    a_refusal_for_a_foreign_host_tells_of_hosts_and_not_of_credentials,
);

/// An answer at the door.
async fn at_the_door(request: Request) -> Answer {
    let lines: Vec<ToolLine> = vec![replies::line()];
    let stage = Stage::replying(Ok(Reply::Tools(lines))).await;
    let door = stage.door("127.0.0.1:4646".parse().expect("an address"), |_| {});
    Answer::of(door.send(request).await).await
}

async fn check(request: Request, status: u16, code: &str) -> Answer {
    let shown = format!("{request:?}");
    let answer = at_the_door(request).await;
    assert_eq!(answer.status.as_u16(), status, "{shown}: {}", answer.text);
    assert_eq!(answer.kind(), Some("application/problem+json"), "{shown}");
    let problem = answer.json();
    is_a("Problem", &problem);
    assert_eq!(problem["type"], format!("urn:bailiwick:problem:{code}"), "{shown}");
    assert_eq!((&problem["status"], &problem["code"]), (&status.into(), &code.into()), "{shown}");
    assert_eq!(problem["instance"], answer.header("x-correlation-id"), "{shown}");
    assert!(problem["faults"].is_array() && problem["hint"].is_string(), "{shown}: {problem:#}");
    answer
}

fn a_refusal_at_the_door_is_a_whole_problem() {
    block_on(async {
        let tools = || get("/v1/tools");
        check(with(tools(), "authorization", "Bearer bwk_x"), 401, "UNAUTHORIZED").await;
        check(with(tools(), "authorization", "Basic x"), 401, "UNAUTHORIZED").await;
        check(with(tools(), "origin", "https://evil.example"), 403, "FORBIDDEN").await;
        check(with(tools(), "host", "evil.example"), 421, "FORBIDDEN").await;
        check(with(tools(), "x-correlation-id", "not one"), 400, "INVALID_INPUT").await;
        check(get("/v1/tools?api_key=bwk_x"), 400, "INVALID_INPUT").await;
        // Whatever packs answers does so behind whoever writes problems.
        let packed = |request| with(request, "accept-encoding", "gzip");
        let unknown = packed(get("/v1/nothing"));
        let packed = at_the_door(with(unknown, "x-forwarded-for", "192.0.2.1")).await;
        assert_eq!((packed.status.as_u16(), packed.header("x-correlation-id").is_empty()), (401, false));
        check(get("/v1/nothing"), 404, "NOT_FOUND").await;
        check(bare("PATCH", "/v1/tools"), 405, "INVALID_INPUT").await;
        let mine = with(with(tools(), "host", "evil.example"), "x-correlation-id", "mine-1");
        assert_eq!(check(mine, 421, "FORBIDDEN").await.header("x-correlation-id"), "mine-1");
    });
}

fn a_refusal_for_a_foreign_host_tells_of_hosts_and_not_of_credentials() {
    block_on(async {
        let answer = check(with(get("/v1/tools"), "host", "0.0.0.0:4646"), 421, "FORBIDDEN").await;
        let problem = answer.json();
        let title = problem["title"].as_str().expect("a title");
        assert!(title.contains("host") && !title.contains("credential"), "{title}");
        let hint = problem["hint"].as_str().expect("a hint");
        assert!(hint.contains("server.hosts") && hint.contains("0.0.0.0"), "{hint}");
    });
}
