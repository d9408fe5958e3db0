//! The block `command` of a document: every field checked, every mistake told with its place.

use std::collections::BTreeMap;

use bailiwick_document::{Entry as Field, Reader, Record, Value as Written};
use bailiwick_sandbox::{Image, Limit, Limits, Mount, Network, SandboxSpec, SpecError, check_mounts};
use bailiwick_types::{Tier, did_you_mean, shortened};

use super::template::{Fault, Template, known};
use super::words::{self, Item, Word};
use super::{CommandBlock, Gives, MOST_EXITS, MOST_VARIABLES, MOST_WORDS, Runs, python};
use crate::param::Param;
use crate::statics::Static;
use crate::tool::MOST_CODE;

/// The languages of a script.
const LANGUAGES: &[(&str, ())] = &[("python", ())];

/// The tiers, as documents write them.
const TIERS: [(&str, Tier); 4] = [
    (Tier::Process.name(), Tier::Process),
    (Tier::Container.name(), Tier::Container),
    (Tier::UserKernel.name(), Tier::UserKernel),
    (Tier::MicroVm.name(), Tier::MicroVm),
];

/// What a command may refer to.
pub(crate) struct Around<'a> {
    pub(crate) params: &'a [Param],
    pub(crate) statics: &'a [Static],
}

impl CommandBlock {
    pub(crate) fn read(reader: &mut Reader, entry: &Field<'_>, around: &Around<'_>) -> Option<Self> {
        let mut record = reader.record(entry)?;
        let runs = read_runs(reader, entry, &mut record, around);
        let stdin = record.take("stdin").and_then(|field| read_template(reader, &field, around.params));
        let env = record.take("env").map_or_else(Vec::new, |field| read_env(reader, &field, around));
        let image = record.take("image").and_then(|field| reader.text(&field).map(str::to_owned));
        let min_tier = record.take("minTier").and_then(|field| reader.word(&field, &TIERS));
        let network =
            record.take("network").map_or(Some(Network::None), |field| read_network(reader, &field));
        let mounts = record.take("mounts").map_or_else(Vec::new, |field| read_mounts(reader, &field));
        let limits = record.take("limits").map_or_else(BTreeMap::new, |field| read_limits(reader, &field));
        let gives = record.take("output");
        let exits = record.take("okExit");
        if let Some(Runs::Python(_)) = runs {
            for field in [&gives, &exits].into_iter().flatten() {
                let hint = "leave it out: the result of a script is what it returns".to_owned();
                reader.wrong(field, format!("`{}` is for `argv`", field.path), Some(hint));
            }
        }
        let output = gives.and_then(|field| reader.word(&field, &Gives::WORDS)).unwrap_or_default();
        let ok_exit = exits.map_or_else(|| vec![0], |field| read_exits(reader, &field));
        record.close(reader);
        let block = Self {
            runs: runs?,
            stdin,
            env,
            image: image.map_or(Image::Host, Image::Named),
            min_tier,
            network: network?,
            mounts,
            limits,
            output,
            ok_exit,
        };
        block.fits_a_sandbox(reader, entry);
        Some(block)
    }

    /// Whether all parts of it can be in one sandbox, but for what depends on arguments.
    fn fits_a_sandbox(&self, reader: &mut Reader, entry: &Field<'_>) {
        let spec = SandboxSpec {
            image: self.image.clone(),
            network: self.network.clone(),
            env: self.env.iter().map(|(name, _)| (name.clone(), String::new())).collect(),
            ..SandboxSpec::default()
        };
        let Err(error) = spec.check().and_then(|()| check_mounts(&self.mounts, &[])) else { return };
        let part = match &error {
            SpecError::Image { .. } => "image",
            SpecError::Network(_) | SpecError::NoHosts | SpecError::Host { .. } => "network",
            SpecError::VariableName(_)
            | SpecError::VariableValue(_)
            | SpecError::VariableTooLong { .. }
            | SpecError::Variables { .. } => "env",
            _ => "mounts",
        };
        let node = entry.node.get(part).unwrap_or(entry.node);
        reader.wrong(&Field { node, path: entry.path.field(part) }, error.to_string(), None);
    }
}

fn wrong(reader: &mut Reader, field: &Field<'_>, fault: Fault) {
    let Fault { message, hint } = fault;
    reader.wrong(field, message, Some(hint));
}

