//! What is known about a text beside its words: what it is for, and who else is there.

/// What a text is for. It decides how long the text may be, and what is usual in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The name of a tool or a parameter.
    Name,
    /// A title.
    Title,
    /// What a tool does.
    Description,
    /// The description of a parameter, or another text of its schema.
    ParameterText,
    /// A value that a parameter may have.
    EnumValue,
    /// An annotation.
    Annotation,
    /// What a tool gave.
    Result,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Name,
        Self::Title,
        Self::Description,
        Self::ParameterText,
        Self::EnumValue,
        Self::Annotation,
        Self::Result,
    ];

    /// The most characters that such a text needs.
    pub const fn longest(self) -> usize {
        match self {
            Self::Name => 128,
            Self::Title | Self::EnumValue => 256,
            Self::ParameterText | Self::Annotation => 2048,
            Self::Description => 8192,
            Self::Result => 1024 * 1024,
        }
    }

    /// The shortest run of base64 that is a blob. Results carry pictures and signatures; definitions carry neither.
    pub(crate) const fn blob(self) -> usize {
        match self {
            Self::Result => 1024,
            Self::Name
            | Self::Title
            | Self::Description
            | Self::ParameterText
            | Self::EnumValue
            | Self::Annotation => 120,
        }
    }
}

/// What is known about a text.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// What it is for.
    pub kind: Kind,
    /// The names of tools that belong to others.
    pub other_tools: &'a [&'a str],
    /// The names of other servers.
    pub other_servers: &'a [&'a str],
}

impl Context<'_> {
    /// A text of this kind, with nobody else there.
    pub const fn of(kind: Kind) -> Self {
        Self { kind, other_tools: &[], other_servers: &[] }
    }
}
