//! Table tests of the shared words, and golden shapes of what goes over the wire.

use serde_json::json;

use super::*;

#[test]
fn every_code_has_a_unique_name_that_reads_back() {
    let mut names: Vec<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    for code in ErrorCode::ALL {
        assert_eq!(code.name().parse(), Ok(*code));
        assert_eq!(serde_json::to_value(code).unwrap(), json!(code.name()));
        assert!(!code.meaning().is_empty());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 41, "the closed list has 41 codes");
}

#[test]
fn every_reason_serialises_as_its_word() {
    for reason in DenialReason::ALL {
        assert_eq!(serde_json::to_value(reason).unwrap(), json!(reason.word()));
    }
}

#[test]
fn a_limit_is_neither_zero_nor_beyond_its_hard_maximum() {
    for kind in LimitKind::ALL {
        let mut limits = Limits::shipped_defaults();
        assert!(matches!(limits.set(*kind, 0), Err(LimitError::Zero { .. })), "{}", kind.key());
        assert!(limits.set(*kind, kind.hard_maximum()).is_ok());
        let above = limits.set(*kind, kind.hard_maximum() + 1);
        assert!(matches!(above, Err(LimitError::AboveHardMaximum { .. })), "{}", kind.key());
        assert!(limits.set(*kind, u64::MAX).is_err(), "there is no unlimited");
    }
}

#[test]
fn the_shipped_defaults_lie_within_the_shipped_ceilings() {
    for kind in LimitKind::ALL {
        assert_eq!(Limits::shipped_defaults().get(*kind), kind.default_value());
        assert_eq!(Limits::shipped_ceilings().get(*kind), kind.default_ceiling());
        assert!(kind.default_value() <= kind.default_ceiling(), "{}", kind.key());
        assert!(kind.default_ceiling() <= kind.hard_maximum(), "{}", kind.key());
        assert_eq!(LimitKind::from_key(kind.key()), Some(*kind));
    }
}

#[test]
fn limit_keys_carry_their_unit_in_json() {
    let keys: Vec<_> = LimitKind::ALL.iter().map(|kind| kind.json_key()).collect();
    assert_eq!(keys[..4], ["wallMs", "cpuMs", "steps", "memoryBytes"]);
    assert!(keys.contains(&"consoleBytes".to_owned()));
}

#[track_caller]
fn check_quantity(parsed: Result<u64, QuantityError>, expected: Option<u64>) {
    let shown = format!("{parsed:?}");
    assert_eq!(parsed.ok(), expected, "{shown}");
}

#[test]
fn durations_are_read_as_people_write_them() {
    check_quantity(parse_duration_ms("500ms"), Some(500));
    check_quantity(parse_duration_ms("5s"), Some(5_000));
    check_quantity(parse_duration_ms(" 2 m "), Some(120_000));
    check_quantity(parse_duration_ms("1h"), Some(3_600_000));
    for bad in
        ["", "5", "s", "-1s", "1.5s", "5 parsecs", "99999999999999999999s", "18446744073709551615h", "_1s"]
    {
        check_quantity(parse_duration_ms(bad), None);
    }
}

#[test]
fn sizes_are_read_as_people_write_them() {
    check_quantity(parse_size("512"), Some(512));
    check_quantity(parse_size("64MiB"), Some(64 << 20));
    check_quantity(parse_size("64M"), Some(64 << 20));
    check_quantity(parse_size("1 gib"), Some(1 << 30));
    for bad in ["", "MiB", "-1", "1TiBB", "20000000000GiB", "unlimited"] {
        check_quantity(parse_size(bad), None);
    }
    check_quantity(parse_count("50_000_000"), Some(50_000_000));
    check_quantity(parse_count("5s"), None);
}

#[test]
fn quantities_read_back_what_they_write() {
    for value in [1, 999, 1_000, 60_000, 61_000, 3_600_000, 90_000] {
        assert_eq!(parse_duration_ms(&format_duration_ms(value)), Ok(value));
    }
    for value in [1, 1023, 1024, 1 << 20, (1 << 20) + 1, 5 << 30] {
        assert_eq!(parse_size(&format_size(value)), Ok(value));
    }
}

