//! Documents of Spring AI Playground: taken over whole, or told field by field.

use serde_json::{Value, json};

use crate::{ApprovalMode, StaticValue, read_spring};

/// A document with every field that its specification names.
fn whole() -> Value {
    json!({
        "toolId": "130a8372-bc43-5e15-9c29-4cbfb9209ae3",
        "name": "getIssues",
        "description": "Lists issues.",
        "category": "WEB",
        "tags": ["github"],
        "params": [
            {"name": "repo", "description": "owner/name", "required": true, "type": "STRING", "testValue": "a/b"},
            {"name": "hits", "description": null, "required": false, "type": "INTEGER", "testValue": "5"},
        ],
        "staticVariables": [{"token": "${GITHUB_TOKEN}"}, {"base": "https://api.github.com"}],
        "code": "return repo;",
        "codeType": "Javascript",
        "sandboxOverrides": {
            "addAllowClasses": [], "removeAllowClasses": [], "addDenyClasses": ["java.io.File"],
            "removeDenyClasses": [], "networkMode": "allowlist", "hostsAllow": ["api.github.com"],
            "fileRead": true, "fileWrite": false, "fsBasePath": "notes",
        },
        "toolSafety": {"version": "1.0", "runtime": {"javaInterop": false}},
        "humanInTheLoop": {"mode": "REQUIRED", "promptTemplate": "Run {toolName} with {args}?"},
        "draft": true,
        "createTimestamp": 1_768_000_000_000_u64,
        "updateTimestamp": 1_768_000_000_000_u64,
    })
}

#[test]
fn every_field_is_taken_over_or_told() {
    for text in [whole().to_string(), json!([whole()]).to_string(), format!("{:#}", json!([whole()]))] {
        let read = read_spring("specs.json", &text).unwrap_or_else(|problems| panic!("{problems}"));
        let [one] = read.as_slice() else { panic!("{read:?}") };
        let tool = &one.tool;
        assert_eq!((tool.name().as_str(), tool.approval().mode), ("getIssues", ApprovalMode::Required));
        assert_eq!(tool.approval().prompt.as_deref(), Some("Run {tool} with {args}?"));
        let overrides = json!({
            "network": "allowlist", "hosts": ["api.github.com"], "fileRead": true, "fileWrite": false,
            "basePath": "notes",
        });
        assert_eq!(tool.policy().layer.to_overrides(), overrides);
        assert_eq!(tool.params()[1].test_value, Some(json!(5)));
        assert!(matches!(&tool.statics()[0].value, StaticValue::Secret { seal: None, .. }));
        assert_eq!(tool.statics()[1].value, StaticValue::Plain(json!("https://api.github.com")));
        let kept = &tool.kept()["metadata"]["springAiPlayground"];
        assert_eq!((&kept["draft"], &kept["createTimestamp"]), (&json!(true), &json!(1_768_000_000_000_u64)));
        // Each field of theirs is one of ours now, or has a note.
        let taken = [
            "name",
            "description",
            "category",
            "tags",
            "params",
            "staticVariables",
            "code",
            "codeType",
            "sandboxOverrides",
            "humanInTheLoop",
        ];
        for field in whole().as_object().unwrap().keys() {
            let noted = one.notes.iter().any(|note| note.path.as_str().ends_with(field.as_str()));
            assert!(noted != taken.contains(&field.as_str()), "{field}: {:?}", one.notes);
        }
        let denied = one.notes.iter().find(|note| note.path.as_str().ends_with("addDenyClasses"));
        assert!(denied.is_some_and(|note| note.place.is_some()), "{:?}", one.notes);
    }
}

#[test]
fn what_cannot_be_taken_over_is_a_problem_with_its_name() {
    #[track_caller]
    fn check(pointer: &str, value: Value, path: &str, message: &str) {
        let mut document = whole();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        document.pointer_mut(parent).unwrap()[field] = value;
        let problems = read_spring("specs.json", &json!([document]).to_string()).map(|_| ()).unwrap_err();
        let told = problems.list.iter().any(|problem| {
            problem.path.as_str() == path && problem.message.contains(message) && problem.place.is_some()
        });
        assert!(told, "{problems:?}");
    }
    check("/humanInTheLop", json!({"mode": "REQUIRED"}), "[0].humanInTheLop", "unknown field");
    check("/approval", json!({"mode": "REQUIRED"}), "[0].approval", "unknown field");
    check("/timeoutSeconds", json!(1), "[0].timeoutSeconds", "unknown field");
    check("/humanInTheLoop/mode", json!("ALWAYS"), "[0].humanInTheLoop.mode", "cannot be `ALWAYS`");
    check("/humanInTheLoop", json!({"promptTemplate": "x"}), "[0].humanInTheLoop", "no `mode`");
    check("/humanInTheLoop/approvers", json!(2), "[0].humanInTheLoop.approvers", "unknown field");
    check(
        "/sandboxOverrides/netwrokMode",
        json!("blocked"),
        "[0].sandboxOverrides.netwrokMode",
        "unknown field",
    );
    check("/sandboxOverrides/networkMode", json!("closed"), "[0]", "cannot be `closed`");
    let java = json!(["java.net.Socket"]);
    check("/sandboxOverrides/addAllowClasses", java.clone(), "[0].sandboxOverrides.addAllowClasses", "Java");
    check("/sandboxOverrides/removeDenyClasses", java, "[0].sandboxOverrides.removeDenyClasses", "Java");
    check("/toolSafety/runtime/javaInterop", json!(true), "[0].toolSafety.runtime.javaInterop", "Java");
    check("/codeType", json!("Python"), "[0].codeType", "cannot be `Python`");
    check("/params/0/testValu", json!("x"), "[0]", "unknown field `testValu`");
    check("/staticVariables", json!([{"base": "x${TOKEN}y"}]), "[0]", "a secret is the whole value");
}

#[test]
fn approval_that_is_off_there_follows_the_operators_level_here() {
    let mut document = whole();
    document["humanInTheLoop"] = json!({"mode": "DISABLED", "promptTemplate": null});
    let read = read_spring("specs.json", &document.to_string()).unwrap();
    assert_eq!(read[0].tool.approval().mode, ApprovalMode::Auto);
    assert!(
        read[0].notes.iter().any(|note| note.path.as_str() == "humanInTheLoop.mode"),
        "{:?}",
        read[0].notes
    );
    document["humanInTheLoop"] = Value::Null;
    assert_eq!(
        read_spring("specs.json", &document.to_string()).unwrap()[0].tool.approval().mode,
        ApprovalMode::Auto
    );
}
