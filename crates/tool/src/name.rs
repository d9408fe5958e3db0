//! What a tool is called and how it is sorted: name, category, tags.

use bailiwick_types::{ToolName, is_reserved_tool_name, shortened};

/// A longer name gets a warning: clients put a prefix before it, and cut at 64.
pub(crate) const LONG_NAME: usize = 40;
/// The longest name that is not ours.
pub(crate) const LONGEST_FOREIGN: usize = 128;
/// Tags of one tool.
pub(crate) const MOST_TAGS: usize = 8;
/// Characters of one tag, and of a category.
pub(crate) const LONGEST_TAG: usize = 40;

/// What somebody is told whose tool has a name that is kept for native tools.
pub const RESERVED_HINT: &str = "choose another name: run_javascript, describe_runtime, run_command, run_python, run_code, \
                                 describe_tools and all that begin with sandbox_ are kept, in any spelling";

/// The categories everybody knows; any other text is one as well.
pub const CATEGORIES: &[&str] = &[
    "TEXT",
    "DATA",
    "DATETIME",
    "MATH",
    "ENCODING",
    "CRYPTO",
    "SECURITY",
    "FILE",
    "WEB",
    "PRODUCTIVITY",
    "MESSAGING",
    "AI",
    "CUSTOM",
];

/// What a tag must not say: how safe a tool is, is found out and never claimed.
const CLAIMS: &[&str] = &[
    "approved",
    "audited",
    "certified",
    "harmless",
    "l0",
    "l1",
    "l2",
    "l3",
    "l4",
    "l5",
    "lowrisk",
    "nonetwork",
    "norisk",
    "official",
    "offline",
    "pure",
    "readonly",
    "reviewed",
    "risk",
    "riskfree",
    "safe",
    "sandboxed",
    "secure",
    "trusted",
    "verified",
];

/// The name of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Name {
    /// A name as new tools have it.
    Slug(ToolName),
    /// A name from elsewhere, kept as it came: visible, and of bounded length.
    Foreign(String),
}

impl Name {
    /// Takes any name that can be kept: a slug, or 1 to 128 characters without control characters and blank ends.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(slug) = ToolName::parse(text) {
            return Some(Self::Slug(slug));
        }
        let fits = (1..=LONGEST_FOREIGN).contains(&text.chars().count());
        let is_tame = text.trim() == text && !text.chars().any(char::is_control);
        (fits && is_tame).then(|| Self::Foreign(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Slug(slug) => slug.as_str(),
            Self::Foreign(text) => text,
        }
    }

    /// Whether it is kept for native tools, or looks like one that is. Nothing under such a name is offered.
    pub fn is_reserved(&self) -> bool {
        is_reserved_tool_name(self.as_str())
    }

    /// The name, if a new tool may have it.
    pub const fn slug(&self) -> Option<&ToolName> {
        match self {
            Self::Slug(slug) => Some(slug),
            Self::Foreign(_) => None,
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a tool is about: one of [`CATEGORIES`], or a word of the author's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Category(String);

impl Category {
    /// A known category in any case, or free text as it is.
    pub(crate) fn of(text: &str) -> Self {
        let known = CATEGORIES.iter().find(|known| known.eq_ignore_ascii_case(text));
        Self((*known.unwrap_or(&text)).to_owned())
    }

    /// The category as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is one of [`CATEGORIES`].
    pub fn is_known(&self) -> bool {
        CATEGORIES.contains(&self.0.as_str())
    }
}

/// What is wrong with a tag, if something is.
pub(crate) fn tag_fault(tag: &str) -> Option<(String, &'static str)> {
    let length = tag.chars().count();
    if length == 0 || length > LONGEST_TAG || tag.chars().any(char::is_control) || tag.trim() != tag {
        let message = format!("`{}` is no tag", shortened(tag));
        return Some((message, "a tag is a short text on one line, without blanks around it"));
    }
    let plain: String = tag.to_lowercase().chars().filter(|one| one.is_alphanumeric()).collect();
    CLAIMS.contains(&plain.as_str()).then(|| {
        let message = format!("the tag `{tag}` claims a capability");
        (message, "say what the tool is about; what it may do is worked out from its policy")
    })
}
