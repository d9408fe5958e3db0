//! A command as a document writes it: fields in one order, what has its default left out.

use bailiwick_sandbox::{Image, Network};
use serde_json::{Map, Value, json};

use super::words::Item;
use super::{CommandBlock, Gives, Runs};

impl CommandBlock {
    pub(crate) fn to_json(&self) -> Value {
        let Self { runs, stdin, env, image, min_tier, network, mounts, limits, output, ok_exit } = self;
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        match runs {
            Runs::Argv(items) => {
                put("argv", items.iter().map(of_item).collect());
            }
            Runs::Python(script) => {
                put("language", json!("python"));
                put("script", json!(script));
            }
        }
        if let Some(stdin) = stdin {
            put("stdin", json!(stdin.written()));
        }
        if !env.is_empty() {
            let env: Map<String, Value> =
                env.iter().map(|(name, template)| (name.clone(), json!(template.written()))).collect();
            put("env", Value::Object(env));
        }
        if let Image::Named(name) = image {
            put("image", json!(name));
        }
        if let Some(tier) = min_tier {
            put("minTier", json!(tier.name()));
        }
        match network {
            Network::None => {}
            Network::Allow(hosts) => {
                put("network", json!({"allow": hosts}));
            }
            Network::Git | Network::Full | Network::Host => {
                put("network", json!(network.mode()));
            }
        }
        if !mounts.is_empty() {
            put("mounts", mounts.iter().map(|mount| json!(mount.to_string())).collect());
        }
        if !limits.is_empty() {
            let limits: Map<String, Value> =
                limits.iter().map(|(limit, text)| (limit.name().to_owned(), json!(text))).collect();
            put("limits", Value::Object(limits));
        }
        if *output != Gives::default() {
            put("output", json!(output.word()));
        }
        if *ok_exit != [0] {
            put("okExit", json!(ok_exit));
        }
        Value::Object(map)
    }
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::Word(word) => json!(word.written()),
        Item::When { param, words } => {
            json!({"when": param, "words": words.iter().map(super::Word::written).collect::<Vec<_>>()})
        }
    }
}
