//! Where tests make sandboxes: a backend with a folder of its own before one of the backend `process`, images that are folders of the
//! test, and a runtime to wait on.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bailiwick_sandbox::{
    Backend, Command, Doing, ExecResult, Image, Images, Limits, Preset, Sandbox, SandboxError, SandboxPath,
    SandboxSpec, Unpacked,
};
use bailiwick_sandbox_process::ProcessBackend;
use bailiwick_sandbox_wasm::{Options, WasmBackend};

/// Runs to the end.
pub(crate) fn wait<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(doing)
}

/// A backend and its folder.
pub(crate) struct Place {
    pub(crate) backend: Arc<WasmBackend>,
    pub(crate) folder: tempfile::TempDir,
    variables: Variables,
}

/// The variables that images have.
type Variables = Arc<Mutex<Vec<(String, String)>>>;

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let variables = Variables::default();
        Self { backend: Arc::new(backend(folder.path(), &variables, change)), folder, variables }
    }

    /// Another backend with the same folders, as after a restart.
    pub(crate) fn again(&mut self) {
        self.backend = Arc::new(backend(self.folder.path(), &self.variables, |_| {}));
    }

    /// Images that are found from now on have these variables.
    pub(crate) fn variables(&self, variables: &[(&str, &str)]) {
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        *self.variables.lock().expect("nobody panicked") = owned.collect();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where compiled code is kept.
    pub(crate) fn compiled(&self) -> PathBuf {
        self.path().join("state/compiled")
    }

    /// An image of a module or a component as text.
    pub(crate) fn image(&self, name: &str, text: &str) -> String {
        self.image_of(name, &wat::parse_str(text).expect("a module"))
    }

    /// An image of bytes.
    pub(crate) fn image_of(&self, name: &str, bytes: &[u8]) -> String {
        let root = self.path().join("images").join(name);
        std::fs::create_dir_all(&root).expect("a folder");
        std::fs::write(root.join("module.wasm"), bytes).expect("a module");
        name.to_owned()
    }

    pub(crate) async fn create(&self, spec: SandboxSpec) -> Result<Box<dyn Sandbox>, SandboxError> {
        self.backend.create(spec).await
    }

    /// A sandbox of the usual kind around a program as text.
    pub(crate) async fn sandbox(&self, text: &str) -> Box<dyn Sandbox> {
        self.create(spec(&self.image("guest.wasm", text))).await.expect("a sandbox")
    }

    /// Runs a program as text in a sandbox of its own.
    pub(crate) async fn run(&self, text: &str) -> ExecResult {
        self.sandbox(text).await.exec(words(&["guest"])).await.expect("it runs")
    }
}

fn backend(folder: &Path, variables: &Variables, change: impl FnOnce(&mut Options)) -> WasmBackend {
    let mut options = Options::new(folder.join("state"));
    options.images = Some(Arc::new(Folders(folder.join("images"), variables.clone())));
    change(&mut options);
    let mut behind = bailiwick_sandbox_process::Options::new(folder.join("behind"));
    behind.accept = WasmBackend::accepts(&options.accept);
    WasmBackend::new(options, Arc::new(ProcessBackend::new(behind)))
}

/// Images that are folders.
#[derive(Debug)]
struct Folders(PathBuf, Variables);

#[derive(Debug)]
struct Folder {
    root: PathBuf,
    digest: String,
    variables: Vec<(String, String)>,
}

impl Images for Folders {
    fn find<'a>(&'a self, name: &'a str) -> Doing<'a, Result<Arc<dyn Unpacked>, SandboxError>> {
        Box::pin(async move {
            let root = self.0.join(name);
            let bytes = std::fs::metadata(root.join("module.wasm")).expect("a module").len();
            let variables = self.1.lock().expect("nobody panicked").clone();
            let digest = format!("{name} of {bytes}");
            let found: Arc<dyn Unpacked> = Arc::new(Folder { root, digest, variables });
            Ok(found)
        })
    }
}

impl Unpacked for Folder {
    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    fn workdir(&self) -> Option<&str> {
        None
    }
}

/// The usual spec for an image.
pub(crate) fn spec(image: &str) -> SandboxSpec {
    let mut spec = SandboxSpec::new(Limits::preset(Preset::Standard));
    spec.image = Image::Named(image.to_owned());
    spec
}

pub(crate) fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).expect("a path")
}

/// A command of words.
pub(crate) fn words(words: &[&str]) -> Command {
    Command::new(words.iter().copied()).expect("a command")
}

/// What a program says, if it ends well.
#[track_caller]
pub(crate) fn said(result: &ExecResult) -> String {
    assert_eq!(result.exit.status(), 0, "{}", complaint(result));
    String::from_utf8_lossy(&result.stdout.bytes).into_owned()
}

/// What it says of its misfortune.
pub(crate) fn complaint(result: &ExecResult) -> String {
    String::from_utf8_lossy(&result.stderr.bytes).into_owned()
}
