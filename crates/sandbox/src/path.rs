//! A path inside of a sandbox: absolute, and without `.`, `..` or empty parts. What it leads to is for the sandbox to find.

/// Why a text is not a path inside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not begin at the root.
    #[error("`{0}` is not an absolute path: inside of a sandbox every path begins with `/`")]
    Relative(String),
    /// It has a part that goes up.
    #[error("`{0}` has a `..` in it; write where it leads to")]
    Upwards(String),
    /// It has a NUL.
    #[error("a path has a NUL in it")]
    Nul,
    /// It is longer than the system takes.
    #[error("a path of {0} bytes is longer than {most} bytes", most = SandboxPath::MOST)]
    TooLong(usize),
}

/// An absolute path inside of a sandbox, in its shortest form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SandboxPath(String);

impl SandboxPath {
    /// The longest path that the system takes.
    pub const MOST: usize = 4095;

    /// Reads a path.
    pub fn new(text: &str) -> Result<Self, PathError> {
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        if text.len() > Self::MOST {
            return Err(PathError::TooLong(text.len()));
        }
        if !text.starts_with('/') {
            return Err(PathError::Relative(bailiwick_types::shortened(text)));
        }
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.contains(&"..") {
            return Err(PathError::Upwards(bailiwick_types::shortened(text)));
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }

    /// Where commands begin, and what they may write to, where nothing else is said.
    pub fn work() -> Self {
        Self("/work".to_owned())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `other`, or lies in it.
    pub fn is_within(&self, other: &Self) -> bool {
        other.0 == "/"
            || self.0 == other.0
            || self.0.strip_prefix(&other.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl TryFrom<String> for SandboxPath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<SandboxPath> for String {
    fn from(path: SandboxPath) -> Self {
        path.0
    }
}

impl std::fmt::Display for SandboxPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