#[test]
fn names_are_slugs() {
    for good in ["a", "repo_stars", "x-1", &"a".repeat(64)] {
        assert!(ToolName::parse(good).is_ok(), "{good}");
    }
    for bad in ["", "A", "1a", "_a", "a b", "ä", "a.b", &"a".repeat(65)] {
        assert!(ToolName::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn ids_order_by_time_and_read_back() {
    let early = CallId::from_parts(1, &[9; 10]);
    let late = CallId::from_parts(2, &[0; 10]);
    assert!(early < late);
    assert_eq!(CallId::parse(&late.to_string()), Ok(late));
    assert!(ToolId::parse("nope").is_err());
}

#[test]
fn a_correlation_id_fits_a_header() {
    assert!(CorrelationId::parse("req-7/α").is_err());
    assert!(CorrelationId::parse("a b").is_err());
    assert!(CorrelationId::parse("").is_err());
    assert!(CorrelationId::parse(&"x".repeat(129)).is_err());
    assert!(CorrelationId::parse("req-7/alpha").is_ok());
}

#[test]
fn credit_for_approval_is_one_level_and_never_below_l1() {
    use RiskLevel::{L0, L1, L2, L3, L4, L5};
    let table = [(L0, L0), (L1, L1), (L2, L1), (L3, L2), (L4, L3), (L5, L4)];
    for (inherent, credited) in table {
        assert_eq!(inherent.credited(), credited);
    }
}

#[test]
fn a_wall_meets_its_own_floor_and_every_weaker_one() {
    for (strength, wall) in Tier::ALL.into_iter().enumerate() {
        for (wanted, floor) in Tier::ALL.into_iter().enumerate() {
            assert_eq!(wall.meets(floor), strength >= wanted, "{wall} on {floor}");
        }
    }
    assert!("remote".parse::<Tier>().is_err(), "that is a place, not a strength");
    assert_eq!("user-kernel".parse(), Ok(Tier::UserKernel));
}

#[test]
fn layers_read_back() {
    for text in ["guard", "baseline", "profile:web", "tool"] {
        assert_eq!(text.parse::<LayerName>().unwrap().to_string(), text);
    }
    assert!("profile:".parse::<LayerName>().is_err());
}

#[test]
fn suggestions_are_near_or_absent() {
    let known = ["network", "hosts", "fileRead", "fileWrite"];
    assert_eq!(closest("netwrok", known), Some("network"));
    assert_eq!(closest("file_read", known), Some("fileRead"));
    assert_eq!(closest("host", known), Some("hosts"));
    assert_eq!(closest("banana", known), None);
    assert_eq!(closest(&"n".repeat(1_000_000), known), None);
}

#[test]
fn the_denial_has_its_golden_shape() {
    let golden = json!({
        "code": "NET_DENIED", "capability": "net.fetch", "asked": "GET https://evil.test/",
        "rule": "hosts", "layer": "tool", "reason": "host-not-allowed",
        "fix": {"overrides": {"hosts": ["evil.test"]}, "risk": "L3"}
    });
    let denial: Denial = serde_json::from_value(golden.clone()).unwrap();
    assert_eq!(denial.layer, LayerName::Tool);
    assert_eq!(serde_json::to_value(&denial).unwrap(), golden);
}

#[test]
fn the_result_of_a_call_has_its_golden_shape() {
    let denied = json!({
        "code": "NET_DENIED", "capability": "net.fetch", "asked": "GET https://evil.test/",
        "rule": "hosts", "layer": "tool", "reason": "host-not-allowed", "fix": null
    });
    let failure = Failure {
        code: ErrorCode::NetDenied,
        message: "m".into(),
        hint: Some("h".into()),
        location: Some(Location { line: 3, column: 15 }),
        stack: Some("s".into()),
        denied: Some(serde_json::from_value(denied.clone()).unwrap()),
    };
    let risk = Risk {
        level: RiskLevel::L3,
        credited: None,
        reasons: vec![RiskReason {
            signal: "network allowlist".into(),
            level: RiskLevel::L3,
            detail: "api.github.com".into(),
        }],
    };
    let receipt = Receipt {
        tier: Tier::Process,
        walls: vec![Wallpart {
            demand: "no network".into(),
            mechanism: "net namespace".into(),
            status: WallStatus::Enforced,
        }],
        insecure: false,
    };
    let id = CallId::from_parts(0, &[0; 10]);
    let report = CallReport::new(
        Outcome::Failed(Box::new(failure)),
        id,
        CorrelationId::parse("c").unwrap(),
        risk,
        receipt,
    )
    .with_logs(vec![LogLine { level: LogLevel::Log, text: "t".into(), at: 12 }], 0)
    .with_usage(Usage {
        wall_ms: 4.1,
        cpu_ms: 1.2,
        steps: 15_000,
        memory_peak: 524_288,
        fetches: 1,
        bytes_in: 900,
        bytes_out: 120,
    });
    assert_eq!(report.exit_code(), 3);
    assert_eq!(
        serde_json::to_value(&report).unwrap(),
        json!({"ok": false, "value": null,
            "error": {"code": "NET_DENIED", "message": "m", "hint": "h",
                "location": {"line": 3, "column": 15}, "stack": "s", "denied": denied},
            "logs": [{"level": "log", "text": "t", "at": 12}], "logsDropped": 0,
            "usage": {"wallMs": 4.1, "cpuMs": 1.2, "steps": 15000, "memoryPeak": 524_288, "fetches": 1, "bytesIn": 900, "bytesOut": 120},
            "risk": {"level": "L3", "credited": null,
                "reasons": [{"signal": "network allowlist", "level": "L3", "detail": "api.github.com"}]},
            "receipt": {"tier": "PROCESS",
                "walls": [{"demand": "no network", "mechanism": "net namespace", "status": "enforced"}]},
            "callId": id.to_string(), "correlationId": "c"})
    );
}

#[test]
fn a_refusal_that_ended_a_call_keeps_its_word() {
    #[track_caller]
    fn check(failure: &Failure, expected: Option<&str>) {
        assert_eq!(failure.reason(), expected, "{failure:?}");
    }
    let asked = "no canned answer for GET https://a.test/ (timeout)";
    let refused = Refused::failed(ErrorCode::NetFailed, Refused::NO_CANNED_ANSWER, asked);
    check(&refused.clone().into_failure(), Some("no-canned-answer"));
    // Another failure of the same code, and one that says no word.
    check(&Refused::failed(ErrorCode::NetFailed, "timeout", "late").into_failure(), Some("timeout"));
    let silent = |message: &str| Failure { message: message.to_owned(), ..refused.clone().into_failure() };
    for message in ["it failed", "it failed ()", "it failed (very much)", "(timeout)", ""] {
        check(&silent(message), None);
    }
    // What code threw may say anything.
    let thrown = Failure { code: ErrorCode::EvalError, ..refused.into_failure() };
    check(&thrown, None);
    let denial = json!({
        "code": "NET_DENIED", "capability": "net.fetch", "asked": "GET https://evil.test/",
        "rule": "hosts", "layer": "tool", "reason": "host-not-allowed", "fix": null
    });
    check(&Refused::of(serde_json::from_value(denial).unwrap()).into_failure(), Some("host-not-allowed"));
}

#[test]
fn what_is_not_an_id_is_told_with_the_right_article() {
    let told = |error: Result<(), IdError>| error.err().map(|error| error.to_string()).unwrap_or_default();
    let approval = told(ApprovalId::parse("x").map(drop));
    assert_eq!(approval, "`x` is not an approval id: it must be a UUID");
    assert_eq!(told(KeyId::parse("x").map(drop)), "`x` is not a key id: it must be a UUID");
}
