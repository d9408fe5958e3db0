//! What holds for every policy, not only for the ones we thought of.

use std::sync::Arc;

use bailiwick_document::{Bounds, Format, parse};
use bailiwick_types::{LayerName, RiskLevel, Tier};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::{baseline, fetch_allowed, operated, try_policy};
use crate::{
    Answers, Baseline, Capability, CommandNetwork, CommandPlace, CommandPosture, EffectivePolicy, Exposure,
    HostRule, Layer, MountMode, Purpose, Query, Sourced, command_risk, explain, risk,
};

const HOSTS: &[&str] =
    &["a.test", "b.test", "*.a.test", "*.b.test", "c.a.test", "*", "1.1.1.1", "8.8.8.0/24", "b.test:8443"];
const PRIVATE: &[&str] = &["10.0.0.1", "10.0.0.0/8", "*.internal", "api.internal", "a.test"];
const URLS: &[&str] = &[
    "https://a.test/",
    "https://b.test/",
    "https://c.a.test/x",
    "https://d.c.a.test/",
    "http://1.1.1.1/",
    "http://8.8.8.8/",
    "https://b.test:8443/",
    "http://10.0.0.1/",
    "http://x.internal/",
    "http://api.internal/",
    "http://127.0.0.1/",
    "http://169.254.169.254/",
    "https://wiki.corp.example/",
    "http://10.9.0.1/",
];
const LISTABLE: &[Capability] = &[
    Capability::Console,
    Capability::Timers,
    Capability::Eval,
    Capability::ProcessExec,
    Capability::ParserCsv,
];

fn names(from: &'static [Capability]) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(from, 0..=from.len()).prop_map(|picked| picked.into_iter().map(Capability::name).collect())
}

/// Overrides of every shape; some contradict themselves, and then `resolve` says so.
pub(super) fn overrides() -> impl Strategy<Value = Value> {
    let lists = (names(LISTABLE), names(LISTABLE), names(LISTABLE), names(LISTABLE));
    let network = (
        select(&["blocked", "allowlist", "strict", "open"][..]),
        subsequence(HOSTS, 0..4),
        subsequence(PRIVATE, 0..3),
    );
    let files =
        (any::<bool>(), any::<bool>(), any::<bool>(), proptest::option::of(select(&["x", "x/y"][..])));
    let ask = (proptest::option::of(select(&["first", "always"][..])), any::<bool>(), any::<bool>());
    (lists, network, files, ask).prop_map(
        |((allow, unallow, deny, undeny), (mode, hosts, private), (r, w, d, base), (ask, lists, net))| {
            let mut map = serde_json::Map::new();
            if lists {
                map.insert("addAllow".into(), json!(allow));
                map.insert("removeDeny".into(), json!(undeny));
                map.insert("removeAllow".into(), json!(unallow));
                map.insert("addDeny".into(), json!(deny));
            }
            if net {
                map.insert("network".into(), json!(mode));
                let all: Vec<Value> = hosts
                    .iter()
                    .map(|host| json!(host))
                    .chain(private.iter().map(|host| json!({"host": host, "private": true})))
                    .collect();
                if mode == "allowlist" {
                    map.insert("hosts".into(), json!(all));
                }
                if let Some(ask) = ask {
                    map.insert("ask".into(), json!({"net": ask}));
                }
            }
            map.insert("fileRead".into(), json!(r));
            map.insert("fileWrite".into(), json!(w));
            map.insert("destructive".into(), json!(d));
            if let (Some(base), true) = (base, r || w || d) {
                map.insert("basePath".into(), json!(base));
            }
            Value::Object(map)
        },
    )
}

