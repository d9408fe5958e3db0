//! `bailiwick exec …` and `bailiwick sandbox …`, as typed.

use clap::{Args, Subcommand};

/// `bailiwick exec`
#[derive(Debug, Args)]
pub(crate) struct Exec {
    #[command(flatten)]
    pub(crate) sandbox: SandboxFlags,
    #[command(flatten)]
    pub(crate) streams: StreamFlags,
    /// Where the command begins [default: /work]
    #[arg(long, value_name = "PATH")]
    pub(crate) cwd: Option<String>,
    /// How long it may run, for example 5s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) timeout: Option<String>,
    /// Take what it changes under overlays, if it ends well
    #[arg(long, requires = "overlay")]
    pub(crate) commit: bool,
    /// Have /bin/sh read this text, in place of a command
    #[arg(long, value_name = "TEXT", conflicts_with = "argv")]
    pub(crate) shell: Option<String>,
    /// The command and its words; no shell reads them
    #[arg(required_unless_present = "shell", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) argv: Vec<String>,
}

/// What a sandbox is to be.
#[derive(Debug, Default, Args)]
pub(crate) struct SandboxFlags {
    /// The backend that has to be used
    #[arg(long, value_name = "ID")]
    pub(crate) backend: Option<String>,
    /// The weakest wall: process, container, user-kernel, micro-vm
    #[arg(long, value_name = "TIER", conflicts_with = "backend")]
    pub(crate) tier: Option<String>,
    /// What it can reach: none, allow:HOST,… (or HOST:PORT), git, full, host [default: none]
    #[arg(long, value_name = "NETWORK")]
    pub(crate) net: Option<String>,
    /// A folder or file of this machine inside of it, read-only unless `:rw` is behind it
    #[arg(long, value_name = "HOST:SANDBOX[:rw]")]
    pub(crate) mount: Vec<String>,
    /// A secret that commands use and never see, in that header and to those hosts only
    #[arg(long, value_name = "VARIABLE=SECRET@HOST:HEADER")]
    pub(crate) secret: Vec<String>,
    /// A folder of this machine that it sees as if it could change it; nothing lands before somebody takes it
    #[arg(long, value_name = "HOST[:SANDBOX]")]
    pub(crate) overlay: Vec<String>,
    /// The image that it begins with, in place of this machine's programs
    #[arg(long, value_name = "NAME")]
    pub(crate) image: Option<String>,
    /// A variable; nothing else of this environment is there
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Limits by name: minimal, standard, dev
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The most memory of its processes and its own files together, for example 64M
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory: Option<String>,
    /// The most CPU, in cores, for example 0.5
    #[arg(long, value_name = "CORES", allow_hyphen_values = true)]
    pub(crate) cpu: Option<String>,
    /// The most that its own files take; they count within --memory, so this cannot be more
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) disk: Option<String>,
    /// The most processes at once
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) processes: Option<String>,
    /// The most output of each stream
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) output: Option<String>,
    /// Ties this to what caused it
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
}

/// How a command is talked with.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct StreamFlags {
    /// Hand stdin on, also where it is a terminal; what is piped always is
    #[arg(short, long)]
    pub(crate) interactive: bool,
    /// Give it a terminal of its own
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) tty: bool,
}

/// `bailiwick sandbox …`
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one of it, made once")]
pub(crate) enum Sandbox {
    /// Make a sandbox that outlives this command; `bailiwick serve` keeps it
    Create(Create),
    /// List the sandboxes that are kept
    #[command(visible_alias = "list")]
    Ls,
    /// Show one: what it was made from, what holds its walls, what it has used
    Show(Named),
    /// Run a command in one; exits as the command does
    Exec(ExecIn),
    /// A shell in one, at this terminal
    Shell(ShellIn),
    /// Copy files or folders into one or out of one: ID:PATH is inside
    Cp(Cp),
    /// Have a port of this machine lead to a port inside of one, or list those that do
    Expose(Expose),
    /// Show what one has changed of folders under its overlays
    Diff(Review),
    /// Take such changes: write them to the folder, all or none
    Commit(Take),
    /// Drop such changes
    Discard(Review),
    /// Keep the state of its files, list what is kept, or forget it
    Snapshot(Snapshot),
    /// Put one to sleep until it is used again
    Hibernate(Named),
    /// Wake one
    Resume(Named),
    /// Make another that begins with the state of its files
    Fork(Fork),
    /// End what runs in one, politely first; its files are kept
    Stop(Named),
    /// End some and remove everything of them
    Rm(Rm),
}

