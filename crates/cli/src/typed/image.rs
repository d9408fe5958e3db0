//! `bailiwick image …`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bailiwick image …`
#[derive(Debug, Subcommand)]
pub(crate) enum Image {
    /// List the images that are here
    #[command(visible_alias = "list")]
    Ls,
    /// Fetch an image from its registry, for example debian:12
    Pull(Pull),
    /// Take an image in: a root file system (folder or archive), an OCI layout, what `docker save` wrote
    Import(Import),
    /// Remove images; what a sandbox still uses stays until it ends
    Rm(Rm),
}

/// `bailiwick image pull`
#[derive(Debug, Args)]
pub(crate) struct Pull {
    /// Its name: NAME, NAME:TAG or NAME@DIGEST, with REGISTRY/ in front of it where it is not the usual one
    pub(crate) image: String,
}

/// `bailiwick image import`
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The folder or the archive (.tar, .tar.gz, .tar.zst)
    pub(crate) from: PathBuf,
    /// The name that it gets: NAME or NAME:TAG
    pub(crate) name: String,
}

/// `bailiwick image rm`
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// Their names or digests
    #[arg(required = true)]
    pub(crate) images: Vec<String>,
}
