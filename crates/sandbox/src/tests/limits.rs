//! Limits: what is one, what the operator makes of it, and how it is written.

use std::time::Duration;

use serde_json::json;

use crate::limits::{LEAST_MEMORY, Limit};
use crate::{Amount, Bound, Ceilings, From, Limits, LimitsError, Preset};

const MIB: u64 = 1 << 20;

#[track_caller]
fn check(limit: Limit, amount: Amount<'_>, expected: Result<u64, &str>) {
    let limits = Limits::default().with(limit, amount);
    match (limits, expected) {
        (Ok(limits), Ok(value)) => {
            assert_eq!(limits.get(limit), value, "{limit} {amount:?}");
            assert_eq!(limits.from(limit), From::Typed, "{limit} {amount:?}");
            for other in Limit::ALL.into_iter().filter(|other| *other != limit) {
                assert_eq!(limits.get(other), Limits::default().get(other), "{limit} left {other} alone");
                assert_eq!(limits.from(other), From::Preset, "{limit} left {other} alone");
            }
        }
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{limit} {amount:?}: {error}"),
        (given, _) => panic!("{limit} {amount:?}: {given:?} instead of {expected:?}"),
    }
}

#[test]
fn a_limit_is_read_from_a_text_as_people_write_it() {
    let table = [
        (Limit::Cpu, "0.25", Ok(250)),
        (Limit::Cpu, "2", Ok(2000)),
        (Limit::Cpu, " 1.5 ", Ok(1500)),
        (Limit::Cpu, "0", Err("more than zero")),
        (Limit::Cpu, "0.001", Err("0.01 of a core")),
        (Limit::Cpu, "-1", Err("less than zero")),
        (Limit::Cpu, "NaN", Err("not a number")),
        (Limit::Cpu, "inf", Err("the most that can be asked for")),
        (Limit::Cpu, "1e300", Err("the most that can be asked for")),
        (Limit::Cpu, "two", Err("a number of cores")),
        (Limit::Cpu, "", Err("a number of cores")),
        (Limit::Memory, "64M", Ok(64 * MIB)),
        (Limit::Memory, "4MiB", Ok(LEAST_MEMORY)),
        (Limit::Memory, "4095KiB", Err("no program starts in less than 4MiB")),
        (Limit::Memory, "0", Err("more than zero")),
        (Limit::Memory, "-64M", Err("less than zero")),
        (Limit::Memory, "99999999999999999999", Err("the most that can be asked for")),
        (Limit::Memory, "17179869184GiB", Err("the most that can be asked for")),
        (Limit::Memory, "17592186044417", Err("the most that can be asked for")),
        (Limit::Memory, "64 potatoes", Err("write a number and one of B")),
        (Limit::Disk, "0", Ok(0)),
        (Limit::Disk, "1GiB", Ok(1024 * MIB)),
        (Limit::Disk, "-1", Err("less than zero")),
        (Limit::Timeout, "500ms", Ok(500)),
        (Limit::Timeout, "2m", Ok(120_000)),
        (Limit::Timeout, "0s", Err("none runs without a deadline")),
        (Limit::Timeout, "-5s", Err("less than zero")),
        (Limit::Timeout, "31d", Err("the most that can be asked for")),
        (Limit::Timeout, "30", Err("write a number and one of ms")),
        (Limit::Processes, "0", Ok(0)),
        (Limit::Processes, "20", Ok(20)),
        (Limit::Processes, "4294967296", Err("the most that can be asked for")),
        (Limit::Processes, "-1", Err("less than zero")),
        (Limit::Processes, "1.5", Err("a whole number")),
        (Limit::Output, "1KiB", Ok(1024)),
        (Limit::Output, "0", Err("more than zero")),
        (Limit::Output, "1GiB", Err("the most that can be asked for")),
    ];
    for (limit, text, expected) in table {
        check(limit, text.into(), expected);
    }
}