/// Overrides that resolve more often: denies are only added where nothing was allowed.
pub(super) fn peaceful() -> impl Strategy<Value = Value> {
    overrides().prop_map(|mut value| {
        let map = value.as_object_mut().unwrap();
        for list in ["addDeny", "removeAllow"] {
            map.remove(list);
        }
        if let Some(allow) = map.get("addAllow").cloned() {
            // Lift exactly the entries that are allowed, as a reviewer wants to see it.
            let denied: Vec<&Value> = allow
                .as_array()
                .unwrap()
                .iter()
                .filter(|name| !matches!(name.as_str(), Some("console" | "parser.csv")))
                .collect();
            map.insert("removeDeny".into(), json!(denied));
        }
        value
    })
}

fn queries() -> Vec<String> {
    let mut all: Vec<String> =
        Capability::ALL.iter().map(|capability| capability.name().to_owned()).collect();
    all.extend(URLS.iter().map(|url| format!("fetch {url}")));
    for op in ["read", "write", "delete"] {
        all.extend(["x/1", "x/y/2", "z", "/srv/data/1", "/etc/passwd"].map(|path| format!("{op} {path}")));
    }
    all
}

fn is_allowed(policy: &EffectivePolicy, query: &str) -> bool {
    explain(policy, &Query::parse(query).unwrap()).denial.is_none()
}

fn allowed_queries(policy: &EffectivePolicy) -> Vec<String> {
    queries().into_iter().filter(|query| is_allowed(policy, query)).collect()
}

fn tool(value: &Value) -> Arc<Layer> {
    Arc::new(super::layer(&value.to_string()).unwrap())
}

