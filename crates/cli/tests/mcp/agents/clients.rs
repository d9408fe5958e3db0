//! The same session by the official clients, which hold results against the schemas that we promise.

use bailiwick_testkit::requires;
use serde_json::{Value, json};

use super::{has_sandboxes, machine, story};
use crate::driver::{Client, Era, Forms, Whose};
use crate::stage::{Way, serve};
use crate::{has_node, has_python};

macro_rules! sessions {
    ($($name:ident: $whose:ident, $era:ident, $way:ident;)+) => {$(
        #[test]
        fn $name() {
            check(Whose::$whose, Era::$era, Way::$way);
        }
    )+};
}

sessions! {
    typescript_1_works_in_a_sandbox_over_http: TypeScript1, Sessions, Http;
    typescript_2_works_in_a_sandbox_over_http_without_a_session: TypeScript2, Stateless, Http;
    python_works_in_a_sandbox_over_http_without_a_session: Python, Stateless, Http;
    python_works_in_a_sandbox_over_a_pipe: Python, Sessions, Pipe;
}

#[track_caller]
fn check(whose: Whose, era: Era, way: Way) {
    match whose {
        Whose::TypeScript1 | Whose::TypeScript2 => requires!("mcp-node", has_node()),
        Whose::Python => requires!("mcp-python", has_python()),
    }
    requires!("sandboxes", has_sandboxes());
    let program = machine("[approvals]\nelicitation = \"L4\"\n");
    let (server, at) = match way {
        Way::Http => {
            let (server, address) = serve(&program);
            let key = |name: &str| {
                program.run(&["key", "create", name, "--scope", "call", "--dialogue", "--quiet"]).stdout
            };
            let headers = json!({"Authorization": format!("Bearer {}", key("agent").trim())});
            (Some(server), json!({"url": format!("{address}/mcp"), "headers": headers}))
        }
        Way::Pipe => {
            let started = json!({
                "command": env!("CARGO_BIN_EXE_bailiwick"),
                "args": ["--set", "server.preset=none", "mcp"],
                "env": {"HOME": program.home()},
                "cwd": program.working_folder(),
            });
            (None, json!({"server": started}))
        }
    };
    let (mut client, _) = Client::connect(whose, era, Forms::Shown, &at);
    let listed = client.does("list", "listed");
    let described = listed.as_array().into_iter().flatten().find(|tool| tool["name"] == "run_command");
    let described = described.and_then(|tool| tool["description"].as_str()).unwrap_or_default();
    assert!(described.contains("there is no network"), "{listed:#}");
    let mut call = |name: &str, arguments: Value| client.call(name, &arguments).expect("a result");
    let cause = story::told(&mut call);
    let ran = call("run_python", json!({"code": "a = 1", "session": "new"}));
    let session = ran["structuredContent"]["session"].clone();
    let ran = call("run_python", json!({"code": "a + 1", "session": session}));
    assert_eq!(ran["structuredContent"]["value"], "2", "{ran:#}");
    client.end();
    if way == Way::Http {
        // Another key finds nothing of it.
        let key = program.run(&["key", "create", "other", "--scope", "call", "--dialogue", "--quiet"]).stdout;
        let headers = json!({"Authorization": format!("Bearer {}", key.trim())});
        let at = json!({"url": at["url"], "headers": headers});
        let (mut other, _) = Client::connect(whose, era, Forms::Shown, &at);
        let refused = other.call("run_python", &json!({"code": "a", "session": session})).expect("a result");
        assert!(super::text(&refused).starts_with("NOT_FOUND"), "{refused:#}");
        other.end();
    }
    if let Some(server) = server {
        server.terminate();
        let (code, text) = server.end();
        assert_eq!(code, Some(0), "{text}");
    }
    story::is_on_the_record(&program, &cause);
}
