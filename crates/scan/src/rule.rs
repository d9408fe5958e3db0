//! What is looked for: one closed list, each rule with its weight, its meaning and what to do about it.
//!
//! A rule must never depend on who wrote the text: it names what stands there.

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The text is not to be shown to a model as it is before a person has seen it.
    Blocking,
    /// Worth a look.
    Warning,
}

impl Severity {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Warning => "warning",
        }
    }
}

/// One thing that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Words that order a model about behind the user's back.
    HiddenInstructions,
    /// Comments, invisible elements and shouting tags.
    HiddenMarkup,
    /// The marks that separate a system prompt from a conversation.
    PromptMarkup,
    /// Words that give a model another role.
    RoleHijack,
    /// Characters without width.
    ZeroWidth,
    /// Characters that turn the direction of writing.
    BidiControl,
    /// Characters of the tag block.
    TagCharacters,
    /// Variation selectors that vary nothing.
    VariationSelectors,
    /// Letters of two scripts in one word.
    MixedScript,
    /// Escape sequences of a terminal.
    AnsiEscape,
    /// Control characters.
    ControlCharacter,
    /// Orders to carry data out.
    Exfiltration,
    /// Orders about another server's tool.
    DirectsOtherTool,
    /// The name of another server's tool.
    NamesOtherTool,
    /// The name of another server.
    NamesOtherServer,
    /// Paths of keys and passwords.
    SecretFile,
    /// Places where secrets usually are.
    SecretMention,
    /// Encoded data.
    EncodedBlob,
    /// More text than such a text needs.
    Overlong,
    /// Emptiness that pushes text out of sight.
    LongGap,
    /// There is more than is told.
    MoreFindings,
}

/// A row of the table.
struct Row {
    id: &'static str,
    severity: Severity,
    meaning: &'static str,
    advice: &'static str,
}

const fn blocking(id: &'static str, meaning: &'static str, advice: &'static str) -> Row {
    Row { id, severity: Severity::Blocking, meaning, advice }
}

const fn warning(id: &'static str, meaning: &'static str, advice: &'static str) -> Row {
    Row { id, severity: Severity::Warning, meaning, advice }
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 21] = [
        Self::HiddenInstructions,
        Self::HiddenMarkup,
        Self::PromptMarkup,
        Self::RoleHijack,
        Self::ZeroWidth,
        Self::BidiControl,
        Self::TagCharacters,
        Self::VariationSelectors,
        Self::MixedScript,
        Self::AnsiEscape,
        Self::ControlCharacter,
        Self::Exfiltration,
        Self::DirectsOtherTool,
        Self::NamesOtherTool,
        Self::NamesOtherServer,
        Self::SecretFile,
        Self::SecretMention,
        Self::EncodedBlob,
        Self::Overlong,
        Self::LongGap,
        Self::MoreFindings,
    ];

    /// The stable id, such as `hidden-instructions`.
    pub const fn id(self) -> &'static str {
        self.row().id
    }

    /// How much it weighs.
    pub const fn severity(self) -> Severity {
        self.row().severity
    }

    /// What was found, in one sentence.
    pub const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// What to do about it.
    pub const fn advice(self) -> &'static str {
        self.row().advice
    }

    #[expect(clippy::too_many_lines, reason = "one table, a row for every rule")]
    const fn row(self) -> Row {
        match self {
            Self::HiddenInstructions => blocking(
                "hidden-instructions",
                "The text orders a model to drop its instructions, to hide something from the user, or to read something first.",
                "Say what the tool does, and leave what to do with it to the model and its user.",
            ),
            Self::HiddenMarkup => blocking(
                "hidden-markup",
                "The text holds a comment, an invisible element or a shouting tag that a person does not see rendered.",
                "Remove the markup; what it says belongs into the plain text or nowhere.",
            ),
            Self::PromptMarkup => blocking(
                "prompt-markup",
                "The text holds marks by which models tell a system prompt or a turn from data.",
                "Remove the marks; describe them in words where the tool is about them.",
            ),
            Self::RoleHijack => blocking(
                "role-hijack",
                "The text gives the model that reads it another role or other rights.",
                "Remove the sentence; a tool has no say in who the model is.",
            ),
            Self::ZeroWidth => blocking(
                "zero-width",
                "The text holds characters that are not seen and that can split words or carry hidden text.",
                "Remove the characters; retype the word they stand in.",
            ),
            Self::BidiControl => blocking(
                "bidi-control",
                "The text holds characters that make it read in another order than it is stored in.",
                "Remove the characters; plain text of any script needs none of them.",
            ),
            Self::TagCharacters => blocking(
                "tag-characters",
                "The text holds characters of the Unicode tag block, which spell out text that nobody sees.",
                "Remove the characters, and ask where they came from: nobody types them.",
            ),
            Self::VariationSelectors => blocking(
                "variation-selectors",
                "The text holds variation selectors where they vary nothing, which is how bytes are hidden in them.",
                "Remove the characters, and ask where they came from: nobody types them.",
            ),
            Self::MixedScript => blocking(
                "mixed-script",
                "A word is put together from letters of several scripts that look alike.",
                "Retype the word in one script.",
            ),
            Self::AnsiEscape => blocking(
                "ansi-escape",
                "The text holds an escape sequence, which can hide or overwrite what a terminal shows.",
                "Remove the sequence; send text without colours.",
            ),
            Self::ControlCharacter => blocking(
                "control-character",
                "The text holds a control character other than a line break or a tab.",
                "Remove the character.",
            ),
            Self::Exfiltration => blocking(
                "exfiltration",
                "The text orders a model to carry the conversation, files or secrets out.",
                "Remove the sentence; ask for what the tool needs as a parameter of its own.",
            ),
            Self::DirectsOtherTool => blocking(
                "directs-other-tool",
                "The text says when or how to use a tool of another server.",
                "Remove the sentence; a server speaks of its own tools only.",
            ),
            Self::NamesOtherTool => warning(
                "names-other-tool",
                "The text names a tool of another server.",
                "Look whether the name is meant; if so, write what is meant without it.",
            ),
            Self::NamesOtherServer => warning(
                "names-other-server",
                "The text names another server.",
                "Look whether the server is meant, or only a word that it is called by.",
            ),
            Self::SecretFile => blocking(
                "secret-file",
                "The text names a file that holds keys, passwords or a history.",
                "Remove the path; give a secret to a tool by reference.",
            ),
            Self::SecretMention => warning(
                "secret-mention",
                "The text speaks of a place where secrets usually are.",
                "Look whether the tool has any business there.",
            ),
            Self::EncodedBlob => blocking(
                "encoded-blob",
                "The text holds a long run of base64 or hex, which a model can read and a person cannot.",
                "Remove the blob, or give it as a parameter or a file.",
            ),
            Self::Overlong => warning(
                "overlong",
                "The text is longer than a text of its kind needs to be.",
                "Shorten it; a reviewer reads the beginning, a model reads all.",
            ),
            Self::LongGap => warning(
                "long-gap",
                "The text holds so much empty space that what follows is out of sight.",
                "Remove the space, and read what stands behind it.",
            ),
            Self::MoreFindings => warning(
                "more-findings",
                "There are more findings than are listed; the list is cut here.",
                "Treat the text as unread: what is listed is only its beginning.",
            ),
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}