fn append(value: &Value, list: &str, entry: Value) -> Value {
    let mut value = value.clone();
    let map = value.as_object_mut().unwrap();
    map.entry(list).or_insert_with(|| json!([])).as_array_mut().unwrap().push(entry);
    value
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn adding_a_deny_never_widens(value in peaceful(), denied in select(Capability::ALL), host in select(HOSTS)) {
        let Ok(before) = try_policy(&operated(), &value.to_string()) else { return Ok(()) };
        // As a profile below would be a change of order; here the tool itself denies more ...
        let more = append(&value, "addDeny", json!(denied.name()));
        if let Ok(after) = crate::resolve(&operated(), None, Some(&tool(&more))) {
            for query in queries() {
                prop_assert!(is_allowed(&before, &query) || !is_allowed(&after, &query), "{query} became allowed");
            }
        }
        // ... and here the operator never allows one host more.
        let mut base = (*operated()).clone();
        let rule = HostRule::parse(host, Purpose::Refuse).unwrap();
        base.never.push(Sourced::built_in(Arc::new(rule), "policy.hosts.never"));
        if let Ok(after) = crate::resolve(&Arc::new(base), None, Some(&tool(&value))) {
            for url in URLS {
                prop_assert!(fetch_allowed(&before, url) || !fetch_allowed(&after, url), "{url} became allowed");
            }
        }
    }

    #[test]
    fn adding_a_grant_never_lowers_the_risk(value in peaceful(), which in 0..7usize, host in select(HOSTS), private in select(PRIVATE), name in select(LISTABLE)) {
        let Ok(before) = try_policy(&baseline(), &value.to_string()) else { return Ok(()) };
        let mut more = value.clone();
        let map = more.as_object_mut().unwrap();
        match which {
            0 => drop(map.insert("fileRead".into(), json!(true))),
            1 => drop(map.insert("fileWrite".into(), json!(true))),
            2 => drop(map.insert("destructive".into(), json!(true))),
            3 => more = append(&value, "hosts", json!(host)),
            4 => more = append(&value, "hosts", json!({"host": private, "private": true})),
            5 => more = append(&append(&value, "addAllow", json!(name.name())), "removeDeny", json!(name.name())),
            _ => more = append(&value, "removeDeny", json!(name.name())),
        }
        let Ok(after) = try_policy(&baseline(), &more.to_string()) else { return Ok(()) };
        let (was, is) = (risk(&before, &baseline()), risk(&after, &baseline()));
        prop_assert!(is.level >= was.level, "{} → {}: {:?}", was.level, is.level, is.reasons);
        prop_assert!(allowed_queries(&before).iter().all(|query| is_allowed(&after, query)), "a grant took something away");
    }

    #[test]
    fn order_within_a_layer_does_not_matter(value in overrides(), seed in any::<u64>()) {
        let mut turned = value.clone();
        for list in turned.as_object_mut().unwrap().values_mut().filter_map(Value::as_array_mut) {
            if !list.is_empty() {
                let by = usize::try_from(seed % 97).unwrap() % list.len();
                list.rotate_left(by);
                list.reverse();
            }
        }
        let first = crate::resolve(&baseline(), None, Some(&tool(&value)));
        let second = crate::resolve(&baseline(), None, Some(&tool(&turned)));
        match (first, second) {
            (Ok(a), Ok(b)) => {
                prop_assert_eq!(a.powers_json(), b.powers_json());
                prop_assert_eq!(risk(&a, &baseline()), risk(&b, &baseline()));
            }
            (Err(a), Err(b)) => {
                let messages = |c: &crate::Conflicts| c.list.iter().map(|c| c.message.clone()).collect::<Vec<_>>();
                prop_assert_eq!(messages(&a), messages(&b));
            }
            (a, b) => prop_assert!(false, "{:?} but {:?}", a.is_ok(), b.is_ok()),
        }
    }

    #[test]
    fn resolving_is_idempotent(value in peaceful()) {
        let Ok(once) = try_policy(&baseline(), &value.to_string()) else { return Ok(()) };
        let again = crate::resolve(&baseline(), None, Some(&Arc::new(once.to_overrides().unwrap()))).unwrap();
        prop_assert_eq!(once.powers_json(), again.powers_json());
        // And through the written form.
        let written = tool(&once.to_overrides().unwrap().to_overrides());
        let read = crate::resolve(&baseline(), None, Some(&written)).unwrap();
        prop_assert_eq!(once.powers_json(), read.powers_json());
    }

    #[test]
    fn a_profile_below_changes_nothing_of_this(below in peaceful(), value in overrides()) {
        let text = below.to_string();
        let base = super::with_profile(&Baseline::shipped(), "p", None, &text);
        let name = bailiwick_types::ProfileName::parse("p").unwrap();
        let base = Arc::new(base);
        let Ok(policy) = crate::resolve(&base, Some(&name), Some(&tool(&value))) else { return Ok(()) };
        // Flattened into one block it is the same policy with the same risk ...
        let flat = crate::resolve(&base, None, Some(&Arc::new(policy.to_overrides().unwrap())));
        let flat = flat.unwrap_or_else(|conflicts| panic!("{text}\n{value}\n{conflicts}"));
        prop_assert_eq!(policy.powers_json(), flat.powers_json());
        prop_assert_eq!(risk(&policy, &base).level, risk(&flat, &base).level);
        prop_assert_eq!(allowed_queries(&policy), allowed_queries(&flat));
        // ... and a deny on top of it never widens.
        let denied = append(&json!({}), "addDeny", json!("**"));
        if let Ok(nothing) = crate::resolve(&base, Some(&name), Some(&tool(&denied))) {
            prop_assert!(nothing.allowed().is_empty());
        }
    }

    #[test]
    fn diff_agrees_with_decide(first in peaceful(), second in peaceful()) {
        let (Ok(a), Ok(b)) = (try_policy(&operated(), &first.to_string()), try_policy(&operated(), &second.to_string())) else { return Ok(()) };
        let diff = crate::diff(&a, &b);
        if !diff.is_wider() {
            for query in queries() {
                prop_assert!(is_allowed(&a, &query) || !is_allowed(&b, &query), "{query} is new and not in {diff:?}");
            }
        }
    }

    #[test]
    fn decide_agrees_with_a_naive_oracle(value in overrides(), url in select(URLS)) {
        let Ok(policy) = try_policy(&operated(), &value.to_string()) else { return Ok(()) };
        prop_assert_eq!(fetch_allowed(&policy, url) || asks(&policy, url), oracle(&value, url), "{}", url);
    }

    #[test]
    fn no_text_makes_reading_deciding_or_explaining_panic(text in "[a-z0-9*.:/\\[\\]{}@%\\-, '\"\\u{ff11}\\u{3002}]{0,60}") {
        let _ = HostRule::parse(&text, Purpose::Grant);
        let _ = crate::GuestPath::parse(&text);
        let _ = crate::PathGlob::parse(&text);
        if let Ok(tree) = parse("d", &text, Format::Yaml, Bounds::WRITTEN_BY_HAND) {
            let _ = Layer::read("d", &tree, LayerName::Tool);
        }
        let policy = try_policy(&operated(), "network: strict\nfileRead: true").unwrap();
        for query in [format!("fetch {text}"), format!("fetch http://{text}"), format!("read {text}"), text.clone()] {
            if let Ok(query) = Query::parse(&query) {
                let _ = explain(&policy, &query).to_json();
            }
        }
    }

    #[test]
    fn a_host_rule_reads_back_what_it_writes(text in "(\\*\\.)?[a-z0-9]{1,8}(\\.[a-z0-9]{1,8}){0,3}(:[0-9]{1,5})?") {
        if let Ok(rule) = HostRule::parse(&text, Purpose::Refuse) {
            prop_assert_eq!(HostRule::parse(&rule.to_string(), Purpose::Refuse), Ok(rule));
        }
    }

    #[test]
    fn a_plain_path_never_leaves_its_start(text in "(/|\\.|\\.\\.|[a-z]){0,12}") {
        if let Ok(path) = crate::GuestPath::parse(&text) {
            let shown = path.to_string();
            prop_assert!(!shown.split('/').any(|part| part == ".."), "{shown}");
            prop_assert_eq!(crate::GuestPath::parse(&shown).unwrap(), path);
        }
    }
}

