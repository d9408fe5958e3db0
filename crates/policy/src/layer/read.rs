//! Document to layer. Every block is closed: an unknown field is a mistake with "did you mean".

use std::sync::Arc;

use bailiwick_document::{DocPath, Entry, Node, Problems, Reader, Record, Value};
use bailiwick_types::{LayerName, LimitKind, ProfileName, did_you_mean, shortened};

use super::{Layer, LimitRequest, Sourced};
use crate::capability::CapabilityPattern;
use crate::host::{HostRule, PathGlob, PortRule, Purpose};
use crate::network::{Method, MethodSet};
use crate::{AskWhen, GuestPath, NetworkMode};

/// The fields of an overrides block, older names included.
const OVERRIDES: [&str; 14] = [
    "addAllow",
    "removeAllow",
    "addDeny",
    "removeDeny",
    "network",
    "hosts",
    "fileRead",
    "fileWrite",
    "destructive",
    "basePath",
    "ask",
    "networkMode",
    "hostsAllow",
    "fsBasePath",
];

/// What one document says about a tool's policy: its overrides, and what stands beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPolicy {
    /// The profile it names.
    pub profile: Option<Sourced<ProfileName>>,
    /// Its overrides and limits.
    pub layer: Layer,
}

impl ToolPolicy {
    /// Reads an overrides block, or a document with `profile`, `overrides` and `limits` as a tool has them.
    pub fn read(document: &str, tree: &Node) -> Result<Self, Problems> {
        const BESIDE: [&str; 3] = ["profile", "overrides", "limits"];
        if !BESIDE.iter().any(|field| tree.get(field).is_some()) {
            return Layer::read(document, tree, LayerName::Tool).map(|layer| Self { profile: None, layer });
        }
        let mut reader = Reader::new(document);
        let root = Entry { node: tree, path: DocPath::root() };
        let mut policy = Self { profile: None, layer: Layer::empty(LayerName::Tool, document) };
        if let Some(mut record) = reader.record(&root) {
            if let Some(entry) = record.take("profile") {
                policy.profile = profile_name(&mut reader, &entry);
            }
            if let Some(entry) = record.take("overrides")
                && let Some(mut overrides) = reader.record(&entry)
            {
                policy.layer.read_overrides(&mut reader, &mut overrides);
                overrides.close(&mut reader);
            }
            if let Some(entry) = record.take("limits") {
                policy.layer.read_limits(&mut reader, &entry);
            }
            record.close_with(&mut reader, |field| {
                OVERRIDES
                    .contains(&field)
                    .then(|| format!("move it below `overrides:` ({field} is one of its fields)"))
            });
        }
        reader.finish(policy)
    }
}

/// Reads the name of a profile.
pub fn profile_name(reader: &mut Reader, entry: &Entry<'_>) -> Option<Sourced<ProfileName>> {
    let text = reader.text(entry)?;
    match ProfileName::parse(text) {
        Ok(name) => Some(Sourced::read(entry, name)),
        Err(error) => {
            reader.wrong(entry, error.to_string(), None);
            None
        }
    }
}

/// Entries of one capability list. The registry is far smaller.
const MOST_PATTERNS: usize = 200;

/// Entries of one host list. Each is looked at for every request.
const MOST_HOSTS: usize = 500;

/// Path patterns of one host rule, and of all rules of one list.
const MOST_PATHS: usize = 50;
const MOST_PATHS_IN_ALL: usize = 500;

impl Layer {
    /// Reads a document that is a tool's `overrides` block and nothing else.
    ///
    /// ```
    /// use bailiwick_document::{parse, Bounds, Format};
    /// use bailiwick_policy::Layer;
    /// use bailiwick_types::LayerName;
    /// let text = "network: allowlist\nhosts: [api.github.com]\n";
    /// let tree = parse("o.yaml", text, Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
    /// let layer = Layer::read("o.yaml", &tree, LayerName::Tool)?;
    /// assert!(!layer.is_empty());
    /// # Ok::<(), bailiwick_document::Problems>(())
    /// ```
    pub fn read(document: &str, tree: &Node, name: LayerName) -> Result<Self, Problems> {
        let mut reader = Reader::new(document);
        let root = Entry { node: tree, path: DocPath::root() };
        let mut layer = Self::empty(name, document);
        if let Some(mut record) = reader.record(&root) {
            layer.read_overrides(&mut reader, &mut record);
            record.close(&mut reader);
        }
        reader.finish(layer)
    }

