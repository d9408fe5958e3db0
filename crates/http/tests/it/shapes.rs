//! Shapes: what the inside gives is told in full, reads back as the same, and looks as it was promised.

use bailiwick_api as api;
use bailiwick_core as inner;
use bailiwick_core::{Change, Event, Happening, Refusal, RememberedFor};
use bailiwick_types::{ErrorCode, LogLevel, LogLine, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::replies;
use crate::schema::is_a;

bailiwick_testkit::tests!(
    every_shape_says_what_the_inside_says_and_reads_back_as_it,
    every_event_reads_back_as_it_was,
    a_report_looks_as_it_was_promised,
    a_record_looks_as_it_was_promised,
    a_problem_looks_as_it_was_promised,
    a_problem_reads_back_as_the_refusal,
    what_is_executed_reads_back_as_the_action,
);

/// Holds a shape to the inner type it stands for.
#[track_caller]
fn check<Inner, Shape>(name: &str, value: &Inner)
where
    Inner: Clone + PartialEq + std::fmt::Debug + Serialize + From<Shape>,
    Shape: From<Inner> + Serialize + DeserializeOwned,
{
    let told = serde_json::to_value(Shape::from(value.clone())).expect("JSON");
    assert_eq!(told, serde_json::to_value(value).expect("JSON"), "{name}");
    is_a(name, &told);
    let back: Shape = serde_json::from_value(told).expect("the shape");
    assert_eq!(&Inner::from(back), value, "{name}");
}

fn every_shape_says_what_the_inside_says_and_reads_back_as_it() {
    check::<inner::ToolLine, api::ToolLine>("ToolLine", &replies::line());
    check::<inner::ToolView, api::ToolView>("ToolView", &replies::view());
    check::<inner::Checked, api::Checked>("Checked", &replies::checked());
    check::<inner::PolicyView, api::PolicyView>("PolicyView", &replies::policy());
    check::<inner::CodeChecked, api::CodeChecked>("CodeChecked", &replies::code_checked());
    check::<inner::Tested, api::Tested>("Tested", &replies::tested());
    for change in [Change::Added, Change::Changed, Change::Texts, Change::Same] {
        check::<inner::Imported, api::Imported>("Imported", &replies::imported(change));
    }
    check::<inner::Published, api::Published>("Published", &replies::published());
    check::<inner::Waiting, api::Waiting>("Waiting", &replies::waiting());
    check::<inner::RememberedYes, api::RememberedYes>("RememberedYes", &replies::remembered());
    let by_key = inner::RememberedYes { what: RememberedFor::Key, arguments: None, ..replies::remembered() };
    check::<inner::RememberedYes, api::RememberedYes>("RememberedYes", &by_key);
    check::<inner::KeyLine, api::KeyLine>("KeyLine", &replies::key_line());
    check::<inner::KeyMade, api::KeyMade>("KeyMade", &replies::key_made());
    check::<inner::SecretLine, api::SecretLine>("SecretLine", &replies::secret());
    check::<inner::Verified, api::Verified>("Verified", &replies::verified());
    check::<inner::sandboxes::SandboxLine, api::SandboxLine>("SandboxLine", &replies::sandbox_line());
    check::<inner::sandboxes::SandboxView, api::SandboxView>("SandboxView", &replies::sandbox_view());
    check::<inner::sandboxes::SnapshotLine, api::SnapshotLine>("SnapshotLine", &replies::snapshot_line());
    check::<inner::sandboxes::Entry, api::Entry>("Entry", &replies::entry());
    check::<inner::sandboxes::Shown, api::Shown>("Shown", &replies::shown());
    check::<inner::sandboxes::Landed, api::Landed>("Landed", &replies::landed());
    is_a("LimitsView", &replies::limits());
    assert!(!format!("{:?}", api::KeyMade::from(replies::key_made())).contains("sesame"));
}

fn every_event_reads_back_as_it_was() {
    let settled = inner::Settled {
        id: replies::approval_id(),
        tool: "add".to_owned(),
        answer: "no".to_owned(),
        by: Some("operator".to_owned()),
    };
    let change = inner::ToolChange {
        action: "tool.remove".to_owned(),
        tool: None,
        name: "add".to_owned(),
        is_published: false,
        was_published: true,
        published_as: None,
    };
    let happened = |happening| (Event::Happened(Box::new(happening)), api::Heard::Watching);
    let along = |event| (event, api::Heard::Along);
    let line = LogLine { level: LogLevel::Warn, text: "hello".to_owned(), at: 3 };
    let events = [
        along(Event::Log(line)),
        along(Event::Test { tool: "add".to_owned(), line: Box::new(replies::test_line()) }),
        along(Event::Progress { done: 3, of: None }),
        along(Event::Waiting(Box::new(replies::waiting()))),
        along(Event::StillWaiting { id: replies::approval_id(), waited_ms: 1, remaining_ms: 2 }),
        happened(Happening::Asked(replies::waiting())),
        happened(Happening::Answered(settled)),
        happened(Happening::Tool(change)),
        happened(Happening::KeyGone(replies::key_line())),
        happened(Happening::Sandbox(replies::sandbox_change(None))),
        happened(Happening::Record(replies::record(1))),
        happened(Happening::Missed(4)),
    ];
    for (event, heard) in events {
        let news = api::News::from(event.clone());
        assert!(api::News::NAMES.contains(&news.name()));
        let data = news.data().expect("JSON");
        let back = api::News::read(news.name(), &data).expect("readable").expect("a known name");
        assert_eq!(back.event(heard), event);
    }
    assert_eq!(api::News::read("weather", "{}").expect("passed over"), None);
}

fn a_report_looks_as_it_was_promised() {
    let report = replies::report(Outcome::Failed(Box::new(replies::failure())));
    let told = serde_json::to_value(report).expect("JSON");
    is_a("CallReport", &told);
    assert_eq!(
        told,
        json!({
            "ok": false, "value": null,
            "error": {
                "code": "NET_DENIED", "message": "not allowed", "hint": "allow it",
                "location": {"line": 3, "column": 15}, "stack": "at tool:3:15",
                "denied": {
                    "code": "NET_DENIED", "capability": "net.fetch", "asked": "GET https://evil.test/",
                    "rule": "hosts", "layer": "tool", "reason": "host-not-allowed",
                    "fix": {"overrides": {"hosts": ["evil.test"]}, "risk": "L3"}
                }
            },
            "logs": [{"level": "log", "text": "hello", "at": 12}], "logsDropped": 0,
            "usage": {
                "wallMs": 4.1, "cpuMs": 1.2, "steps": 15000, "memoryPeak": 524_288, "fetches": 1, "bytesIn": 0,
                "bytesOut": 0
            },
            "risk": {
                "level": "L3", "credited": "L2",
                "reasons": [{"signal": "network allowlist", "level": "L3", "detail": "api.github.com"}]
            },
            "receipt": {
                "tier": "PROCESS",
                "walls": [{"demand": "no network", "mechanism": "net namespace", "status": "enforced"}]
            },
            "callId": replies::ID, "correlationId": "cause-1"
        })
    );
}

fn a_record_looks_as_it_was_promised() {
    let record = replies::record(1);
    is_a("Record", &record);
    let fields: Vec<&str> = record.as_object().expect("an object").keys().map(String::as_str).collect();
    let promised = [
        "seq",
        "time",
        "kind",
        "callId",
        "correlationId",
        "actor",
        "action",
        "tool",
        "policyHash",
        "risk",
        "arguments",
        "outcome",
        "usage",
        "approval",
        "backend",
        "prev",
        "hash",
    ];
    assert_eq!(fields, promised);
}

fn a_problem_looks_as_it_was_promised() {
    let refusal = Refusal::new(ErrorCode::NotFound, "there is no tool `ad`").with_hint("did you mean `add`?");
    let problem = api::Problem::from(refusal).of_request("cause-1");
    assert_eq!(
        serde_json::to_value(problem).expect("JSON"),
        json!({
            "type": "urn:bailiwick:problem:NOT_FOUND", "title": "There is no such thing.", "status": 404,
            "detail": "there is no tool `ad`", "code": "NOT_FOUND", "hint": "did you mean `add`?", "faults": [],
            "instance": "cause-1"
        })
    );
}

fn a_problem_reads_back_as_the_refusal() {
    for code in ErrorCode::ALL {
        let refusal = Refusal::new(*code, "no").with_hint("ask").with_faults(vec![replies::fault()]);
        let problem = api::Problem::from(refusal.clone());
        assert!((400..=599).contains(&problem.status), "{code}");
        let told: Value = serde_json::to_value(problem).expect("JSON");
        let back: api::Problem = serde_json::from_value(told).expect("a problem");
        assert_eq!(Refusal::from(back), refusal);
    }
}

fn what_is_executed_reads_back_as_the_action() {
    let cause = bailiwick_types::CorrelationId::parse("cause-1").expect("an id");
    let run = inner::CodeRun {
        code: inner::Code { text: "1".to_owned(), entry: "expression".to_owned(), language: "js".to_owned() },
        name: "-e".to_owned(),
        arguments: serde_json::Map::new(),
        overrides: None,
        profile: None,
        limits: Some(json!({"wall": "1s"})),
        correlation: Some(cause.clone()),
        always_asks: false,
    };
    let told = serde_json::to_value(api::Execute::from(run.clone())).expect("JSON");
    is_a("Execute", &told);
    let back: api::Execute = serde_json::from_value(told).expect("readable");
    assert_eq!(back.action(&cause), inner::Action::CodeRun(Box::new(run)));
}
