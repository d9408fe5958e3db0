//! Command tools from their document to their report: the same way as any tool, in sandboxes in place of cells; with a
//! backend that has no wall.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use bailiwick_core::{Action, Backends, Core, Reasons, Reply, TestVerdict, Tested};
use bailiwick_redact::Secret;
use bailiwick_sandbox::Backend;
use bailiwick_secrets::{Fallback, SecretName, Secrets};
use bailiwick_testkit::tests;
use bailiwick_types::{ErrorCode, RiskLevel};
use serde_json::{Value, json};

use crate::stage::{House, Place, block_on, cli, hearing, private, refused, yaml};
use crate::unwalled::Unwalled;

tests!(
    a_command_is_passed_published_and_called_like_any_tool,
    a_script_is_called_with_its_variables_and_what_it_prints_is_no_result,
    how_a_command_ends_is_told_with_its_code,
    every_call_is_on_the_record_with_its_backend_and_receipt,
    what_does_not_fit_is_refused_before_anything_is_made,
    a_pass_runs_every_test_in_a_sandbox_of_its_own,
    secrets_are_variables_and_are_masked_in_all_that_leaves,
    a_caller_who_goes_away_ends_the_command,
    a_command_has_no_workspace,
    a_document_is_checked_without_a_cell,
);

pub(crate) struct Ground {
    pub(crate) place: Place,
    pub(crate) house: House,
    backend: Unwalled,
}

pub(crate) async fn ground_with(place: Place, backend: Unwalled) -> Ground {
    let mut opening = place.opening();
    opening.backends = Backends::new([Arc::new(backend.clone()) as Arc<dyn Backend>]);
    std::fs::create_dir_all(place.data()).expect("a data folder");
    private(&place.data());
    Ground { house: House { core: Core::open(opening).await.expect("a core") }, backend, place }
}

pub(crate) async fn ground() -> Ground {
    ground_with(Place::new(), Unwalled::default()).await
}