fn read_runs(
    reader: &mut Reader,
    entry: &Field<'_>,
    record: &mut Record<'_>,
    around: &Around<'_>,
) -> Option<Runs> {
    let (argv, language, script) = (record.take("argv"), record.take("language"), record.take("script"));
    match (argv, language, script) {
        (Some(argv), None, None) => read_argv(reader, &argv, around.params).map(Runs::Argv),
        (None, Some(language), Some(script)) => {
            let known = reader.word(&language, LANGUAGES);
            let text = reader.text(&script)?;
            if text.len() > MOST_CODE {
                let message = format!("the script has {} bytes; at most {MOST_CODE} are run", text.len());
                reader.wrong(&script, message, Some("make two tools of it".to_owned()));
            }
            variables(reader, entry, around);
            known.map(|()| Runs::Python(text.to_owned()))
        }
        (None, None, Some(field)) => {
            let hint = "write `language: python` beside it".to_owned();
            reader.wrong(&field, "the script does not say its `language`", Some(hint));
            None
        }
        (None, Some(field), None) => {
            reader.wrong(&field, "there is no `script`", Some("write `script: |` below it".to_owned()));
            None
        }
        (Some(_), language, script) => {
            for field in [language, script].into_iter().flatten() {
                let hint = "keep `argv`, or `language` and `script`".to_owned();
                reader.wrong(&field, format!("`{}` stands beside `argv`", field.path), Some(hint));
            }
            None
        }
        (None, None, None) => {
            let hint = "write `argv: [program, word]`, or `language: python` and `script`".to_owned();
            reader.wrong(entry, "the command says nothing that could be run", Some(hint));
            None
        }
    }
}

/// What a script sees by name can be a variable of it.
fn variables(reader: &mut Reader, entry: &Field<'_>, around: &Around<'_>) {
    let params = around.params.iter().map(|param| param.name.as_str());
    for name in params.chain(around.statics.iter().map(|one| one.name.as_str())) {
        if let Some(why) = python::why_not(name) {
            let message = format!("`{}` cannot be a variable of the script: it {why}", shortened(name));
            reader.wrong(entry, message, Some("name it otherwise".to_owned()));
        }
    }
}

fn read_argv(reader: &mut Reader, entry: &Field<'_>, params: &[Param]) -> Option<Vec<Item>> {
    let fields = reader.list_up_to(entry, MOST_WORDS);
    let items: Vec<Option<Item>> = fields.iter().map(|field| read_item(reader, field, params)).collect();
    // What is said of words together is only true where all of them are words.
    let items: Vec<Item> = items.into_iter().collect::<Option<_>>()?;
    let faults = words::faults(&items, params);
    let is_fine = faults.is_empty();
    for (index, fault) in faults {
        wrong(reader, fields.get(index).unwrap_or(entry), fault);
    }
    is_fine.then_some(items)
}

fn read_item(reader: &mut Reader, field: &Field<'_>, params: &[Param]) -> Option<Item> {
    if !matches!(field.node.value, Written::Map(_)) {
        return read_word(reader, field, params).map(Item::Word);
    }
    let mut record = reader.record(field)?;
    let (when, words) = (record.take("when"), record.take("words"));
    record.close(reader);
    let (Some(when), Some(words)) = (when, words) else {
        let hint = "write {when: param, words: [--option, \"{param}\"]}".to_owned();
        reader.wrong(field, "a group of words needs `when` and `words`", Some(hint));
        return None;
    };
    let param = match known(reader.text(&when)?, params) {
        Ok(param) => param.name.clone(),
        Err(fault) => {
            wrong(reader, &when, fault);
            return None;
        }
    };
    let words = reader.list_up_to(&words, MOST_WORDS);
    let words: Vec<Option<Word>> = words.iter().map(|word| read_word(reader, word, params)).collect();
    Some(Item::When { param, words: words.into_iter().collect::<Option<_>>()? })
}

fn read_word(reader: &mut Reader, field: &Field<'_>, params: &[Param]) -> Option<Word> {
    match Word::parse(reader.text(field)?, params) {
        Ok(word) => Some(word),
        Err(fault) => {
            wrong(reader, field, fault);
            None
        }
    }
}

fn read_template(reader: &mut Reader, field: &Field<'_>, params: &[Param]) -> Option<Template> {
    match Template::parse(reader.text(field)?, params) {
        Ok(template) => Some(template),
        Err(fault) => {
            wrong(reader, field, fault);
            None
        }
    }
}

