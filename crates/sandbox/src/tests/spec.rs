//! Specs: everything that is refused before anything is made, and their shape.

use std::collections::BTreeMap;
use std::time::Duration;

use bailiwick_types::CorrelationId;
use serde_json::json;

use crate::limits::Limit;
use crate::{Bound, From, Image, Limits, Mount, Network, Overlay, SandboxPath, SandboxSpec, Ttl};

#[track_caller]
fn check(change: impl FnOnce(&mut SandboxSpec), expected: Result<(), &str>) {
    let mut spec = SandboxSpec::default();
    change(&mut spec);
    match (spec.check(), expected) {
        (Ok(()), Ok(())) => {}
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
        (given, _) => panic!("{given:?} instead of {expected:?}"),
    }
}

fn one(name: &str, value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_owned(), value.to_owned())])
}

#[test]
fn the_default_is_closed_and_fine() {
    let spec = SandboxSpec::default();
    spec.check().unwrap();
    assert_eq!((spec.network, spec.image), (Network::None, Image::Host));
    assert!(spec.mounts.is_empty() && spec.env.is_empty() && spec.expose.is_empty());
}

#[test]
fn variables_are_names_and_values_that_a_process_can_have() {
    check(|spec| spec.env = one("A", "b=c\n"), Ok(()));
    check(|spec| spec.env = one("PATH", "/opt/bin"), Ok(()));
    check(|spec| spec.env = one("", "x"), Err("cannot be the name of a variable"));
    check(|spec| spec.env = one("A=B", "x"), Err("cannot be the name of a variable"));
    check(|spec| spec.env = one("A\0", "x"), Err("cannot be the name of a variable"));
    check(|spec| spec.env = one("A", "x\0"), Err("the value of `A` has a NUL"));
    check(|spec| spec.env = one("A", &"x".repeat(128 * 1024)), Err("the variable `A` takes"));
    let many: BTreeMap<String, String> = (0..3).map(|n| (format!("V{n}"), "x".repeat(100_000))).collect();
    check(|spec| spec.env = many, Err("at most 262144"));
}

#[test]
fn everything_of_a_spec_is_looked_at() {
    let path = |text: &str| SandboxPath::new(text).unwrap();
    let named = |name: &str| Image::Named(name.to_owned());
    check(|spec| spec.image = named("debian:13"), Ok(()));
    check(|spec| spec.image = named(""), Err("it is empty"));
    check(|spec| spec.image = named("a\nb"), Err("cannot be seen"));
    check(|spec| spec.image = named(&"x".repeat(1025)), Err("too long"));
    check(|spec| spec.network = Network::Allow(vec!["https://x/".to_owned()]), Err("is a URL"));
    check(|spec| spec.network = Network::Allow(Vec::new()), Err("no host is named"));
    check(|spec| spec.limits.memory = Bound { value: 0, from: From::Typed }, Err("more than zero"));
    check(|spec| spec.limits.timeout.value = Duration::ZERO, Err("a command needs some time"));
    check(|spec| spec.workdir = path("/"), Ok(()));
    check(|spec| spec.workdir = path("/processes"), Ok(()));
    check(|spec| spec.workdir = path("/proc/self"), Err("cannot begin in"));
    check(|spec| spec.workdir = path("/sys"), Err("cannot begin in"));
    check(|spec| spec.workdir = path("/.agent"), Err("cannot begin in"));
    check(|spec| spec.workdir = path("/work/.agent"), Ok(()));
    check(|spec| spec.expose = vec![80, 443], Ok(()));
    check(|spec| spec.expose = vec![0], Err("nothing listens there"));
    check(|spec| spec.expose = vec![80, 443, 80], Err("named twice"));
    check(|spec| spec.expose = (1..=33).collect(), Err("33 ports"));
    check(|spec| spec.labels = one("team/a.b_c-d", "everything else: ü"), Ok(()));
    check(|spec| spec.labels = one("", "x"), Err("1 to 63 characters"));
    check(|spec| spec.labels = one(&"x".repeat(64), "x"), Err("1 to 63 characters"));
    check(|spec| spec.labels = one("a b", "x"), Err("letters, digits"));
    check(|spec| spec.labels = one("a", &"x".repeat(257)), Err("more than 256 bytes"));
    check(|spec| spec.labels = one("a", "\u{1b}[2J"), Err("cannot be seen"));
    check(|spec| spec.labels = (0..33).map(|n| (n.to_string(), String::new())).collect(), Err("33 labels"));
    check(|spec| spec.ttl.idle = Duration::ZERO, Err("the idle time is zero"));
    check(|spec| spec.ttl.absolute = Duration::ZERO, Err("the whole time is zero"));
    check(|spec| spec.ttl.idle = Duration::MAX, Err("the idle time is more"));
    check(|spec| spec.ttl.absolute = Duration::from_hours(31 * 24), Err("at most 720h"));
}

