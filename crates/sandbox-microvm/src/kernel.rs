//! The kernel of machines: found on the host with the modules that it needs, never downloaded.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// What the name of a kernel begins with.
const PREFIX: &str = "vmlinuz-";
/// The longest kernel or module that is read.
const LONGEST: u64 = 256 << 20;
/// The deepest folder of modules.
const DEEPEST: usize = 12;
/// Where a module says which others it needs.
const DEPENDS: &[u8] = b"\0depends=";

/// A kernel, and its modules in the order in which they are loaded: name and content.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) image: Vec<u8>,
    pub(crate) modules: Vec<(String, Vec<u8>)>,
}

/// Finds the file of a kernel: itself, or the newest in a folder; those that are made for machines come first.
pub(crate) fn find(place: &Path) -> io::Result<PathBuf> {
    if place.is_file() {
        return Ok(place.to_owned());
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(place)? {
        let entry = entry?;
        if let Some(version) = entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)) {
            found.push((version.contains("cloud"), numbers(version), entry.path()));
        }
    }
    found.sort();
    let newest = found.pop().map(|(.., path)| path);
    newest.ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("no {PREFIX}* is in {}", place.display()))
    })
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// Reads a kernel and the modules that are needed of it, which are where its package puts them: beside the folder that the kernel is
/// in. Those that are built in are left out.
pub(crate) fn read(file: &Path, needed: &[&str]) -> io::Result<Kernel> {
    let name = file.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    let version = name.strip_prefix(PREFIX).ok_or_else(|| {
        io::Error::other(format!(
            "{} is not called {PREFIX}VERSION, so its modules cannot be found",
            file.display()
        ))
    })?;
    let root = file.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let places = ["lib/modules", "usr/lib/modules"].map(|place| root.join(place).join(version));
    let folder = places.iter().find(|place| place.is_dir());
    let folder = folder.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("the modules of {} are not at {}", file.display(), places[0].display()),
        )
    })?;
    let mut files = HashMap::new();
    walk(folder, 0, &mut files)?;
    let mut builtin = String::new();
    open(&folder.join("modules.builtin"))?.read_to_string(&mut builtin)?;
    let built: Vec<String> = builtin.lines().map(|line| plain(Path::new(line))).collect();
    let mut modules = Vec::new();
    for needed in needed {
        add(needed, &files, &built, &mut modules)?;
    }
    let mut image = Vec::new();
    open(file)?.read_to_end(&mut image)?;
    Ok(Kernel { image, modules })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a kernel or a module that the operator installed, read within a bound"
)]
fn open(path: &Path) -> io::Result<io::Take<File>> {
    let file = File::open(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(file.take(LONGEST))
}

/// The name of a module, from its path: two ways to write it mean the same.
fn plain(path: &Path) -> String {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    name.split('.').next().unwrap_or_default().replace('-', "_")
}

fn walk(folder: &Path, depth: usize, files: &mut HashMap<String, PathBuf>) -> io::Result<()> {
    if depth > DEEPEST {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), depth + 1, files)?;
        } else if kind.is_file() && entry.path().to_string_lossy().contains(".ko") {
            files.insert(plain(&entry.path()), entry.path());
        }
    }
    Ok(())
}

/// Adds a module behind those that it needs.
fn add(
    name: &str,
    files: &HashMap<String, PathBuf>,
    built: &[String],
    modules: &mut Vec<(String, Vec<u8>)>,
) -> io::Result<()> {
    if built.iter().any(|known| known == name) || modules.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    let file = files
        .get(name)
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("the kernel has no module {name}")))?;
    if file.extension().is_none_or(|extension| extension != "ko") {
        return Err(io::Error::other(format!("{} is compressed, which is not read here", file.display())));
    }
    let mut bytes = Vec::new();
    open(file)?.read_to_end(&mut bytes)?;
    for needed in depends(&bytes) {
        add(&needed, files, built, modules)?;
    }
    if modules.len() > 64 {
        return Err(io::Error::other("a kernel whose modules need more than 64 others is not known here"));
    }
    modules.push((name.to_owned(), bytes));
    Ok(())
}

/// Which modules one needs, as it says itself.
fn depends(module: &[u8]) -> Vec<String> {
    let Some(at) = module.windows(DEPENDS.len()).position(|window| window == DEPENDS) else {
        return Vec::new();
    };
    let rest = module.get(at + DEPENDS.len()..).unwrap_or_default();
    let told = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    let told = String::from_utf8_lossy(told);
    told.split(',').filter(|name| !name.is_empty()).map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests;
