//! What a container begins with: an image that the engine has, by its name; or the host's own programs, for which the engine is
//! given an image of empty folders, links and a few small files, with the host's folders mounted into it, read-only.

use std::collections::BTreeSet;

use bailiwick_agent_host::places::OWN;
use bailiwick_agent_host::root;
use bailiwick_sandbox::{Image, SandboxError, SandboxPath};
use bailiwick_types::{ErrorCode, shortened};
use bailiwick_wire::jail::{Bind, Place};
use bollard::query_parameters::CreateImageOptions;
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};

use crate::engine::{Engine, EngineError, Kind};
use crate::mounts::Bound;
use crate::plan::USER;

/// What the image with the host's folders is called.
const MADE: &str = "bailiwick-host";
/// The longest name of an image.
const LONGEST: usize = 512;

/// What a container begins with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Begins {
    /// The image, by what is in it.
    pub(crate) image: String,
    /// What of the host's is in it.
    pub(crate) bounds: Vec<Bound>,
    /// Variables that it comes with.
    pub(crate) variables: Vec<(String, String)>,
    /// Folders that its maker wants to be written to.
    pub(crate) volumes: Vec<SandboxPath>,
}

/// Finds what a spec begins with.
pub(crate) async fn find(engine: &Engine, image: &Image) -> Result<Begins, SandboxError> {
    match image {
        Image::Host => of_the_host(engine).await,
        Image::Named(name) => named(engine, name).await,
    }
}

async fn named(engine: &Engine, name: &str) -> Result<Begins, SandboxError> {
    let file = |why: String, code| SandboxError::File { path: shortened(name), why, code };
    if !is_name(name) {
        return Err(file("this cannot be the name of an image".to_owned(), ErrorCode::InvalidInput));
    }
    let found = engine.ask("look at an image", engine.docker.inspect_image(name)).await.map_err(|error| {
        if !error.is_missing() {
            return error.into();
        }
        let program = if engine.kind == Kind::Podman { "podman" } else { "docker" };
        let why = format!(
            "the engine at {} has no such image: `{program} pull {name}` fetches it, `{program} import` makes one",
            engine.socket.display()
        );
        file(why, ErrorCode::NotFound)
    })?;
    let config = found.config.unwrap_or_default();
    let variables = config.env.unwrap_or_default();
    let variables = variables.iter().filter_map(|one| one.split_once('='));
    let volumes = config.volumes.unwrap_or_default();
    // In one order: what is packed of them goes back by their numbers.
    let volumes = volumes.iter().map(|at| SandboxPath::new(at)).collect::<Result<BTreeSet<_>, _>>()?;
    Ok(Begins {
        // By what is in it: the name may mean another one a moment later.
        image: found
            .id
            .ok_or_else(|| file("the engine does not say what it is".to_owned(), ErrorCode::Internal))?,
        bounds: Vec::new(),
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        volumes: volumes.into_iter().collect(),
    })
}

/// Whether a text can be a name of an image: it becomes a part of an address, and must not become another.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    let parts = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.len() <= LONGEST
        && name.bytes().all(is_plain)
        && !name.starts_with('-')
        && name.split('/').all(parts)
}

async fn of_the_host(engine: &Engine) -> Result<Begins, SandboxError> {
    let places = root::of_the_host(USER);
    let packed = pack(&places).map_err(|error| SandboxError::Failed {
        step: "pack the folders of the host's root".to_owned(),
        reason: error.to_string(),
    })?;
    let digest = Sha256::digest(&packed);
    let tag: String = digest
        .iter()
        .take(12)
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect();
    let name = format!("{MADE}:{tag}");
    let look = || engine.ask("look at an image", engine.docker.inspect_image(&name));
    let found = match look().await {
        Err(error) if error.is_missing() => {
            import(engine, &name, packed).await?;
            look().await?
        }
        found => found?,
    };
    let bounds = places.into_iter().filter_map(|place| match place {
        Place::Bind(Bind { from, to, .. }) => Some(Bound { from, to, writable: false, checked: None }),
        _ => None,
    });
    let image = found.id.unwrap_or(name);
    Ok(Begins { image, bounds: bounds.collect(), ..Begins::default() })
}

async fn import(engine: &Engine, name: &str, packed: Vec<u8>) -> Result<(), EngineError> {
    const STEP: &str = "import the image of the host's folders";
    let options = CreateImageOptions {
        from_src: Some("-".to_owned()),
        // With its tag: Podman does not read that of its own.
        repo: Some(name.to_owned()),
        changes: vec!["LABEL bailiwick.made=true".to_owned()],
        ..CreateImageOptions::default()
    };
    let body = bollard::body_full(packed.into());
    let mut said = Box::pin(engine.docker.create_image(Some(options), Some(body), None));
    let whole = async {
        while let Some(step) = said.next().await {
            step?;
        }
        Ok(())
    };
    engine.ask(STEP, whole).await
}

/// The image as one file: the same for the same places, to the byte.
fn pack(places: &[Place]) -> std::io::Result<Vec<u8>> {
    let mut archive = Archive { to: tar::Builder::new(Vec::new()), folders: Vec::new() };
    let kernels = ["/dev", "/proc", "/sys"];
    // Some engines give a folder in memory the permissions of what it covers.
    for folder in OWN {
        archive.folder_of(folder, 0o1777)?;
    }
    for folder in kernels {
        archive.folder(folder)?;
    }
    for place in places {
        match place {
            Place::Bind(Bind { to: at, is_folder: true, .. }) | Place::Folder { at, .. } => {
                archive.folder(at)?;
            }
            Place::Bind(Bind { to, .. }) => archive.file(to, "")?,
            Place::Link { at, to } => archive.link(at, to)?,
            Place::File { at, text } => archive.file(at, text)?,
            Place::Device { .. } => {}
        }
    }
    archive.to.into_inner()
}

struct Archive {
    to: tar::Builder<Vec<u8>>,
    folders: Vec<String>,
}

impl Archive {
    fn header(kind: tar::EntryType, mode: u32, size: u64) -> tar::Header {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size);
        header
    }

    /// A folder, and those above it.
    fn folder(&mut self, at: &str) -> std::io::Result<()> {
        self.folder_of(at, 0o755)
    }

    fn folder_of(&mut self, at: &str, mode: u32) -> std::io::Result<()> {
        let at = at.trim_start_matches('/');
        let ends = at.match_indices('/').map(|(end, _)| end).chain([at.len()]);
        for folder in ends.filter_map(|end| at.get(..end)).filter(|folder| !folder.is_empty()) {
            if !self.folders.iter().any(|known| known == folder) {
                self.folders.push(folder.to_owned());
                let mode = if folder == at { mode } else { 0o755 };
                let mut header = Self::header(tar::EntryType::Directory, mode, 0);
                self.to.append_data(&mut header, folder, std::io::empty())?;
            }
        }
        Ok(())
    }

    fn above(&mut self, at: &str) -> std::io::Result<()> {
        at.rsplit_once('/').map_or(Ok(()), |(above, _)| self.folder(above))
    }

    fn file(&mut self, at: &str, text: &str) -> std::io::Result<()> {
        self.above(at)?;
        let mut header = Self::header(tar::EntryType::Regular, 0o644, text.len() as u64);
        self.to.append_data(&mut header, at.trim_start_matches('/'), text.as_bytes())
    }

    fn link(&mut self, at: &str, to: &str) -> std::io::Result<()> {
        self.above(at)?;
        let mut header = Self::header(tar::EntryType::Symlink, 0o777, 0);
        self.to.append_link(&mut header, at.trim_start_matches('/'), to)
    }
}

#[cfg(test)]
mod tests;
