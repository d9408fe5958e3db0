//! Results that are content, on their way out of a cell.

use bailiwick_core::{Action, Code, CodeRun, Reply};
use bailiwick_redact::Secret;
use bailiwick_secrets::{Fallback, SecretName, Secrets};
use bailiwick_tool::{Content, Contents};
use bailiwick_types::{CallReport, ErrorCode};
use serde_json::{Map, json};

use crate::stage::{House, Place, block_on, cli, yaml};

bailiwick_testkit::tests!(
    content_comes_out_as_it_was_given,
    content_of_a_tool_with_an_output_brings_what_is_structured,
    what_only_says_that_it_is_content_fails_the_pass_and_the_call,
    a_secret_in_the_data_of_a_block_does_not_leave,
);

/// A tool with this code.
fn tool(more: &str, code: &str) -> String {
    format!("name: shows\ndescription: Shows something.\n{more}\ncode: |\n  {code}\n")
}

/// A picture that a cell makes of bytes.
const PICTURE: &str =
    "return {$content: [{type: 'image', data: new Uint8Array([1, 2, 3]), mimeType: 'image/png'}]}";

async fn called(house: &House) -> CallReport {
    house.call("shows", json!({})).await.expect("a report")
}

async fn run(house: &House, code: &str) -> CallReport {
    let code = Code { text: code.to_owned(), entry: "body".to_owned(), language: "js".to_owned() };
    let run = CodeRun {
        code,
        name: "snippet".to_owned(),
        arguments: Map::new(),
        overrides: None,
        profile: None,
        limits: None,
        correlation: None,
        always_asks: false,
    };
    match house.core.perform(cli(), Action::CodeRun(Box::new(run))).await {
        Ok(Reply::Called(report)) => *report,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn failed(report: &CallReport) -> (ErrorCode, String) {
    let failure = report.failure().expect("a failure");
    (failure.code, failure.message.clone())
}

fn content_comes_out_as_it_was_given() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("shows", &tool("", PICTURE))).await;
        for report in [called(&house).await, run(&house, PICTURE).await] {
            let block = json!({"type": "image", "data": {"$bytes": "AQID"}, "mimeType": "image/png"});
            assert_eq!(report.value(), &json!({"$content": [block]}));
            let contents = Contents::read(report.value()).expect("content").expect("content");
            let image = Content::Image { data: "AQID".to_owned(), mime: "image/png".to_owned() };
            assert_eq!((contents.blocks, contents.structured), (vec![image], None));
        }
        house.close().await;
    });
}

fn content_of_a_tool_with_an_output_brings_what_is_structured() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let output = "output: {type: object, required: [n], properties: {n: {type: integer}}}";
        let code = "return {$content: [{type: 'text', text: 'one'}], structured: {n: 1}}";
        house.offer(&yaml("shows", &tool(output, code))).await;
        let report = called(&house).await;
        let contents = Contents::read(report.value()).expect("content").expect("content");
        assert_eq!(contents.structured, Some(json!({"n": 1})));
        for (code, says) in [
            ("return {$content: [{type: 'text', text: 'one'}]}", "no `structured`"),
            ("return {$content: [], structured: {n: 'one'}}", "`structured` of the result at /n"),
        ] {
            let tested = tried(&house, &tool(output, code)).await;
            let failure = tested.lines[0].failure.clone().expect("a failure");
            assert_eq!(failure.code, ErrorCode::OutputSchema);
            assert!(failure.message.contains(says), "{failure:?}");
        }
        house.close().await;
    });
}

async fn tried(house: &House, text: &str) -> bailiwick_core::Tested {
    match house.act(Action::ToolTry { document: yaml("shows", text), live: false }).await {
        Ok(Reply::Tested(mut tested)) => tested.remove(0),
        other => panic!("{other:?}"),
    }
}

fn what_only_says_that_it_is_content_fails_the_pass_and_the_call() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let code = "return {$content: [{type: 'text', text: 'fine'}, {type: 'image', data: 'not base64', mimeType: 'image/png'}]}";
        let tested = tried(&house, &tool("", code)).await;
        assert!(!tested.passed);
        let (kind, message) = failed(&run(&house, code).await);
        assert_eq!(kind, ErrorCode::OutputSchema);
        assert_eq!(message, "the result at $content[1].data is not base64");
        assert_eq!(tested.lines[0].failure.clone().expect("a failure").message, message);
        house.close().await;
    });
}

/// Shows its secret, behind some letters, as data of a block.
const LEAKS: &str = "
name: leaks
description: Shows its secret.
params:
  - {name: how, type: STRING, required: true, description: In which way, testValue: text}
  - {name: before, type: STRING, description: Letters before it}
statics:
  - {name: token, value: '${TOKEN}'}
code: |
  const said = `${before ?? ''}${token} and more`;
  if (how === 'text') return {$content: [{type: 'text', text: said}]};
  const data = how === 'bytes' ? new TextEncoder().encode(said) : btoa(said);
  return {$content: [{type: 'image', data, mimeType: 'image/png'}]};
";

fn a_secret_in_the_data_of_a_block_does_not_leave() {
    use base64::Engine as _;
    const VALUE: &str = "hunter2-is-long-enough";
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let secrets = Secrets::open(&place.data(), Fallback::none()).expect("secrets");
        let now = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        let name = SecretName::parse("TOKEN").expect("a name");
        secrets.set(&name, &Secret::new(VALUE.to_owned()), now).expect("set");
        house.offer(&yaml("leaks", LEAKS)).await;
        // In the text of a block it is masked, and the block stays one.
        let report = house.call("leaks", json!({"how": "text"})).await.expect("a report");
        assert_eq!(report.value(), &json!({"$content": [{"type": "text", "text": "*** and more"}]}));
        // In data it is masked as well, in each alignment, and what is left is not passed off as data.
        for before in ["", "a", "ab"] {
            let disguised =
                base64::engine::general_purpose::STANDARD.encode(format!("{before}{VALUE} and more"));
            let inside = disguised.get(4..28).expect("long enough");
            for how in ["bytes", "base64"] {
                let arguments = json!({"how": how, "before": before});
                let report = house.call("leaks", arguments).await.expect("a report");
                let (kind, message) = failed(&report);
                assert_eq!(kind, ErrorCode::OutputSchema);
                assert_eq!(message, "the result at $content[0].data is not base64");
                let told = format!("{report:?} {:?}", house.tail(10).await);
                assert!(!told.contains(VALUE) && !told.contains(inside), "{told}");
            }
        }
        house.close().await;
    });
}
