//! `bailiwick policy show | explain | diff`.

use bailiwick_policy::{
    Answer, AskWhen, Capability, Diff as PolicyDiff, EffectivePolicy, Explanation, Method, NetworkMode,
    Query, diff as compare, explain as ask, risk,
};
use bailiwick_types::{LimitKind, Risk, RiskLevel};
use serde_json::{Value, json};

use crate::documents;
use crate::failure::Failure;
use crate::render::{Screen, bad, faint, good, level, plain, strong, warning};
use crate::resolved::Session;
use crate::typed::{Diff, Explain, Show};

/// `bailiwick policy show`
pub(crate) fn show(screen: &mut Screen, session: &Session, what: &Show) -> Result<u8, Failure> {
    let policy = documents::effective(session, &what.subject)?;
    let risk = badge(session, risk(&policy, policy.baseline()));
    if screen.wants_json() {
        let mut json = policy.to_json();
        if let Value::Object(map) = &mut json {
            map.insert("risk".to_owned(), json!(risk));
            map.insert("approvalRequired".to_owned(), json!(risk.credited.is_some()));
            map.insert("publishable".to_owned(), json!(risk.level <= policy.baseline().ceilings.risk));
        }
        screen.json(&json);
        return Ok(0);
    }
    show_risk(screen, session, &policy, &risk);
    show_network(screen, &policy);
    show_files(screen, &policy);
    screen.field("capabilities", &[plain(&policy.allowed().names())]);
    screen.field("deny entries", &[plain(&policy.denied().names())]);
    show_limits(screen, session, &policy);
    let layers: Vec<String> =
        policy.layers().map(|(name, document)| format!("{name} ({document})")).collect();
    screen.field("layers", &[faint(&layers.join(" → "))]);
    Ok(0)
}

/// The badge, with the credited level where a person is asked before every call.
pub(crate) fn badge(session: &Session, mut risk: Risk) -> Risk {
    if risk.level >= session.loaded.settings.approvals.auto_from {
        risk.credited = Some(risk.level.credited());
    }
    risk
}

fn show_risk(screen: &mut Screen, session: &Session, policy: &EffectivePolicy, risk: &Risk) {
    screen.field("risk", &[level(risk.level), plain("  "), plain(risk.level.advice())]);
    for reason in &risk.reasons {
        let text = format!(" {}: {}", reason.signal, reason.detail);
        screen.field("", &[level(reason.level), plain(&text)]);
    }
    let auto_from = session.loaded.settings.approvals.auto_from;
    match risk.credited {
        Some(credited) => {
            let text = format!("required (from {auto_from} on); credited ");
            screen.field("approval", &[plain(&text), level(credited)]);
        }
        None => screen.field("approval", &[plain(&format!("not required (from {auto_from} on)"))]),
    }
    let ceiling = policy.baseline().ceilings.risk;
    if risk.level > ceiling {
        screen.field(
            "publishing",
            &[bad("not possible: "), plain(&format!("the operator's ceiling is {ceiling}"))],
        );
    }
}

fn show_network(screen: &mut Screen, policy: &EffectivePolicy) {
    let mode = policy.network();
    let word = if mode == NetworkMode::Blocked { good(mode.word()) } else { warning(mode.word()) };
    screen.field("network", &[word, faint(&format!("  ({})", policy.network_layer()))]);
    for (rule, layer) in policy.hosts() {
        screen.field("", &[plain(&rule.describe()), faint(&format!("  ({layer})"))]);
    }
    for (label, rules) in [("never", &policy.baseline().never), ("reserved", &policy.baseline().reserved)] {
        if !rules.is_empty() {
            let all: Vec<String> = rules.iter().map(|rule| rule.value.describe()).collect();
            screen.field(label, &[plain(&all.join(", "))]);
        }
    }
    show_asking(screen, policy.asks_before_requests());
}

fn show_files(screen: &mut Screen, policy: &EffectivePolicy) {
    let powers =
        [(Capability::FsRead, "read"), (Capability::FsWrite, "write"), (Capability::FsDelete, "delete")];
    let on: Vec<&str> =
        powers.iter().filter(|(power, _)| policy.allowed().contains(*power)).map(|(_, word)| *word).collect();
    if on.is_empty() {
        screen.field("files", &[good("none")]);
        return;
    }
    let place = policy.base_path().map_or_else(String::new, |base| format!(" under {base}"));
    screen.field("files", &[warning(&on.join(", ")), plain(&place)]);
    let roots = policy.read_roots();
    if !roots.is_empty() {
        screen.field("", &[plain("readable: "), plain(&roots.join(", "))]);
    }
    show_asking(screen, policy.asks_before_files());
}

fn show_asking(screen: &mut Screen, when: Option<AskWhen>) {
    if let Some(when) = when {
        screen.field("", &[plain("a person is asked: "), strong(when.word())]);
    }
}

