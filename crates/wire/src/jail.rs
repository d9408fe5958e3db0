//! What a host and its keeper say to each other about jails, and what a jail says of itself when it stands.
//!
//! The keeper is ours and sees no byte of a guest. A jail tells what it saw of its walls before anything of a guest runs in
//! it; from then on it is an agent, and hostile.

use serde::{Deserialize, Serialize};

/// The longest packet.
pub const LONGEST: usize = 128 * 1024;

/// Which namespaces a jail gets of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Own {
    /// All, a user namespace among them.
    All,
    /// All but a user namespace, for a root that may not make one.
    AllButUser,
    /// None.
    Nothing,
}

/// Something in the new root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// An empty folder.
    Folder {
        /// Where.
        at: String,
    },
    /// A symbolic link.
    Link {
        /// Where.
        at: String,
        /// To what.
        to: String,
    },
    /// A file that we write.
    File {
        /// Where.
        at: String,
        /// What is in it.
        text: String,
    },
    /// Something of the host's.
    Bind(Bind),
    /// A device of the host's.
    Device {
        /// Where, inside and outside.
        at: String,
    },
}

/// A folder or a file of the host's inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// Where it was on the host when it was held, with no link on the way.
    pub from: String,
    /// Where it is inside.
    pub to: String,
    /// Whether it can be written to.
    pub writable: bool,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether its descriptor is beside the plan, see [`Plan::held`]: then that is mounted, and nothing is looked up by name.
    pub is_held: bool,
    /// Who owns it, where it should look as if the sandbox did: user and group.
    pub owner: Option<(u32, u32)>,
}

/// A folder of the host's that others are written over, and that stays as it is. Its descriptor is beside the plan, see
/// [`Plan::held`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lower {
    /// Where it was on the host when it was held.
    pub from: String,
    /// Where it is inside; the root for an image.
    pub to: String,
    /// Who owns what is in it, where that should look as if the sandbox did: user and group.
    pub owner: Option<(u32, u32)>,
}

/// Where a jail listens for the host, in its own network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listens {
    /// For those who know that there is a proxy.
    pub proxy: std::net::SocketAddrV4,
    /// For whoever wants to know the address of a name, by datagrams and by connections.
    pub names: std::net::SocketAddrV4,
    /// For everybody else, at any address.
    pub ports: Vec<u16>,
}

/// What a jail is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one decision; none follows from another")]
pub struct Plan {
    /// Its namespaces.
    pub own: Own,
    /// Whether its network is its own, too.
    pub own_network: bool,
    /// Who it is inside.
    pub inside: u32,
    /// Who it is outside, first choice first; empty for whoever the keeper is.
    pub outside: Vec<u32>,
    /// What is in the root.
    pub places: Vec<Place>,
    /// What of `/proc` is covered.
    pub masks: Vec<String>,
    /// Bytes of its own files.
    pub disk: u64,
    /// How many files of its own there can be.
    pub files: u64,
    /// Folders of its own that can be written to.
    pub folders: Vec<String>,
    /// Whether it may be reset, so that how it is at birth has to be remembered.
    pub resets: bool,
    /// Folders that Landlock leaves open to be read, where there is no root of its own.
    pub readable: Vec<String>,
    /// The most processes, the agent not counted.
    pub processes: Option<u32>,
    /// The doors of its cgroups.
    pub doors: Vec<String>,
    /// The image that is its root, in place of the host's programs.
    pub image: Option<Lower>,
    /// Whether anything is laid over anything: where that is not to be had, an image is copied.
    pub lays: bool,
    /// Folders of the host's that it sees as if it could change them.
    pub overlays: Vec<Lower>,
    /// Where it listens for the host.
    pub listens: Option<Listens>,
    /// Files of its root whose texts are beside, after the socket for handing over, in this order.
    pub given: Vec<String>,
    /// Whether it hands descriptors over: first where it listens, in the order of [`Listens`], then what is written over each
    /// overlay. The socket for them is beside the agent's stream.
    pub hands: bool,
    /// The most memory of its own that one process can have, where there is no cgroup for all of them.
    pub data: Option<u64>,
}

