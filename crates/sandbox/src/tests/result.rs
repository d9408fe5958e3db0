//! Results as JSON, and what a program that ran one ends with.

use bailiwick_types::{CorrelationId, Receipt, SandboxId, Tier, WallStatus, Wallpart};
use bytes::Bytes;
use serde_json::{Value, json};

use super::fake::{USAGE, denial};
use crate::{Captured, ExecResult, Exit, signal_name, signal_number};

fn captured(bytes: &'static [u8], truncated: bool) -> Captured {
    Captured { bytes: Bytes::from_static(bytes), truncated }
}

fn result() -> ExecResult {
    let part = Wallpart {
        demand: "network".to_owned(),
        mechanism: "net namespace".to_owned(),
        status: WallStatus::Enforced,
    };
    ExecResult {
        exit: Exit::Code(0),
        timed_out: false,
        oom: false,
        stdout: captured(b"2\n", false),
        stderr: captured(b"", false),
        usage: USAGE,
        denials: Vec::new(),
        receipt: Receipt::new(Tier::Process, vec![part], &["network"]),
        sandbox_id: SandboxId::parse("018f2f00-0000-7000-8000-000000000001").unwrap(),
        backend: "process".to_owned(),
        tier: Tier::Process,
        correlation_id: CorrelationId::parse("req-7").unwrap(),
    }
}

#[test]
fn the_result_of_an_exec_has_its_golden_shape() {
    let golden = concat!(
        r#"{"exitCode":0,"signal":null,"timedOut":false,"oom":false,"#,
        r#""stdout":"2\n","stdoutTruncated":false,"stderr":"","stderrTruncated":false,"encoding":"utf8","#,
        r#""usage":{"wallMs":20.5,"cpuMs":11.25,"memoryPeak":9000000,"processes":2},"#,
        r#""denials":[],"receipt":{"tier":"PROCESS","walls":[{"demand":"network","mechanism":"net namespace","status":"enforced"}]},"#,
        r#""sandboxId":"018f2f00-0000-7000-8000-000000000001","backend":"process","tier":"PROCESS","correlationId":"req-7"}"#,
    );
    assert_eq!(serde_json::to_string(&result()).unwrap(), golden);
    assert_eq!(serde_json::from_str::<ExecResult>(golden).unwrap(), result());
}

#[test]
fn ends_are_told_as_a_code_or_a_signal_and_read_back() {
    let table = [
        (Exit::Code(0), json!(0), json!(null), None, 0),
        (Exit::Code(3), json!(3), json!(null), None, 3),
        (Exit::Code(127), json!(127), json!(null), None, 127),
        (Exit::Signal(9), json!(null), json!("SIGKILL"), None, 137),
        (Exit::Signal(15), json!(null), json!("SIGTERM"), None, 143),
        (Exit::Signal(40), json!(null), json!("SIG40"), None, 168),
        (Exit::NotFound, json!(127), json!(null), Some("notFound"), 127),
        (Exit::NotExecutable, json!(126), json!(null), Some("notExecutable"), 126),
    ];
    for (exit, code, signal, not_started, status) in table {
        let result = ExecResult { exit, ..result() };
        let shape = serde_json::to_value(&result).unwrap();
        assert_eq!((&shape["exitCode"], &shape["signal"]), (&code, &signal), "{exit:?}");
        assert_eq!(shape.get("notStarted").and_then(Value::as_str), not_started, "{exit:?}");
        assert_eq!(serde_json::from_value::<ExecResult>(shape).unwrap(), result);
        assert_eq!(result.exit_status(), status, "{exit:?}");
        assert_eq!(ExecResult { timed_out: true, ..result }.exit_status(), 124, "{exit:?}");
    }
}

#[track_caller]
fn check_streams(stdout: Captured, stderr: Captured, encoding: &str, told: (&str, &str)) {
    let given = ExecResult { stdout, stderr, ..result() };
    let shape = serde_json::to_value(&given).unwrap();
    assert_eq!(shape["encoding"], encoding);
    assert_eq!((shape["stdout"].as_str().unwrap(), shape["stderr"].as_str().unwrap()), told);
    let read: ExecResult = serde_json::from_value(shape.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), shape, "it reads back as it was told");
}

#[test]
fn streams_are_both_text_or_both_base64() {
    let table = [
        (captured("ü".as_bytes(), false), captured(b"", false), "utf8", ("ü", "")),
        (captured(b"a\0b", false), captured(b"", false), "utf8", ("a\0b", "")),
        (captured(b"\xff", false), captured(b"plain", false), "base64", ("/w==", "cGxhaW4=")),
        (captured(b"plain", false), captured(b"\xff", false), "base64", ("cGxhaW4=", "/w==")),
        // The cut went through a character: its first bytes are left out, and the rest is text.
        (captured(b"a\xc3", true), captured(b"", false), "utf8", ("a", "")),
        (captured(b"a\xf0\x9f\x98", true), captured(b"b\xe2\x82", true), "utf8", ("a", "b")),
        (captured(b"\xc3", true), captured(b"", false), "utf8", ("", "")),
        // Not cut: then half a character is no text.
        (captured(b"a\xc3", false), captured(b"", false), "base64", ("YcM=", "")),
        // Cut, but wrong before the cut.
        (captured(b"\xffa\xc3", true), captured(b"", false), "base64", ("/2HD", "")),
        // Cut, and what is at the end is the beginning of no character.
        (captured(b"a\xc3\x28", true), captured(b"", false), "base64", ("YcMo", "")),
    ];
    for (stdout, stderr, encoding, told) in table {
        check_streams(stdout, stderr, encoding, told);
    }
}

#[test]
fn what_is_cut_and_refused_is_told() {
    let result = ExecResult {
        stdout: captured(b"x", true),
        denials: vec![denial("GET https://evil.test/")],
        ..result()
    };
    let shape = serde_json::to_value(&result).unwrap();
    assert_eq!((&shape["stdoutTruncated"], &shape["stderrTruncated"]), (&json!(true), &json!(false)));
    assert_eq!(shape["denials"][0]["asked"], "GET https://evil.test/");
    assert_eq!(serde_json::from_value::<ExecResult>(shape).unwrap(), result);
}

#[test]
fn a_shape_that_tells_no_end_or_two_is_refused() {
    let table = [
        json!({"exitCode": null, "signal": null}),
        json!({"exitCode": 1, "signal": "SIGKILL"}),
        json!({"exitCode": null, "signal": "SIGNIFICANT"}),
        json!({"exitCode": null, "signal": "SIG0"}),
        json!({"encoding": "base64", "stdout": "not base64!"}),
        json!({"encoding": "latin1"}),
    ];
    for change in table {
        let mut shape = serde_json::to_value(result()).unwrap();
        for (key, value) in change.as_object().unwrap() {
            shape[key] = value.clone();
        }
        assert!(serde_json::from_value::<ExecResult>(shape).is_err(), "{change}");
    }
}

#[test]
fn signals_have_names_both_ways() {
    for signal in 1..=64 {
        assert_eq!(signal_number(&signal_name(signal)), Some(signal));
    }
    let table = [
        ("SIGHUP", Some(1)),
        ("KILL", Some(9)),
        ("SIGSYS", Some(31)),
        ("9", Some(9)),
        ("SIG65", None),
        ("", None),
    ];
    for (name, number) in table {
        assert_eq!(signal_number(name), number, "{name}");
    }
}