fn asks(policy: &EffectivePolicy, url: &str) -> bool {
    matches!(policy.decide(&crate::FetchQuestion::get(url), Answers::default()), crate::Decision::Ask(_))
}

/// The network policy once more, as naively as possible, on the texts themselves.
fn oracle(overrides: &Value, url: &str) -> bool {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (authority, _) = rest.split_once('/').unwrap();
    let default = if scheme == "https" { "443" } else { "80" };
    let (host, port) = authority.split_once(':').unwrap_or((authority, default));
    let never = host.ends_with(".corp.example") || host.starts_with("10.9.");
    let metadata = host == "169.254.169.254";
    let private = host.starts_with("10.") || host.starts_with("127.");
    if never
        || metadata
        || overrides["addDeny"].as_array().is_some_and(|list| list.contains(&json!("net.fetch")))
    {
        return false;
    }
    match overrides["network"].as_str().unwrap_or("blocked") {
        "strict" => !private,
        "open" => true,
        "allowlist" => overrides["hosts"].as_array().into_iter().flatten().any(|entry| {
            let marked = entry["private"] == json!(true);
            let text = entry.as_str().or(entry["host"].as_str()).unwrap();
            let (pattern, wanted) = text.split_once(':').unwrap_or((text, default));
            let named = match (pattern, pattern.strip_prefix('*')) {
                ("*", _) => true,
                ("10.0.0.0/8", _) => host.starts_with("10."),
                ("8.8.8.0/24", _) => host.starts_with("8.8.8."),
                (_, Some(suffix)) => host.ends_with(suffix),
                (exact, None) => host == exact,
            };
            named && port == wanted && (marked || !private)
        }),
        _ => false,
    }
}

#[test]
fn the_generators_make_policies_that_resolve_and_policies_that_do_not() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut share = |strategy: BoxedStrategy<Value>| {
        (0..200)
            .filter(|_| {
                let value = strategy.new_tree(&mut runner).unwrap().current();
                try_policy(&Arc::new(Baseline::shipped()), &value.to_string()).is_ok()
            })
            .count()
    };
    // Otherwise the properties above would hold for nothing.
    let (peaceful, any) = (share(peaceful().boxed()), share(overrides().boxed()));
    assert!(peaceful > 100, "{peaceful} of 200 peaceful ones resolve");
    assert!((20..180).contains(&any), "{any} of 200 arbitrary ones resolve");
}