impl Plan {
    /// Where each descriptor belongs that is beside the plan, after the texts of [`Plan::given`], in their order: held mounts, the
    /// image, overlays.
    pub fn held(&self) -> impl Iterator<Item = &str> {
        let mounts = self.places.iter().filter_map(|place| match place {
            Place::Bind(Bind { to, is_held: true, .. }) => Some(to),
            _ => None,
        });
        let lowers = self.image.iter().chain(&self.overlays).map(|lower| &lower.to);
        mounts.chain(lowers).map(String::as_str)
    }
}

/// What a keeper is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToKeeper {
    /// Makes a jail; its end of the agent's stream is beside, and the socket to hand descriptors over if it does.
    Make {
        /// The number of the jail.
        number: u64,
        /// What it is to be.
        plan: Box<Plan>,
    },
}

/// What a keeper says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromKeeper {
    /// It listens.
    Ready,
    /// The first process of a jail was started; its handle is beside.
    Started {
        /// Which jail.
        number: u64,
    },
    /// It was not.
    NotStarted {
        /// Which jail.
        number: u64,
        /// The step that failed.
        step: String,
        /// What the system said.
        errno: i32,
    },
    /// The first process of a jail has ended, and with it all others of its pid namespace.
    Ended {
        /// Which jail.
        number: u64,
        /// How: an exit code, or 128 and the signal.
        status: i32,
    },
}

/// The first thing that comes over an agent's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromJail {
    /// It stands, and this was seen of it.
    Built(Box<Standing>),
    /// It does not.
    Unbuilt {
        /// The step that failed.
        step: String,
        /// What the system said.
        errno: i32,
    },
    /// It does not, since the image has to be copied and does not fit.
    TooLarge {
        /// The bytes that it needs.
        bytes: u64,
        /// The files that it needs.
        files: u64,
        /// Why it has to be copied.
        why: String,
    },
}

/// How an image is the root of a jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Laid {
    /// Its files are below, and what is written is over them.
    Over,
    /// Its files were copied.
    Copied {
        /// Why.
        why: String,
    },
}

/// What a jail saw of its walls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one observation; none follows from another")]
pub struct Standing {
    /// Its user namespace is its own.
    pub user: bool,
    /// Its pid namespace is its own.
    pub pid: bool,
    /// Its network namespace is its own.
    pub net: bool,
    /// Its mount namespace is its own.
    pub mount: bool,
    /// Its IPC namespace is its own.
    pub ipc: bool,
    /// Its UTS namespace is its own.
    pub uts: bool,
    /// Its root is the built one, and cannot be written to.
    pub root: bool,
    /// How its image is its root, if it has one.
    pub image: Option<Laid>,
    /// Who it is outside.
    pub outside: u32,
    /// It has no supplementary groups.
    pub no_groups: bool,
    /// No capability is left, in the bounding set neither.
    pub no_capabilities: bool,
    /// Nothing that it executes gains privileges.
    pub no_new_privileges: bool,
    /// The first process cannot be traced or dumped.
    pub hidden: bool,
    /// The version of Landlock, and whether all of it is in force.
    pub landlock: Option<(u8, bool)>,
    /// A signal from here was seen not to reach a process of the same user outside.
    pub signals_stay: bool,
    /// The mark of the filters in force.
    pub filter: Option<String>,
    /// The agent answers commands that ask for sockets whose memory nobody is charged for.
    pub supervised: bool,
    /// `/proc` is its own.
    pub processes: bool,
    /// The most processes that it can have, by its resource limit.
    pub most_processes: Option<u64>,
    /// The cgroups that it lives in now.
    pub joined: u32,
    /// The most memory of its own that one process can have, by its resource limit.
    pub most_data: Option<u64>,
}