#[test]
fn a_spec_has_its_golden_shape() {
    let spec = SandboxSpec {
        image: Image::Named("debian:13".to_owned()),
        env: one("A", "b"),
        mounts: vec!["/usr:/data:rw".parse::<Mount>().unwrap().open_by_name().unwrap()],
        overlays: vec!["/usr".parse::<Overlay>().unwrap().open_by_name().unwrap()],
        network: "allow:pypi.org:443".parse().unwrap(),
        secrets: vec!["TOKEN=PYPI_TOKEN@pypi.org,upload.pypi.org:Authorization".parse().unwrap()],
        limits: Limits::default().with(Limit::Timeout, "1m").unwrap(),
        expose: vec![8080],
        labels: one("team", "a"),
        correlation: Some(CorrelationId::parse("req-7").unwrap()),
        ttl: Ttl { idle: Duration::from_secs(1), absolute: Duration::from_millis(2500) },
        ..SandboxSpec::default()
    };
    let mut shape = json!({
        "image": {"named": "debian:13"},
        "snapshot": null,
        "env": {"A": "b"},
        "mounts": [{"from": "/usr", "to": "/data", "writable": true}],
        "overlays": [{"from": "/usr", "to": "/work"}],
        "network": {"allow": ["pypi.org:443"]},
        "secrets": [{
            "variable": "TOKEN",
            "secret": "PYPI_TOKEN",
            "sealed": {"hosts": ["pypi.org", "upload.pypi.org"], "in": "header:Authorization"},
        }],
        "limits": serde_json::to_value(spec.limits).unwrap(),
        "workdir": "/work",
        "warm": false,
        "expose": [8080],
        "labels": {"team": "a"},
        "correlation": "req-7",
        "ttl": {"idleMs": 1000, "absoluteMs": 2500},
        "separateUid": false,
    });
    assert_eq!(serde_json::to_value(&spec).unwrap(), shape);
    // A text holds no descriptor: mounts are never read from one.
    assert!(serde_json::from_value::<SandboxSpec>(shape.clone()).is_err());
    for held in ["mounts", "overlays"] {
        shape.as_object_mut().unwrap().remove(held);
    }
    let spec = SandboxSpec { mounts: Vec::new(), overlays: Vec::new(), ..spec };
    assert_eq!(serde_json::from_value::<SandboxSpec>(shape).unwrap(), spec);
    assert_eq!(serde_json::from_value::<SandboxSpec>(json!({})).unwrap(), SandboxSpec::default());
}

#[test]
fn what_a_shape_does_not_know_is_refused() {
    let refused = [
        json!({"privileged": true}),
        json!({"mounts": [{"from": "/srv", "to": "/data", "propagation": "shared"}]}),
        json!({"mounts": [{"from": "/srv", "to": "data"}]}),
        json!({"ttl": {"idleMs": 1, "absoluteMs": 1, "never": true}}),
        json!({"network": "internet"}),
        json!({"workdir": "work"}),
        json!({"limits": {"timeoutMs": {"value": 0, "from": "typed"}}}),
        json!({"expose": [65_536]}),
        json!({"expose": [-1]}),
    ];
    for shape in refused {
        assert!(serde_json::from_value::<SandboxSpec>(shape.clone()).is_err(), "{shape}");
    }
}