/// Entries of an allow-list that code and commands can both name.
const BOTH: &[&str] = &["a.test", "b.test:8443", "*.a.test", "1.1.1.1", "c.a.test:*"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A command runs a program, which is L1 by itself; beside that its kind adds nothing.
    #[test]
    fn equal_powers_have_equal_levels_whatever_the_kind(
        network in select(&["blocked", "allowlist", "strict"][..]),
        hosts in subsequence(BOTH, 1..4),
        (reads, writes) in select(&[(false, false), (true, false), (true, true)][..]),
        secrets in subsequence(&["TOKEN", "KEY"][..], 0..=2),
    ) {
        let secrets = secrets.into_iter().map(str::to_owned).collect();
        let exposure = Exposure { unsealed_secrets: secrets, callees: Vec::new() };
        let mut overrides = json!({"network": network, "fileRead": reads, "fileWrite": writes});
        if network == "allowlist" {
            overrides["hosts"] = json!(hosts);
        }
        let code = try_policy(&baseline(), &overrides.to_string()).unwrap().exposed_to(exposure.clone());
        let rules = hosts.iter().map(|host| HostRule::parse(host, Purpose::Grant).unwrap());
        let posture = CommandPosture {
            tier: Tier::Container,
            place: CommandPlace::Here,
            network: match network {
                "blocked" => CommandNetwork::None,
                "allowlist" => CommandNetwork::Allow(rules.collect()),
                _ => CommandNetwork::Full,
            },
            private: Vec::new(),
            mounts: match (reads, writes) {
                (_, true) => vec![MountMode::ReadWrite],
                (true, false) => vec![MountMode::ReadOnly],
                (false, false) => Vec::new(),
            },
        };
        let (of_code, of_command) = (risk(&code, &baseline()), command_risk(&posture, &exposure));
        prop_assert_eq!(of_command.level, of_code.level.max(RiskLevel::L1), "{:?} {:?}", posture, of_command);
        // A weaker wall never lowers it.
        let weaker = CommandPosture { tier: Tier::Process, ..posture };
        prop_assert!(command_risk(&weaker, &exposure).level >= of_command.level);
    }

    /// One more entry never lowers a level, and neither does a block written as its two halves.
    #[test]
    fn a_longer_list_of_hosts_is_never_rated_lower(
        prefix in 1_u8..=31,
        more in subsequence(HOSTS, 0..3),
        private in subsequence(PRIVATE, 0..3),
        is_private in any::<bool>(),
    ) {
        let start = if is_private { 0x0a00_0000_u32 } else { 0x0800_0000 };
        let block = ipnet::Ipv4Net::new(start.into(), prefix).unwrap().trunc();
        let entry = |host: &str| json!({"host": host, "private": is_private});
        let rest: Vec<Value> = more.iter().map(|host| json!(host))
            .chain(private.iter().map(|host| json!({"host": host, "private": true}))).collect();
        let level = |hosts: Vec<Value>| {
            let all: Vec<Value> = hosts.into_iter().chain(rest.iter().cloned()).collect();
            let overrides = json!({"network": "allowlist", "hosts": all});
            try_policy(&baseline(), &overrides.to_string()).ok().map(|policy| risk(&policy, &baseline()).level)
        };
        let halves: Vec<Value> =
            block.subnets(prefix + 1).unwrap().map(|half| entry(&half.to_string())).collect();
        let (none, whole, split) = (level(Vec::new()), level(vec![entry(&block.to_string())]), level(halves));
        if let (Some(whole), Some(split)) = (whole, split) {
            prop_assert!(split >= whole, "{block}: {whole} and {split}");
            if let Some(none) = none {
                prop_assert!(whole >= none, "{block}: {none} and {whole}");
            }
        }
    }
}