#[test]
fn a_limit_is_read_from_a_number() {
    let table = [
        (Limit::Cpu, 0.5, Ok(500)),
        (Limit::Cpu, 0.0, Err("more than zero")),
        (Limit::Cpu, -0.5, Err("less than zero")),
        (Limit::Cpu, f64::NAN, Err("not a number")),
        (Limit::Cpu, f64::INFINITY, Err("the most that can be asked for")),
        (Limit::Cpu, f64::NEG_INFINITY, Err("less than zero")),
        (Limit::Memory, 67_108_864.0, Ok(64 * MIB)),
        (Limit::Memory, 67_108_864.5, Err("a whole number")),
        (Limit::Memory, f64::MAX, Err("the most that can be asked for")),
        (Limit::Disk, 0.0, Ok(0)),
        (Limit::Timeout, 1.5, Ok(1500)),
        (Limit::Timeout, 0.000_01, Ok(1)),
        (Limit::Timeout, 0.0, Err("none runs without a deadline")),
        (Limit::Timeout, -0.0, Err("none runs without a deadline")),
        (Limit::Processes, 0.0, Ok(0)),
        (Limit::Processes, -1.0, Err("less than zero")),
        (Limit::Output, 1.0, Ok(1)),
    ];
    for (limit, number, expected) in table {
        check(limit, number.into(), expected);
    }
    check(Limit::Timeout, u64::MAX.into(), Err("the most that can be asked for"));
    check(Limit::Memory, u64::MAX.into(), Err("the most that can be asked for"));
    check(Limit::Cpu, 2_u64.into(), Ok(2000));
}

#[test]
fn presets_are_as_promised() {
    let table = [
        (Preset::Minimal, [250, 64 * MIB, 16 * MIB, 5_000, 32, MIB]),
        (Preset::Standard, [1000, 256 * MIB, 256 * MIB, 30_000, 64, MIB]),
        (Preset::Dev, [2000, 2048 * MIB, 4096 * MIB, 600_000, 512, MIB]),
    ];
    for (preset, values) in table {
        let limits = Limits::preset(preset);
        assert_eq!(Limit::ALL.map(|limit| limits.get(limit)), values, "{preset}");
        assert_eq!(Limit::ALL.map(|limit| limits.from(limit)), [From::Preset; 6], "{preset}");
        assert_eq!(preset.to_string().parse(), Ok(preset));
        limits.check().unwrap();
    }
    assert_eq!("big".parse::<Preset>(), Err(LimitsError::Preset("big".to_owned())));
    assert_eq!(Limits::default(), Limits::preset(Preset::Standard));
}

#[test]
fn the_three_that_matter_can_be_given_at_once() {
    use From::{Preset, Typed};
    let limits = Limits::of(0.5, 64 * MIB, 2.5).unwrap();
    assert_eq!(Limit::ALL.map(|limit| limits.get(limit)), [500, 64 * MIB, 256 * MIB, 2500, 64, MIB]);
    assert_eq!(Limit::ALL.map(|limit| limits.from(limit)), [Typed, Typed, Preset, Typed, Preset, Preset]);
    for (cores, memory, seconds) in
        [(0.0, 64 * MIB, 1.0), (1.0, 0, 1.0), (1.0, 64 * MIB, 0.0), (f64::NAN, 64 * MIB, 1.0)]
    {
        assert!(Limits::of(cores, memory, seconds).is_err(), "{cores} {memory} {seconds}");
    }
}

#[test]
fn what_is_typed_above_a_ceiling_is_refused_and_what_a_preset_says_is_lowered() {
    let most = [
        ("cpu", "0.5"),
        ("memory", "32MiB"),
        ("disk", "8MiB"),
        ("timeout", "3s"),
        ("processes", "16"),
        ("output", "64KiB"),
    ];
    for (limit, (name, ceiling)) in Limit::ALL.into_iter().zip(most) {
        assert_eq!(limit.name(), name);
        let ceilings = Ceilings::default().with(limit, ceiling).unwrap();
        let most = ceilings.most(limit).unwrap();
        let lowered = Limits::default().within(&ceilings).unwrap();
        assert_eq!((lowered.get(limit), lowered.from(limit)), (most, From::Preset), "{name}");
        for other in Limit::ALL.into_iter().filter(|other| *other != limit) {
            assert_eq!(lowered.get(other), Limits::default().get(other), "{name} left {other} alone");
        }
        let at = Limits::default().with(limit, ceiling).unwrap();
        assert_eq!(at.within(&ceilings), Ok(at), "{name}: as much as there is");
        let above = Limits::default().with_from(limit, limit.told(most + 1).as_str(), From::Typed).unwrap();
        let error = above.within(&ceilings).unwrap_err();
        assert!(matches!(&error, LimitsError::Ceiling { what, .. } if *what == name), "{name}: {error}");
        assert!(error.to_string().contains("the operator's ceiling"), "{error}");
    }
}

#[test]
fn no_limit_on_processes_is_above_every_ceiling() {
    let ceilings = Ceilings::default().with(Limit::Processes, "100").unwrap();
    let none = Limits::default().with(Limit::Processes, "0").unwrap();
    assert!(none.within(&ceilings).is_err());
    assert!(none.within(&Ceilings::NONE).is_ok());
    assert!(none.within(&Ceilings::default().requiring(Limit::Processes)).is_err());
    assert!(Ceilings::default().with(Limit::Processes, "0").is_err(), "a ceiling of none is none");
}

