//! What an image says about itself: index, manifest and config. Strangers' JSON, bounded before it is read; a document
//! that could be taken for two kinds is neither.

use serde::{Deserialize, Serialize};

use crate::{Digest, ImageError};

/// The largest index, manifest or config that is read.
pub(crate) const MOST: u64 = 4 * 1024 * 1024;
/// The most variables of an image, and the most bytes of them.
const VARIABLES: (usize, usize) = (1024, 256 * 1024);

/// What this machine is called in an index.
pub(crate) const ARCHITECTURE: &str = if cfg!(target_arch = "x86_64") {
    "amd64"
} else if cfg!(target_arch = "aarch64") {
    "arm64"
} else {
    std::env::consts::ARCH
};

/// Kinds of manifests that are asked for.
pub(crate) const ACCEPTED: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.docker.distribution.manifest.v2+json";

/// Something that is named by its digest and length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    #[serde(default)]
    pub(crate) media_type: String,
    pub(crate) digest: Digest,
    pub(crate) size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<Platform>,
}

/// What a manifest of an index runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Platform {
    #[serde(default)]
    architecture: String,
    #[serde(default)]
    os: String,
    #[serde(default)]
    variant: Option<String>,
}

/// One image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) schema_version: u32,
    #[serde(default)]
    pub(crate) media_type: String,
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
}