/// `bailiwick sandbox create`
#[derive(Debug, Args)]
pub(crate) struct Create {
    #[command(flatten)]
    pub(crate) sandbox: SandboxFlags,
    /// What to call it
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Where commands begin [default: /work]
    #[arg(long, value_name = "PATH")]
    pub(crate) cwd: Option<String>,
    /// How long each command may run, for example 5m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) timeout: Option<String>,
    /// A port inside that may be exposed
    #[arg(long, value_name = "PORT")]
    pub(crate) expose: Vec<u16>,
    /// Begin with the files of this snapshot
    #[arg(long, value_name = "ID")]
    pub(crate) from: Option<String>,
    /// How long it lives while nobody uses it
    #[arg(long, value_name = "TIME")]
    pub(crate) idle: Option<String>,
    /// How long it lives at most
    #[arg(long, value_name = "TIME")]
    pub(crate) absolute: Option<String>,
}

/// One sandbox.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Its id, the beginning of it, or its name
    pub(crate) sandbox: String,
}

/// `bailiwick sandbox exec`
#[derive(Debug, Args)]
pub(crate) struct ExecIn {
    /// Its id, the beginning of it, or its name
    pub(crate) sandbox: String,
    #[command(flatten)]
    pub(crate) streams: StreamFlags,
    /// A variable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Where the command begins
    #[arg(long, value_name = "PATH")]
    pub(crate) cwd: Option<String>,
    /// How long it may run, if that is sooner than the sandbox's own limit
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) timeout: Option<String>,
    /// Ties this to what caused it
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
    /// Have /bin/sh read this text, in place of a command
    #[arg(long, value_name = "TEXT", conflicts_with = "argv")]
    pub(crate) shell: Option<String>,
    /// The command and its words; no shell reads them
    #[arg(required_unless_present = "shell", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) argv: Vec<String>,
}

/// `bailiwick sandbox shell`
#[derive(Debug, Args)]
pub(crate) struct ShellIn {
    /// Its id, the beginning of it, or its name
    pub(crate) sandbox: String,
    /// Another program than /bin/sh, and its words
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) argv: Vec<String>,
}

/// `bailiwick sandbox cp`
#[derive(Debug, Args)]
pub(crate) struct Cp {
    /// What to copy: a path here, or ID:PATH
    pub(crate) from: String,
    /// Where to: ID:PATH, or a path here
    pub(crate) to: String,
}

/// `bailiwick sandbox expose`
#[derive(Debug, Args)]
pub(crate) struct Expose {
    /// Its id, the beginning of it, or its name
    pub(crate) sandbox: String,
    /// The port inside, which it was made with: create --expose; without it, list those that are exposed
    pub(crate) port: Option<u16>,
}

/// `bailiwick sandbox diff` and `discard`
#[derive(Debug, Args)]
pub(crate) struct Review {
    /// Its id, the beginning of it, or its name
    pub(crate) sandbox: String,
    /// Paths below the folder, as the diff shows them; all of them without
    pub(crate) paths: Vec<String>,
    /// The overlay, by its place inside, where there are several
    #[arg(long, value_name = "PATH")]
    pub(crate) at: Option<String>,
}

/// `bailiwick sandbox commit`
#[derive(Debug, Args)]
pub(crate) struct Take {
    #[command(flatten)]
    pub(crate) review: Review,
    /// Take links that lead out of the folder, too
    #[arg(long)]
    pub(crate) links_out: bool,
}

/// `bailiwick sandbox snapshot`
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Snapshot {
    /// The sandbox whose files are kept
    pub(crate) sandbox: Option<String>,
    /// List the snapshots that are kept
    #[arg(long)]
    pub(crate) list: bool,
    /// Forget this snapshot
    #[arg(long, value_name = "ID")]
    pub(crate) forget: Option<String>,
}

/// `bailiwick sandbox fork`
#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// Its id, the beginning of it, or its name
    pub(crate) sandbox: String,
    /// What to call the other
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// `bailiwick sandbox rm`
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// Their ids, the beginnings of these, or names
    #[arg(required = true)]
    pub(crate) sandboxes: Vec<String>,
}