    /// Takes the fields of an overrides block out of a record, into this layer.
    pub fn read_overrides(&mut self, reader: &mut Reader, record: &mut Record<'_>) {
        for (field, target) in [
            ("addAllow", &mut self.add_allow),
            ("removeAllow", &mut self.remove_allow),
            ("addDeny", &mut self.add_deny),
            ("removeDeny", &mut self.remove_deny),
        ] {
            if let Some(entry) = record.take(field) {
                target.extend(patterns(reader, &entry));
            }
        }
        if let Some(entry) = record.take_alias(reader, "network", "networkMode") {
            self.network = reader.word(&entry, &NetworkMode::WORDS).map(|mode| Sourced::read(&entry, mode));
        }
        if let Some(entry) = record.take_alias(reader, "hosts", "hostsAllow") {
            self.hosts = hosts(reader, &entry, Purpose::Grant);
        }
        for (field, target) in [
            ("fileRead", &mut self.file_read),
            ("fileWrite", &mut self.file_write),
            ("destructive", &mut self.destructive),
        ] {
            if let Some(entry) = record.take(field) {
                *target = reader.flag(&entry).map(|flag| Sourced::read(&entry, flag));
            }
        }
        if let Some(entry) = record.take_alias(reader, "basePath", "fsBasePath") {
            self.base_path = path(reader, &entry).map(|path| Sourced::read(&entry, path));
        }
        if let Some(entry) = record.take("ask")
            && let Some(mut ask) = reader.record(&entry)
        {
            for (field, target) in [("net", &mut self.ask_net), ("fs", &mut self.ask_fs)] {
                if let Some(entry) = ask.take(field) {
                    *target = reader.word(&entry, &AskWhen::WORDS).map(|when| Sourced::read(&entry, when));
                }
            }
            ask.close(reader);
        }
    }

    /// Takes a `limits` block into this layer.
    pub fn read_limits(&mut self, reader: &mut Reader, entry: &Entry<'_>) {
        let Some(record) = reader.record(entry) else { return };
        for (key, entry) in record.entries() {
            match LimitKind::from_key(&key.text) {
                Some(kind) => {
                    if let Some(request) = limit(reader, &entry, kind) {
                        self.limits.push(Sourced::read(&entry, request));
                    }
                }
                None => unknown_limit(reader, key, &entry),
            }
        }
    }

    /// Asks for one limit, in place of what the layer asked for before.
    pub fn set_limit(&mut self, request: Sourced<LimitRequest>) {
        self.limits.retain(|other| other.value.kind() != request.value.kind());
        self.limits.push(request);
    }

    /// The `add_allow`, `add_deny` and `hosts` statements of an operator's file, whose keys have other names.
    pub fn set_lists(
        &mut self,
        allow: Vec<Sourced<CapabilityPattern>>,
        deny: Vec<Sourced<CapabilityPattern>>,
        hosts: Vec<Sourced<Arc<HostRule>>>,
    ) {
        self.add_allow = allow;
        self.add_deny = deny;
        self.hosts = hosts;
    }

    /// The network mode of an operator's file.
    pub fn set_network(&mut self, mode: Sourced<NetworkMode>) {
        self.network = Some(mode);
    }

    /// When an operator's file wants a person asked.
    pub fn set_ask(&mut self, net: Option<Sourced<AskWhen>>, fs: Option<Sourced<AskWhen>>) {
        self.ask_net = net;
        self.ask_fs = fs;
    }
}

/// Reads one limit: a number, or a text with a unit.
pub fn limit(reader: &mut Reader, entry: &Entry<'_>, kind: LimitKind) -> Option<LimitRequest> {
    let value = match &entry.node.value {
        Value::Text(text) => match kind.unit().parse(text) {
            Ok(value) => value,
            Err(error) => {
                reader.wrong(entry, format!("`{}`: {error}", entry.path), None);
                return None;
            }
        },
        Value::Number(raw) if kind.unit() == bailiwick_types::Unit::Milliseconds => {
            let hint = format!("write \"{raw}ms\" or \"{raw}s\"");
            reader.wrong(entry, format!("`{}` needs a unit", entry.path), Some(hint));
            return None;
        }
        _ => reader.count(entry)?,
    };
    match LimitRequest::new(kind, value) {
        Ok(request) => Some(request),
        Err(error) => {
            reader.wrong(entry, format!("`{}`: {error}", entry.path), None);
            None
        }
    }
}

fn unknown_limit(reader: &mut Reader, key: &bailiwick_document::Key, entry: &Entry<'_>) {
    if reader.has_told_enough() {
        return reader.one_more();
    }
    let known = || LimitKind::ALL.iter().map(|kind| kind.key());
    let hint = did_you_mean(&key.text, known(), || {
        format!("known limits: {}", known().collect::<Vec<_>>().join(", "))
    });
    reader.problem(bailiwick_document::Problem {
        place: Some(key.place),
        path: entry.path.clone(),
        message: format!("unknown limit `{}`", shortened(&key.text)),
        hint: Some(hint),
    });
}

/// Reads a list of capability patterns.
pub fn patterns(reader: &mut Reader, entry: &Entry<'_>) -> Vec<Sourced<CapabilityPattern>> {
    let mut patterns = Vec::new();
    for item in reader.list_up_to(entry, MOST_PATTERNS) {
        let Some(text) = reader.text(&item) else { continue };
        match CapabilityPattern::parse(text) {
            Ok(pattern) => patterns.push(Sourced::read(&item, pattern)),
            Err(error) => reader.wrong(&item, error.to_string(), Some(error.hint)),
        }
    }
    patterns
}