impl Ground {
    pub(crate) async fn try_out(&self, text: &str) -> Tested {
        let document = yaml("tried", text);
        match self.house.act(Action::ToolTry { document, live: false }).await {
            Ok(Reply::Tested(mut tested)) => tested.remove(0),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn offer(&self, name: &str, text: &str) {
        self.house.offer(&yaml(name, text)).await;
    }

    pub(crate) fn made(&self) -> u64 {
        self.backend.made.load(Ordering::SeqCst)
    }

    pub(crate) fn alive(&self) -> u64 {
        self.backend.alive.load(Ordering::SeqCst)
    }

    pub(crate) async fn reopened(self) -> Self {
        let Self { place, house, backend } = self;
        house.close().await;
        ground_with(place, backend).await
    }
}

/// Counts characters with a program.
pub(crate) const COUNT: &str = "
name: count
description: Counts the bytes of a text.
params:
  - {name: text, type: STRING, required: true, description: The text, testValue: abc}
output: {type: integer}
tests:
  - {name: three, input: {text: abc}, equals: 3}
  - {name: none, input: {text: ''}, equals: 0}
command:
  argv: [wc, -c]
  stdin: '{text}'
  output: json
";

/// A tool that runs a line of shell without arguments.
pub(crate) fn shell(name: &str, line: &str, rest: &str) -> String {
    let line = json!(line.replace('{', "{{").replace('}', "}}"));
    format!("name: {name}\ndescription: Does {name}.\ncommand: {{argv: [sh, -c, {line}]{rest}}}\n")
}

fn script(name: &str, code: &str) -> String {
    let code = json!(code);
    format!(
        "name: {name}\ndescription: Does {name}.\n\
         params: [{{name: text, type: STRING, description: A text}}, {{name: n, type: INTEGER, default: 2, description: A number}}]\n\
         statics: [{{name: unit, value: km}}]\ncommand: {{language: python, script: {code}}}\n"
    )
}

fn a_command_is_passed_published_and_called_like_any_tool() {
    block_on(async {
        let ground = ground().await;
        ground.house.import(&[yaml("count", COUNT)]).await.expect("imported");
        assert_eq!(ground.house.state("count").await, "DRAFT");
        let tested = ground.house.test("count").await;
        assert!(tested.passed, "{tested:#?}");
        assert_eq!(ground.house.state("count").await, "READY");
        ground.house.publish("count", Reasons::default()).await.expect("published");
        for (text, bytes) in [("héllo", 6), ("-x; $(rm -rf /)\n", 16)] {
            let report = ground.house.call("count", json!({"text": text})).await.expect("called");
            assert_eq!((report.is_ok(), report.value()), (true, &json!(bytes)), "{report:?}");
            assert_eq!(report.risk().level, RiskLevel::L1);
            assert!(!report.receipt().walls.is_empty());
        }
        // A second call finds it ready, by the same way.
        assert_eq!(ground.alive(), 0, "every sandbox is gone");
        assert!(ground.house.verify().await.ok);
    });
}

fn a_script_is_called_with_its_variables_and_what_it_prints_is_no_result() {
    block_on(async {
        let ground = ground().await;
        let code = "import os, sys\nprint('printed')\nos.system('echo from below')\nsys.stderr.write('err\\n')\n\
                    text = (text or 'none') * n\nreturn {'text': text, 'unit': unit}";
        ground.offer("say", &script("say", code)).await;
        let (caller, hears) = hearing();
        let report =
            ground.house.call_as(caller, "say", json!({"text": "é\u{1f600}"})).await.expect("called");
        assert_eq!(report.value(), &json!({"text": "é\u{1f600}é\u{1f600}", "unit": "km"}), "{report:?}");
        let mut lines: Vec<&str> = report.logs().iter().map(|line| line.text.as_str()).collect();
        lines.sort_unstable();
        assert_eq!(lines, ["err", "from below", "printed"]);
        assert_eq!(hears.0.lock().expect("not poisoned").len(), 3, "its caller hears them, too");
        let report = ground.house.call("say", json!({})).await.expect("called");
        assert_eq!(report.value()["text"], "nonenone");
    });
}

fn how_a_command_ends_is_told_with_its_code() {
    block_on(async {
        let ground = ground().await;
        for (document, code, message) in [
            (shell("t", "echo no >&2; exit 3", ""), ErrorCode::EvalError, "exit code 3: no"),
            (shell("t", "kill -KILL $$", ""), ErrorCode::EvalError, "SIGKILL"),
            (shell("t", "exec sleep 60", ", limits: {timeout: 100ms}"), ErrorCode::Timeout, "limit of 100ms"),
            (shell("t", "echo 1234567", ", limits: {output: 4}"), ErrorCode::OutputLimit, "limit of 4B"),
            (shell("t", "echo [", ", output: json"), ErrorCode::EvalError, "no JSON"),
            (
                "name: t\ndescription: d\ncommand: {argv: [no-such-program]}\n".to_owned(),
                ErrorCode::EvalError,
                "no such program",
            ),
            (script("t", "raise ValueError(unit)"), ErrorCode::EvalError, "ValueError: km"),
            (script("t", "x = ("), ErrorCode::SyntaxError, "SyntaxError"),
            (script("t", "return {1}"), ErrorCode::EvalError, "not JSON serializable"),
            (script("t", "import os\nos._exit(0)"), ErrorCode::EvalError, "without a result"),
            (
                script("t", "import os\nos.write(1, b'{\"value\": 1}')\nos._exit(0)"),
                ErrorCode::EvalError,
                "without",
            ),
        ] {
            let tested = ground.try_out(&document).await;
            let failure =
                tested.lines[0].failure.as_ref().unwrap_or_else(|| panic!("{document}: {tested:#?}"));
            assert_eq!(failure.code, code, "{document}: {failure:?}");
            assert!(failure.message.contains(message), "{failure:?}");
        }
        assert_eq!(ground.alive(), 0);
    });
}

fn every_call_is_on_the_record_with_its_backend_and_receipt() {
    block_on(async {
        let ground = ground().await;
        ground.offer("count", COUNT).await;
        ground.house.call("count", json!({"text": "abc"})).await.expect("called");
        let records = ground.house.tail(2).await;
        let [intent, outcome] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((&intent["kind"], &intent["action"]), (&"intent".into(), &"tool.call".into()));
        assert_eq!(intent["callId"], outcome["callId"]);
        assert_eq!(intent["arguments"], json!({"text": "abc"}));
        assert_eq!(
            (&intent["backend"]["id"], &intent["backend"]["tier"]),
            (&"process".into(), &"PROCESS".into())
        );
        assert_eq!(intent["backend"]["sandbox"]["network"], "none");
        assert_eq!((&outcome["outcome"]["ok"], &outcome["outcome"]["bytes"]), (&true.into(), &1.into()));
        let command = &outcome["outcome"]["command"];
        assert_eq!((&command["exitCode"], &command["timedOut"]), (&0.into(), &false.into()), "{outcome}");
        assert!(command["receipt"]["walls"].is_array() && command["sandboxId"].is_string(), "{outcome}");
        assert!(command.get("stdout").is_none(), "what it said is told by its hash");
        assert_eq!(intent["risk"]["reasons"][0]["signal"], "runs a command");
    });
}

fn what_does_not_fit_is_refused_before_anything_is_made() {
    block_on(async {
        let ground = ground().await;
        let tool = "name: show\ndescription: Shows.\nparams: [{name: file, type: STRING, required: true, description: A file, testValue: x}]\n\
                    tests: [{name: options, input: {file: -n}, throws: {code: INVALID_INPUT}}]\n\
                    command: {argv: [echo, '{file}']}\n";
        ground.offer("show", tool).await;
        let before = ground.made();
        for (arguments, message) in [
            (json!({"file": "-rf"}), "begins with `-`"),
            (json!({"file": "a\0b"}), "NUL"),
            (json!({"file": "x".repeat(200_000)}), "200000 bytes"),
            (json!({"file": 7}), "must be a text"),
            (json!({}), "missing"),
        ] {
            let (code, told) = refused(ground.house.call("show", arguments).await);
            assert_eq!(code, ErrorCode::InvalidInput, "{told}");
            assert!(told.contains(message), "{told}");
        }
        assert_eq!(ground.made(), before, "no sandbox was made for them");
        let last = ground.house.tail(1).await.remove(0);
        assert_eq!((&last["kind"], &last["outcome"]["code"]), (&"outcome".into(), &"INVALID_INPUT".into()));
    });
}

fn a_pass_runs_every_test_in_a_sandbox_of_its_own() {
    block_on(async {
        let ground = ground().await;
        let tested = ground.try_out(COUNT).await;
        let names: Vec<_> = tested.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!((names.as_slice(), ground.made()), (["test values", "three", "none"].as_slice(), 3));
        let tested = ground.try_out(&COUNT.replace("equals: 0", "equals: 1")).await;
        let wrong = tested.lines.iter().find(|line| line.name == "none").expect("a line");
        assert_eq!((tested.passed, wrong.verdict), (false, TestVerdict::Failed));
        let tested = ground.try_out(&COUNT.replace("type: integer", "type: string")).await;
        let failure = tested.lines[0].failure.as_ref().expect("a failure");
        assert_eq!(failure.code, ErrorCode::OutputSchema);
        let lacking = COUNT.replace(", testValue: abc", "");
        let refusal = ground.try_out(&lacking).await.refused.expect("a refusal");
        assert!(refusal.message.contains("testValue"), "{refusal:?}");
    });
}

pub(crate) const VALUE: &str = "a-value-to-hide-1234";

pub(crate) fn keep_secret(ground: &Ground) {
    let secrets = Secrets::open(&ground.place.data(), Fallback::none()).expect("secrets");
    let name = SecretName::parse("TOKEN").expect("a name");
    secrets.set(&name, &Secret::new(VALUE.to_owned()), SystemTime::UNIX_EPOCH).expect("set");
}

fn secrets_are_variables_and_are_masked_in_all_that_leaves() {
    block_on(async {
        let ground = ground().await;
        let missing = format!("{}statics: [{{name: TOKEN, value: '${{TOKEN}}'}}]\n", shell("t", "true", ""));
        let refusal = ground.try_out(&missing).await.refused.expect("a refusal");
        assert_eq!(refusal.code, ErrorCode::MissingSecret);
        keep_secret(&ground);
        let statics = "statics: [{name: TOKEN, value: '${TOKEN}'}, {name: SIZE, value: {a: 1}}]\n";
        let tool = format!(
            "{}{statics}",
            shell("t", "echo got $TOKEN $SIZE; echo err $TOKEN >&2; test ${#TOKEN} = 20 || exit 9", "")
        );
        ground.offer("t", &tool).await;
        let report = ground.house.call("t", json!({})).await.expect("called");
        assert_eq!(report.value(), "got *** {\"a\":1}\n", "{report:?}");
        assert_eq!(report.logs()[0].text, "err ***");
        let code = "import os\nassert len(TOKEN) == 20 and 'TOKEN' not in os.environ\nprint(TOKEN)\nraise ValueError(TOKEN)";
        let tool = format!(
            "name: s\ndescription: d\n{statics}command: {{language: python, script: {}}}\n\
             tests: [{{throws: {{message: 'ValueError: ***'}}}}]\n",
            json!(code)
        );
        let tested = ground.try_out(&tool).await;
        assert!(tested.lines[1].verdict == TestVerdict::Passed, "{tested:#?}");
        // The word of an argument that happens to be the secret is masked, too.
        let records = ground.house.tail(50).await;
        let all = serde_json::to_string(&records).expect("text");
        assert!(!all.contains(VALUE), "{all}");
    });
}

fn a_caller_who_goes_away_ends_the_command() {
    block_on(async {
        let ground = ground().await;
        let tool = "name: wait\ndescription: Waits.\nparams: [{name: n, type: INTEGER, required: true, description: Seconds, testValue: 0}]\n\
                    command: {argv: [sleep, '{n}']}\n";
        ground.offer("wait", tool).await;
        let made = ground.made();
        let core = ground.house.core.clone();
        let mut arguments = serde_json::Map::new();
        arguments.insert("n".to_owned(), 60.into());
        let action =
            Action::ToolCall { tool: "wait".to_owned(), arguments, correlation: None, workspace: None };
        let call = tokio::spawn(async move { core.perform(cli(), action).await });
        while ground.made() == made {
            tokio::task::yield_now().await;
        }
        call.abort();
        assert!(call.await.expect_err("it was ended").is_cancelled());
        assert_eq!(ground.alive(), 0);
        let ground = ground.reopened().await;
        let last = ground.house.tail(1).await.remove(0);
        assert_eq!(
            (&last["kind"], &last["outcome"]["code"]),
            (&"outcome".into(), &"CANCELLED".into()),
            "{last}"
        );
    });
}

fn a_command_has_no_workspace() {
    block_on(async {
        let ground = ground().await;
        ground.offer("count", COUNT).await;
        let arguments = json!({"text": "x"}).as_object().cloned().unwrap_or_default();
        let workspace = Some("report".to_owned());
        let action = Action::ToolCall { tool: "count".to_owned(), arguments, correlation: None, workspace };
        let (code, told) = refused(ground.house.act(action).await);
        assert!(code == ErrorCode::InvalidInput && told.contains("workspace"), "{told}");
    });
}

fn a_document_is_checked_without_a_cell() {
    block_on(async {
        let ground = ground().await;
        match ground.house.act(Action::ToolCheck { document: yaml("count", COUNT) }).await {
            Ok(Reply::Checked(checked)) => {
                assert!(checked.ok && checked.code.is_empty(), "{checked:?}");
                assert_eq!(checked.risk.level, RiskLevel::L1);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(ground.made(), 0);
        let view = {
            ground.offer("count", COUNT).await;
            ground.house.show("count").await
        };
        let policy: Value = view.policy.expect("a policy");
        assert_eq!(
            (&policy["command"]["network"], &policy["command"]["tier"]),
            (&"none".into(), &"PROCESS".into())
        );
    });
}
