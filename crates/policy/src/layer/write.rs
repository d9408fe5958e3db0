//! Layer to document: the overrides block that says what a layer says.

use serde_json::{Map, Value, json};

use super::{Layer, Sourced};
use crate::capability::CapabilityPattern;

impl Layer {
    /// The layer as an `overrides` block. Limits stand beside that block, not in it, and are left out.
    pub fn to_overrides(&self) -> Value {
        let Self {
            name: _,
            document: _,
            add_allow,
            remove_allow,
            add_deny,
            remove_deny,
            network,
            hosts,
            file_read,
            file_write,
            destructive,
            base_path,
            ask_net,
            ask_fs,
            limits: _,
        } = self;
        let mut map = Map::new();
        if let Some(mode) = network {
            map.insert("network".to_owned(), json!(mode.value.word()));
        }
        if !hosts.is_empty() {
            let rules: Vec<Value> = hosts.iter().map(|rule| rule.value.to_json()).collect();
            map.insert("hosts".to_owned(), Value::Array(rules));
        }
        for (key, flag) in [("fileRead", file_read), ("fileWrite", file_write), ("destructive", destructive)]
        {
            if let Some(flag) = flag {
                map.insert(key.to_owned(), json!(flag.value));
            }
        }
        if let Some(path) = base_path {
            map.insert("basePath".to_owned(), json!(path.value.to_string()));
        }
        for (key, patterns) in [
            ("addAllow", add_allow),
            ("removeAllow", remove_allow),
            ("addDeny", add_deny),
            ("removeDeny", remove_deny),
        ] {
            if !patterns.is_empty() {
                map.insert(key.to_owned(), json!(texts(patterns)));
            }
        }
        let mut ask = Map::new();
        for (key, when) in [("net", ask_net), ("fs", ask_fs)] {
            if let Some(when) = when {
                ask.insert(key.to_owned(), json!(when.value.word()));
            }
        }
        if !ask.is_empty() {
            map.insert("ask".to_owned(), Value::Object(ask));
        }
        Value::Object(map)
    }
}

impl Layer {
    /// The limits it asks for, as a `limits` block.
    pub fn to_limits(&self) -> Value {
        let mut map = Map::new();
        for limit in &self.limits {
            let (kind, value) = (limit.value.kind(), limit.value.value());
            let written = match kind.unit() {
                bailiwick_types::Unit::Count => json!(value),
                unit => json!(unit.format(value)),
            };
            map.insert(kind.key().to_owned(), written);
        }
        Value::Object(map)
    }
}

fn texts(patterns: &[Sourced<CapabilityPattern>]) -> Vec<&str> {
    patterns.iter().map(|pattern| pattern.value.text()).collect()
}
