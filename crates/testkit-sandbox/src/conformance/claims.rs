//! What a backend claims, as far as backends differ.

use std::time::Duration;

use bailiwick_types::Tier;

/// What a backend claims.
#[derive(Debug, Clone)]
pub struct Claims {
    /// How strong its wall is.
    pub tier: Tier,
    /// How much it is preferred to others.
    pub priority: u32,
    /// The user that commands are.
    pub user: u32,
    /// The kernel that commands run on.
    pub kernel: Kernel,
    /// What a sandbox keeps on the host while it sleeps.
    pub sleep: Sleep,
    /// What a snapshot has in it.
    pub snapshots: Snapshots,
    /// What becomes of a sandbox that is given back to its pool.
    pub leases: Leases,
    /// What becomes of writes to the root that an image is; `None` where the suite's images cannot be used.
    pub image_root: Option<ImageRoot>,
    /// Who owns what a sandbox writes to a mount.
    pub mount_owner: MountOwner,
    /// What ends where memory does.
    pub out_of_memory: OutOfMemory,
    /// Whether a sandbox may have the host's own network.
    pub host_network: HostNetwork,
    /// A deadline within which a command surely begins.
    pub deadline: Duration,
    /// How many sandboxes an owner has that is killed.
    pub orphans: usize,
}

/// The kernel that commands run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// One of the sandbox's own.
    Own,
    /// The host's.
    Host,
}

/// What a sandbox keeps on the host while it sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sleep {
    /// Next to no memory.
    FreesMemory,
    /// Its processes, which stand still.
    StandsStill,
}

/// What a snapshot has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshots {
    /// Files, memory and what runs. It is only good for a spec like its own.
    Running,
    /// The sandbox's own files.
    Files,
}

/// What becomes of a sandbox that is given back to its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leases {
    /// It is made as it was at birth, is proven to be, and lent again.
    PutBack,
    /// Another one takes its place.
    Replaced,
}

/// What becomes of writes to the root that an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageRoot {
    /// They are refused.
    ReadOnly,
    /// They are the sandbox's own, and go with it.
    Scratch,
}

/// Who owns what a sandbox writes to a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountOwner {
    /// The owner of what is mounted, who the sandbox writes as.
    OfTheMount,
    /// The sandbox's user, who needs the permission.
    OfTheSandbox,
}

/// What ends where memory does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfMemory {
    /// The command.
    EndsTheCommand,
    /// The sandbox.
    EndsTheSandbox,
}

/// Whether a sandbox may have the host's own network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostNetwork {
    /// It may.
    Allowed,
    /// Asking for it is refused.
    Refused,
}