fn show_limits(screen: &mut Screen, session: &Session, policy: &EffectivePolicy) {
    let all: Vec<String> = LimitKind::ALL
        .iter()
        .map(|kind| {
            let value = format!("{} {}", kind.key(), kind.unit().format(policy.limits().get(*kind)));
            if session.verbose { format!("{value} ({})", policy.limit_layer(*kind)) } else { value }
        })
        .collect();
    for (index, part) in all.chunks(5).enumerate() {
        screen.field(if index == 0 { "limits" } else { "" }, &[plain(&part.join(", "))]);
    }
}

/// `bailiwick policy explain`
pub(crate) fn explain(screen: &mut Screen, session: &Session, what: &Explain) -> Result<u8, Failure> {
    let query = Query::parse(&what.query)?;
    let policy = documents::effective(session, &what.subject)?;
    let mut explanation = ask(&policy, &query);
    explanation.risk = badge(session, explanation.risk);
    let code = if explanation.answer == Answer::No { 3 } else { 0 };
    if screen.wants_json() {
        screen.json(&explanation.to_json());
    } else {
        tell(screen, &explanation, policy.baseline().ceilings.risk);
    }
    Ok(code)
}

fn tell(screen: &mut Screen, explanation: &Explanation, ceiling: RiskLevel) {
    let Explanation { answer, asked, capability, rule, layer, note, denial, risk } = explanation;
    let word = match answer {
        Answer::Yes => good("yes"),
        Answer::Ask => warning("ask"),
        Answer::No => bad("no"),
    };
    screen.field("answer", &[word, plain("  "), strong(asked)]);
    screen.field("capability", &[plain(capability.name())]);
    screen.field("rule", &[plain(rule)]);
    screen.field("layer", &[plain(&layer.to_string())]);
    if let Some(note) = note {
        screen.field("note", &[plain(note)]);
    }
    let Some(denial) = denial else {
        screen.field("risk", &[level(risk.level)]);
        return;
    };
    let reason = format!("{}: {}", denial.reason, denial.reason.meaning());
    screen.field("reason", &[plain(&reason)]);
    if let Some(fix) = &denial.fix {
        screen.field("fix", &[plain("in the overrides:")]);
        for (key, value) in fix.overrides.as_object().into_iter().flatten() {
            screen.field("", &[strong(&format!("  {key}: {}", as_yaml(value)))]);
        }
        screen.field("risk", &change(risk.level, fix.risk));
        if fix.risk > ceiling {
            let why = format!("the operator's ceiling is {ceiling}");
            screen.field("", &[bad("not publishable: "), plain(&why)]);
        }
    } else {
        screen.field("fix", &[plain("none: nothing a tool declares would allow it")]);
        screen.field("risk", &[level(risk.level)]);
    }
}

/// A value as a person would write it into a YAML document: quotes only where they are needed.
pub(crate) fn as_yaml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(as_yaml).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let fields: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}: {}", as_yaml(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::String(text) => {
            let plain = text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
                && !matches!(text.as_str(), "true" | "false" | "null");
            if plain || Method::parse(text).is_some() { text.clone() } else { value.to_string() }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn change(before: RiskLevel, after: RiskLevel) -> [crate::render::Span<'static>; 3] {
    [level(before), plain(if before == after { " stays " } else { " → " }), level(after)]
}

/// `bailiwick policy diff`
pub(crate) fn diff(screen: &mut Screen, session: &Session, what: &Diff) -> Result<u8, Failure> {
    let policy = |path: &std::path::Path| -> Result<EffectivePolicy, Failure> {
        documents::resolved(session, Some(documents::tool_policy(path)?), what.profile.as_deref())
    };
    let stdin = std::path::Path::new("-");
    if what.before == stdin && what.after == stdin {
        return Err(Failure::TwiceStdin);
    }
    let (before, after) = (policy(&what.before)?, policy(&what.after)?);
    let mut diff = compare(&before, &after);
    diff.risk_before = badge(session, diff.risk_before);
    diff.risk_after = badge(session, diff.risk_after);
    if screen.wants_json() {
        screen.json(&diff.to_json());
        return Ok(0);
    }
    show_diff(screen, &diff);
    Ok(0)
}

/// What is newly allowed and newly denied, and the change of risk.
pub(crate) fn show_diff(screen: &mut Screen, diff: &PolicyDiff) {
    for line in &diff.newly_allowed {
        screen.line(&[warning("+ "), plain(line)]);
    }
    for line in &diff.newly_denied {
        screen.line(&[good("- "), plain(line)]);
    }
    if diff.is_empty() {
        screen.line(&[plain("the same powers")]);
    }
    screen.field("risk", &change(diff.risk_before.level, diff.risk_after.level));
    for reason in diff.risk_after.reasons.iter().filter(|reason| !diff.risk_before.reasons.contains(reason)) {
        screen.field("", &[level(reason.level), plain(&format!(" {}: {}", reason.signal, reason.detail))]);
    }
}
