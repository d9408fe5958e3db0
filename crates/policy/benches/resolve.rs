//! How long a call waits for its policy: resolve and risk for a realistic tool, and one decision.

#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::hint::black_box;
use std::sync::Arc;

use bailiwick_document::{Bounds, Format, parse};
use bailiwick_policy::{Answers, Baseline, FetchQuestion, Layer, Profile, resolve, risk};
use bailiwick_types::{LayerName, ProfileName};

const PROFILE: &str = "network: allowlist\nhosts: [status.example.com, '*.example.org']\naddDeny: [random]\n";

const OVERRIDES: &str = r#"
network: allowlist
hosts:
  - api.github.com
  - "*.example.com"
  - {host: api.internal, port: 8443, private: true, methods: [GET], paths: ["/v1/**"]}
  - uploads.github.com
  - objects.example.net
  - "203.0.112.0/24"
fileRead: true
basePath: reports
addAllow: [timers]
removeDeny: [timers]
ask: {net: first}
"#;

fn main() {
    divan::main();
}

fn layer(text: &str, name: LayerName) -> Arc<Layer> {
    let tree = parse("bench.yaml", text, Format::Yaml, Bounds::WRITTEN_BY_HAND).expect("the document parses");
    Arc::new(Layer::read("bench.yaml", &tree, name).expect("the document is a layer"))
}

fn setting() -> (Arc<Baseline>, ProfileName, Arc<Layer>) {
    let name = ProfileName::parse("web").expect("a name");
    let mut baseline = Baseline::shipped();
    let profile = Profile { extends: None, layer: layer(PROFILE, LayerName::Profile(name.clone())) };
    baseline.profiles.insert(name.clone(), profile);
    (Arc::new(baseline), name, layer(OVERRIDES, LayerName::Tool))
}

#[divan::bench]
fn resolve_and_risk(bencher: divan::Bencher<'_, '_>) {
    let (baseline, profile, tool) = setting();
    bencher.bench(|| {
        let policy = resolve(black_box(&baseline), Some(&profile), Some(&tool)).expect("resolves");
        let risk = risk(&policy, &baseline);
        (policy, risk)
    });
}

#[divan::bench]
fn resolve_only(bencher: divan::Bencher<'_, '_>) {
    let (baseline, profile, tool) = setting();
    bencher.bench(|| resolve(black_box(&baseline), Some(&profile), Some(&tool)).expect("resolves"));
}

#[divan::bench]
fn decide_yes(bencher: divan::Bencher<'_, '_>) {
    let (baseline, profile, tool) = setting();
    let policy = resolve(&baseline, Some(&profile), Some(&tool)).expect("resolves");
    let question = FetchQuestion::get("https://api.github.com/repos/a/b");
    bencher.bench(|| policy.decide(black_box(&question), Answers { net: true, fs: true }));
}

#[divan::bench]
fn decide_no_with_its_fix(bencher: divan::Bencher<'_, '_>) {
    let (baseline, profile, tool) = setting();
    let policy = resolve(&baseline, Some(&profile), Some(&tool)).expect("resolves");
    let question = FetchQuestion::get("https://evil.test/");
    bencher.bench(|| policy.decide(black_box(&question), Answers::default()));
}

#[divan::bench]
fn read_the_document(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| layer(black_box(OVERRIDES), LayerName::Tool));
}
