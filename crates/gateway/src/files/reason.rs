//! Why a file operation that policy allowed did not happen: a closed list of words that stay the same.
//!
//! A fault names the guest's own path, never the host's, and never what the system said in its own words.

use bailiwick_sys::Errno;
use bailiwick_types::{ErrorCode, Refused};

macro_rules! reasons {
    ($($variant:ident $word:literal $meaning:literal;)*) => {
        /// Why a file operation did not happen.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FileReason {
            $(#[doc = $meaning] $variant,)*
        }

        impl FileReason {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable word.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// What it means, for people.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

reasons! {
    NotFound "not-found" "nothing is there";
    Exists "exists" "something is there already";
    NotAFile "not-a-file" "it is not a file";
    NotAFolder "not-a-folder" "it is not a folder";
    IsAFolder "is-a-folder" "it is a folder";
    IsTheRoot "is-the-root" "it is the root itself, which stays where it is";
    IntoItself "into-itself" "a folder cannot be moved into itself";
    NotEmpty "not-empty" "the folder is not empty";
    Link "link" "a link is in the way, and none is followed here";
    LeadsOut "leads-out" "the path leads out of its folder, by a link or onto another file system";
    HardLinked "hard-linked" "the file has other names, which may lie outside the workspace";
    SpecialFile "special-file" "it is a pipe, a socket or a device";
    TooLarge "too-large" "it is larger than may be read, written or answered";
    TooDeep "too-deep" "folders lie in each other more than 64 deep";
    BadName "bad-name" "a name is too long, reserved, or holds control characters";
    BadPattern "bad-pattern" "the pattern cannot be read, or is too large";
    BadArgument "bad-argument" "an argument is out of its range";
    NotUtf8 "not-utf8" "the file is not text in UTF-8";
    NoMatch "no-match" "the text to be replaced is not in the file";
    NotUnique "not-unique" "the text to be replaced is in the file more than once";
    Busy "busy" "others change the same place all the time";
    Permission "permission" "the host's permissions do not allow it";
    ReadOnly "read-only" "the file system is read-only";
    DiskFull "disk-full" "the host's disk is full, or what is left of it is kept for the operator";
    Quota "quota" "the workspace has no room left";
    RootRefused "root-refused" "the read root holds, or lies in, what no call may read";
    Stopped "stopped" "the call ended first";
    Io "io" "the host could not do it";
}

impl FileReason {
    /// The code it goes with.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Quota | Self::DiskFull => ErrorCode::DiskLimit,
            _ => ErrorCode::FsFailed,
        }
    }

    /// What to do next, where there is something.
    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Quota => Some("Delete files, or ask the operator for a larger workspace."),
            Self::TooLarge => Some("A file is at most 10 MiB, an answer 16 MiB: work with a part of it."),
            Self::NotUtf8 => Some("Read it with readBytes."),
            Self::NotUnique => Some("Give more of the text around it, or pass {all: true}."),
            Self::IsAFolder => Some("For folders there are list, mkdir and deleteDir."),
            Self::NotEmpty => Some("Pass {recursive: true} to delete what is in it too."),
            Self::LeadsOut => Some("Only what lies in the workspace or in a read root can be opened."),
            Self::BadPattern => Some("Patterns match in linear time: no look-around, no back-references."),
            Self::RootRefused => Some("The operator has to choose another read root."),
            _ => None,
        }
    }
}

impl std::fmt::Display for FileReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl From<Errno> for FileReason {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::STALE => Self::NotFound,
            Errno::EXIST => Self::Exists,
            Errno::NOTDIR => Self::NotAFolder,
            Errno::ISDIR => Self::IsAFolder,
            Errno::NOTEMPTY => Self::NotEmpty,
            Errno::LOOP => Self::Link,
            Errno::XDEV => Self::LeadsOut,
            Errno::NAMETOOLONG => Self::BadName,
            Errno::AGAIN | Errno::BUSY | Errno::MFILE | Errno::NFILE | Errno::TXTBSY => Self::Busy,
            Errno::ACCESS | Errno::PERM => Self::Permission,
            Errno::ROFS => Self::ReadOnly,
            Errno::NOSPC | Errno::DQUOT => Self::DiskFull,
            Errno::OPNOTSUPP | Errno::NXIO | Errno::NODEV => Self::SpecialFile,
            Errno::FBIG | Errno::OVERFLOW => Self::TooLarge,
            _ => Self::Io,
        }
    }
}

/// A reason, and the guest's path it is about where that is not the operation's first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) reason: FileReason,
    pub(super) path: Option<String>,
}

impl Fault {
    /// Says which path it is about, if that was not said yet.
    pub(super) fn at(mut self, path: impl std::fmt::Display) -> Self {
        self.path.get_or_insert_with(|| path.to_string());
        self
    }

    /// As the guest sees it.
    pub(super) fn refused(self, op: &str, first: &str) -> Refused {
        let Self { reason, path } = self;
        let path: String = path.as_deref().unwrap_or(first).chars().take(4096).collect();
        let refused =
            Refused::failed(reason.code(), reason.word(), format!("{op} {path}: {}", reason.meaning()));
        match reason.hint() {
            Some(hint) => refused.with_hint(hint),
            None => refused,
        }
    }
}

impl From<FileReason> for Fault {
    fn from(reason: FileReason) -> Self {
        Self { reason, path: None }
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        FileReason::from(errno).into()
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Errno::from_io_error(&error).map_or(FileReason::Io, FileReason::from).into()
    }
}