/// A manifest, or a choice of them.
#[derive(Debug)]
pub(crate) enum Document {
    Image(Manifest),
    Index(Vec<Descriptor>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Either {
    schema_version: u32,
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
}

impl Document {
    pub(crate) fn read(what: &str, bytes: &[u8]) -> Result<Self, ImageError> {
        let either: Either = json(what, bytes)?;
        if either.schema_version != 2 {
            return Err(ImageError::Unsupported(format!("{what} is of schema {}", either.schema_version)));
        }
        match either {
            Either { manifests: Some(manifests), config: None, layers: None, .. } => {
                Ok(Self::Index(manifests))
            }
            Either { manifests: None, config: Some(config), layers: Some(layers), .. } => {
                let manifest = Manifest { schema_version: 2, media_type: String::new(), config, layers };
                manifest.refuse_foreign()?;
                Ok(Self::Image(manifest))
            }
            _ => Err(ImageError::malformed(what, "it is neither a manifest nor an index, or both")),
        }
    }
}

impl Manifest {
    /// Layers that are only to be had elsewhere, or only with a key, are none that we could check.
    fn refuse_foreign(&self) -> Result<(), ImageError> {
        match self.layers.iter().find(|layer| {
            ["foreign", "nondistributable", "encrypted"].iter().any(|kind| layer.media_type.contains(kind))
        }) {
            Some(layer) => Err(ImageError::Unsupported(format!(
                "layers of the kind `{}` are not taken",
                layer.media_type
            ))),
            None => Ok(()),
        }
    }
}

/// The one of an index that runs here.
pub(crate) fn pick(manifests: &[Descriptor]) -> Result<&Descriptor, ImageError> {
    let fits = |one: &&Descriptor| {
        one.platform.as_ref().is_some_and(|at| at.os == "linux" && at.architecture == ARCHITECTURE)
    };
    let plain = |one: &&Descriptor| {
        let variant = one.platform.as_ref().and_then(|at| at.variant.as_deref());
        matches!(variant, None | Some("" | "v1" | "v8"))
    };
    let found = manifests.iter().filter(fits).find(plain).or_else(|| manifests.iter().find(fits));
    match (found, manifests) {
        (Some(found), _) => Ok(found),
        // Whoever has one thing only need not say what it is for; its config does.
        (None, [only]) if only.platform.is_none() => Ok(only),
        (None, _) => Err(ImageError::Platform { wanted: ARCHITECTURE, found: platforms(manifests) }),
    }
}

fn platforms(manifests: &[Descriptor]) -> String {
    let told: Vec<_> = manifests
        .iter()
        .filter_map(|one| one.platform.as_ref())
        .take(8)
        .map(|at| format!("{}/{}", readable(&at.os), readable(&at.architecture)))
        .collect();
    if told.is_empty() { "nothing that says what it is for".to_owned() } else { told.join(", ") }
}

/// How an image wants its commands to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Variables, in order.
    pub env: Vec<(String, String)>,
    /// The program that its commands are words for.
    pub entrypoint: Vec<String>,
    /// The command where none is given.
    pub cmd: Vec<String>,
    /// Where commands begin.
    pub workdir: Option<String>,
    /// Whom it wants to run as. Nobody does so here.
    pub user: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Whole {
    #[serde(default)]
    architecture: String,
    #[serde(default)]
    os: String,
    #[serde(default)]
    config: Option<Inner>,
    rootfs: RootFs,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inner {
    #[serde(default)]
    env: Option<Vec<String>>,
    #[serde(default)]
    entrypoint: Option<Vec<String>>,
    #[serde(default)]
    cmd: Option<Vec<String>>,
    #[serde(default)]
    working_dir: Option<String>,
    #[serde(default)]
    user: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct RootFs {
    #[serde(rename = "type")]
    kind: String,
    diff_ids: Vec<Digest>,
}

/// A config, and the digests of its layers when they are unpacked.
pub(crate) fn read_config(bytes: &[u8]) -> Result<(Config, Vec<Digest>), ImageError> {
    const WHAT: &str = "the config of the image";
    let Whole { architecture, os, config, rootfs } = json(WHAT, bytes)?;
    if rootfs.kind != "layers" {
        return Err(ImageError::malformed(WHAT, "its root is not made of layers"));
    }
    if os != "linux" || architecture != ARCHITECTURE {
        let found = format!("{}/{}", readable(&os), readable(&architecture));
        return Err(ImageError::Platform { wanted: ARCHITECTURE, found });
    }
    let Inner { env, entrypoint, cmd, working_dir, user } = config.unwrap_or_default();
    let config = Config {
        env: variables(env.unwrap_or_default())?,
        entrypoint: entrypoint.unwrap_or_default(),
        cmd: cmd.unwrap_or_default(),
        workdir: working_dir.filter(|folder| !folder.is_empty()),
        user: user.filter(|user| !user.is_empty()),
    };
    let words = config.entrypoint.iter().chain(&config.cmd).chain(&config.workdir).chain(&config.user);
    if words.into_iter().any(|word| word.contains('\0')) {
        return Err(ImageError::malformed(WHAT, "a word in it holds a zero byte"));
    }
    Ok((config, rootfs.diff_ids))
}

fn variables(env: Vec<String>) -> Result<Vec<(String, String)>, ImageError> {
    const WHAT: &str = "the config of the image";
    if env.len() > VARIABLES.0 || env.iter().map(String::len).sum::<usize>() > VARIABLES.1 {
        return Err(ImageError::malformed(WHAT, "it sets more variables than any program needs"));
    }
    env.into_iter()
        .map(|one| match one.split_once('=') {
            Some((name, value)) if !name.is_empty() && !one.contains('\0') => {
                Ok((name.to_owned(), value.to_owned()))
            }
            _ => Err(ImageError::malformed(WHAT, "a variable in it is not `NAME=value`")),
        })
        .collect()
}

/// The config of an image that has none: a root file system alone.
pub(crate) fn made_config(diff_id: Digest) -> Result<Vec<u8>, ImageError> {
    let rootfs = RootFs { kind: "layers".to_owned(), diff_ids: vec![diff_id] };
    written(&Whole {
        architecture: ARCHITECTURE.to_owned(),
        os: "linux".to_owned(),
        config: Some(Inner::default()),
        rootfs,
    })
}

/// The manifest of an image that has none.
pub(crate) fn made_manifest(config: &[u8], layers: Vec<Descriptor>) -> Result<Vec<u8>, ImageError> {
    let config = Descriptor {
        media_type: "application/vnd.oci.image.config.v1+json".to_owned(),
        digest: Digest::of(config),
        size: config.len() as u64,
        platform: None,
    };
    let media_type = "application/vnd.oci.image.manifest.v1+json".to_owned();
    written(&Manifest { schema_version: 2, media_type, config, layers })
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, ImageError> {
    serde_json::to_vec(value).map_err(|error| ImageError::malformed("what we write", error.to_string()))
}

pub(crate) fn json<T: for<'de> Deserialize<'de>>(what: &str, bytes: &[u8]) -> Result<T, ImageError> {
    if bytes.len() as u64 > MOST {
        return Err(ImageError::malformed(what, format!("it has more than {MOST} bytes")));
    }
    serde_json::from_slice(bytes).map_err(|error| ImageError::malformed(what, error.to_string()))
}

/// The digest of all layers together, each upon those below it.
pub(crate) fn chain(diff_ids: &[Digest]) -> Digest {
    let mut layers = diff_ids.iter();
    let Some(first) = layers.next() else { return Digest::of(b"") };
    layers.fold(*first, |below, layer| Digest::of(format!("{below} {layer}").as_bytes()))
}

/// A stranger's word, short and without control characters.
pub(crate) fn readable(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