/// Reads a path.
pub fn path(reader: &mut Reader, entry: &Entry<'_>) -> Option<GuestPath> {
    let text = reader.text(entry)?;
    match GuestPath::parse(text) {
        Ok(path) => Some(path),
        Err(error) => {
            reader.wrong(entry, format!("`{}`: {error}", entry.path), None);
            None
        }
    }
}

/// Reads a list of host rules.
pub fn hosts(reader: &mut Reader, entry: &Entry<'_>, purpose: Purpose) -> Vec<Sourced<Arc<HostRule>>> {
    let mut rules: Vec<Sourced<Arc<HostRule>>> = Vec::new();
    let mut paths = 0;
    for item in reader.list_up_to(entry, MOST_HOSTS) {
        // Counted before they are compiled.
        paths += match item.node.get("paths").map(|node| &node.value) {
            Some(Value::List(items)) => items.len(),
            _ => 0,
        };
        if paths > MOST_PATHS_IN_ALL {
            reader.wrong(
                &item,
                format!("`{}` has more than {MOST_PATHS_IN_ALL} paths in all", entry.path),
                None,
            );
            break;
        }
        let rule = match &item.node.value {
            Value::Map(_) => read_host_record(reader, &item, purpose),
            _ => read_host_text(reader, &item, purpose),
        };
        rules.extend(rule.map(|rule| Sourced::read(&item, Arc::new(rule))));
    }
    rules
}

fn read_host_text(reader: &mut Reader, entry: &Entry<'_>, purpose: Purpose) -> Option<HostRule> {
    let text = reader.text(entry)?;
    match HostRule::parse(text, purpose) {
        Ok(rule) => Some(rule),
        Err(error) => {
            reader.wrong(entry, error.to_string(), error.hint());
            None
        }
    }
}

fn read_host_record(reader: &mut Reader, entry: &Entry<'_>, purpose: Purpose) -> Option<HostRule> {
    let mut record = reader.record(entry)?;
    let host = record.take("host");
    let port = record.take("port");
    let methods = record.take("methods");
    let paths = record.take("paths");
    let private = record.take("private");
    record.close(reader);
    if purpose == Purpose::Refuse {
        // Nothing would consume them there, and a rule that says more than it does is worse than an error.
        for narrowing in [&methods, &paths, &private].into_iter().flatten() {
            let hint = Some("this list names whole hosts; write `host` and at most `port`".to_owned());
            reader.wrong(narrowing, format!("`{}` has no meaning here", narrowing.path), hint);
        }
    }

    let Some(host) = host else {
        reader.wrong(entry, format!("`{}` names no `host`", entry.path), None);
        return None;
    };
    let mut rule = read_host_text(reader, &host, purpose)?;
    if let Some(port) = port {
        if rule.port != PortRule::SchemeDefault {
            reader.wrong(&port, "the port is given twice: behind the host and as `port`", None);
        }
        rule.port = read_port(reader, &port)?;
    }
    if let Some(methods) = methods {
        rule.methods = read_methods(reader, &methods)?;
    }
    if let Some(paths) = paths {
        let items = reader.list_up_to(&paths, MOST_PATHS);
        if items.is_empty() {
            let hint = "leave `paths` out to mean every path".to_owned();
            reader.wrong(
                &paths,
                format!("`{}` is empty, so the rule can match nothing", paths.path),
                Some(hint),
            );
        }
        for item in items {
            let Some(text) = reader.text(&item) else { continue };
            match PathGlob::parse(text) {
                Ok(glob) => rule.paths.push(glob),
                Err(message) => reader.wrong(&item, message, None),
            }
        }
        rule.paths.sort();
        rule.paths.dedup();
    }
    if let Some(private) = private {
        rule.private = reader.flag(&private)?;
    }
    Some(rule)
}

fn read_port(reader: &mut Reader, entry: &Entry<'_>) -> Option<PortRule> {
    if matches!(&entry.node.value, Value::Text(text) if text == "*") {
        return Some(PortRule::Any);
    }
    let number = reader.count(entry)?;
    match u16::try_from(number) {
        Ok(port) if port != 0 => Some(PortRule::Exact(port)),
        _ => {
            reader.wrong(entry, format!("`{number}` is not a port (1 to 65535, or \"*\")"), None);
            None
        }
    }
}

fn read_methods(reader: &mut Reader, entry: &Entry<'_>) -> Option<MethodSet> {
    let mut methods = Vec::new();
    for item in reader.list(entry) {
        let text = reader.text(&item)?;
        match Method::parse(text) {
            Some(method) => methods.push(method),
            None => {
                let _ = reader.word(&item, &Method::WORDS);
            }
        }
    }
    let set = MethodSet::of(methods);
    if set.is_none() {
        let hint = "leave `methods` out to mean every method".to_owned();
        reader.wrong(
            entry,
            format!("`{}` lists no method, so the rule can match nothing", entry.path),
            Some(hint),
        );
    }
    set
}