fn read_env(reader: &mut Reader, entry: &Field<'_>, around: &Around<'_>) -> Vec<(String, Template)> {
    let Some(record) = reader.record(entry) else { return Vec::new() };
    let mut env: Vec<(String, Template)> = Vec::new();
    for (key, field) in record.entries() {
        let name = key.text.as_str();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !name.bytes().all(is_part) || name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            let hint = "a variable has letters, digits and `_`".to_owned();
            reader.wrong(&field, format!("`{}` is no variable", shortened(name)), Some(hint));
        }
        if around.statics.iter().any(|one| one.name == name) {
            let hint = "a static is a variable by itself; keep one of the two".to_owned();
            reader.wrong(&field, format!("`{}` is a static, too", shortened(name)), Some(hint));
        }
        if let Some(text) = reader.text(&field)
            && text.contains("${")
        {
            let hint = "name the secret in `statics`; it is in the environment by its name there".to_owned();
            reader.wrong(&field, "`${NAME}` is resolved in `statics` only", Some(hint));
            continue;
        }
        if let Some(template) = read_template(reader, &field, around.params) {
            env.push((name.to_owned(), template));
        }
    }
    if env.len() > MOST_VARIABLES {
        reader.wrong(entry, format!("there are more than {MOST_VARIABLES} variables"), None);
    }
    env
}

fn read_network(reader: &mut Reader, field: &Field<'_>) -> Option<Network> {
    let read: Result<Network, SpecError> = match &field.node.value {
        Written::Map(_) => {
            let mut record = reader.record(field)?;
            let allow = record.take("allow");
            record.close(reader);
            if matches!(&field.node.value, Written::Map(fields) if fields.is_empty()) {
                let hint = "for example {allow: [example.org]}, or `none`".to_owned();
                reader.wrong(field, format!("`{}` names no hosts", field.path), Some(hint));
            }
            let hosts: Vec<String> =
                reader.list(&allow?).iter().filter_map(|item| reader.text(item).map(str::to_owned)).collect();
            let rules = Network::Allow(hosts).rules();
            rules.map(|rules| Network::Allow(rules.iter().map(ToString::to_string).collect()))
        }
        _ => reader.text(field)?.parse(),
    };
    read.map_err(|error| {
        let words = ["none", "git", "full", "host"];
        let hint = match &field.node.value {
            Written::Text(text) => {
                did_you_mean(text, words, || "for example {allow: [example.org]}".to_owned())
            }
            _ => "for example {allow: [example.org, \"example.org:8443\"]}".to_owned(),
        };
        reader.wrong(field, error.to_string(), Some(hint));
    })
    .ok()
}

fn read_mounts(reader: &mut Reader, entry: &Field<'_>) -> Vec<Mount> {
    let mut mounts = Vec::new();
    for field in reader.list_up_to(entry, bailiwick_sandbox::mount::MOST_MOUNTS) {
        let Some(text) = reader.text(&field) else { continue };
        match text.parse::<Mount>() {
            Ok(mount) => mounts.push(mount),
            Err(error) => {
                let hint = "for example \"/srv/reports:/reports\", with `:rw` behind it to write".to_owned();
                reader.wrong(&field, error.to_string(), Some(hint));
            }
        }
    }
    mounts
}

fn read_limits(reader: &mut Reader, entry: &Field<'_>) -> BTreeMap<Limit, String> {
    let Some(mut record) = reader.record(entry) else { return BTreeMap::new() };
    let mut limits = BTreeMap::new();
    for limit in Limit::ALL {
        let Some(field) = record.take(limit.name()) else { continue };
        let text = match &field.node.value {
            Written::Number(raw) => raw.clone(),
            _ => match reader.text(&field) {
                Some(text) => text.to_owned(),
                None => continue,
            },
        };
        match Limits::default().with(limit, text.as_str()) {
            Ok(read) => drop(limits.insert(limit, limit.told(read.get(limit)))),
            Err(error) => reader.wrong(&field, error.to_string(), None),
        }
    }
    record.close(reader);
    limits
}

fn read_exits(reader: &mut Reader, entry: &Field<'_>) -> Vec<u8> {
    let mut exits = Vec::new();
    for field in reader.list_up_to(entry, MOST_EXITS) {
        let Some(code) = reader.count(&field) else { continue };
        match u8::try_from(code) {
            Ok(code) => exits.push(code),
            Err(_) => reader.wrong(
                &field,
                format!("{code} is no exit code"),
                Some("they go from 0 to 255".to_owned()),
            ),
        }
    }
    if exits.is_empty() && matches!(&entry.node.value, Written::List(list) if list.is_empty()) {
        reader.wrong(entry, "no exit code is fine, so no call ever is", Some("write [0]".to_owned()));
    }
    exits.sort_unstable();
    exits.dedup();
    exits
}