#[test]
fn what_the_operator_requires_is_a_demand() {
    for limit in Limit::ALL {
        let ceilings = Ceilings::default().requiring(limit);
        let limits = Limits::default().within(&ceilings).unwrap();
        assert_eq!(limits.get(limit), Limits::default().get(limit));
        for other in Limit::ALL {
            let from = if other == limit { From::Operator } else { From::Preset };
            assert_eq!(limits.from(other), from, "{limit} {other}");
        }
    }
}

#[test]
fn open_fields_are_looked_at_again() {
    let standard = Limits::default();
    let of = |value| Bound { value, from: From::Typed };
    let table = [
        (standard, true),
        (Limits { memory: of(0), ..standard }, false),
        (Limits { memory: of(LEAST_MEMORY - 1), ..standard }, false),
        (Limits { memory: of(u64::MAX), ..standard }, false),
        (Limits { cpu: Bound { value: 0, from: From::Typed }, ..standard }, false),
        (Limits { disk: of(0), ..standard }, true),
        (Limits { disk: of(u64::MAX), ..standard }, false),
        (Limits { output: of(0), ..standard }, false),
        (Limits { timeout: Bound { value: Duration::ZERO, from: From::Typed }, ..standard }, false),
        (Limits { timeout: Bound { value: Duration::MAX, from: From::Typed }, ..standard }, false),
        (Limits { timeout: Bound { value: Duration::from_nanos(1), from: From::Typed }, ..standard }, true),
        (Limits { processes: Bound { value: u32::MAX, from: From::Typed }, ..standard }, false),
    ];
    for (limits, is_fine) in table {
        assert_eq!(limits.check().is_ok(), is_fine, "{limits:?}");
    }
}

#[test]
fn a_typed_disk_above_memory_is_refused_and_a_presets_is_lowered() {
    const MIB: u64 = 1 << 20;
    let standard = Limits::default();
    for (memory, disk, from, scratch) in [
        (64, 64, From::Typed, Some(64)),
        (64, 65, From::Typed, None),
        (64, 16, From::Typed, Some(16)),
        (64, 256, From::Preset, Some(64)),
        (64, 256, From::Operator, Some(64)),
        (512, 256, From::Preset, Some(256)),
    ] {
        let limits = Limits {
            memory: Bound { value: memory * MIB, from: From::Typed },
            disk: Bound { value: disk * MIB, from },
            ..standard
        };
        let checked = limits.check().map(|()| limits.scratch() / MIB);
        assert_eq!(checked.as_ref().ok(), scratch.as_ref(), "{limits:?}");
        if let Err(error) = checked {
            let text = error.to_string();
            assert!(
                text.contains("64MiB on memory") && text.contains("raise memory to at least 65MiB"),
                "{text}"
            );
        }
    }
}

#[test]
fn limits_have_their_golden_shape_and_are_checked_when_read() {
    let limits = Limits::default().with(Limit::Memory, "64M").unwrap();
    let shape = json!({
        "cpuMillis": {"value": 1000, "from": "preset"},
        "memoryBytes": {"value": 67_108_864, "from": "typed"},
        "diskBytes": {"value": 268_435_456, "from": "preset"},
        "timeoutMs": {"value": 30_000, "from": "preset"},
        "processes": {"value": 64, "from": "preset"},
        "outputBytes": {"value": 1_048_576, "from": "preset"},
    });
    assert_eq!(serde_json::to_value(limits).unwrap(), shape);
    assert_eq!(serde_json::from_value::<Limits>(shape).unwrap(), limits);
    let refused = [
        json!({"timeoutMs": {"value": 0, "from": "typed"}}),
        json!({"memoryBytes": {"value": -1, "from": "typed"}}),
        json!({"memoryBytes": {"value": 1, "from": "typed"}}),
        json!({"cpuMillis": {"value": 1.5, "from": "typed"}}),
        json!({"memory": {"value": 67_108_864, "from": "typed"}}),
        json!({"memoryBytes": {"value": 67_108_864, "from": "typed", "unit": "B"}}),
        json!({"memoryBytes": {"value": 67_108_864, "from": "nobody"}}),
    ];
    for shape in refused {
        assert!(serde_json::from_value::<Limits>(shape.clone()).is_err(), "{shape}");
    }
}
