//! The steps of building a wall, each with its own name: an error says which one failed, not merely that one did.

use rustix::io::Errno;

macro_rules! steps {
    ($($variant:ident $says:literal;)+) => {
        /// One step.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Step { $(#[doc = $says] $variant,)+ }

        impl Step {
            /// What the step does, in a few words.
            pub const fn says(self) -> &'static str {
                match self { $(Self::$variant => $says,)+ }
            }

            /// This step, failed.
            pub const fn failed(self, errno: Errno) -> Failed {
                Failed { step: self, errno }
            }
        }
    };
}

steps! {
    CountThreads "count the threads of this process";
    MoreThreads "be the only thread of this process";
    CloseInherited "close what was inherited";
    MoveDescriptor "put a descriptor in its place";
    MakeSocketPair "make a pair of sockets";
    SendPacket "send a packet";
    ReceivePacket "receive a packet";
    CloneNamespaces "start a process in namespaces of its own";
    CloneCell "fork a process with a pidfd";
    DenyGroups "deny setgroups in the user namespace";
    MapGroup "write the group map of the user namespace";
    MapUser "write the user map of the user namespace";
    LookAtNamespace "compare namespaces";
    PrivateMounts "make the mounts private";
    MountRoot "mount an empty file system";
    EnterRoot "enter the empty file system";
    PivotRoot "make it the root";
    DetachOldRoot "detach the old root";
    SealRoot "make the root read-only";
    LookAtRoot "look at the root";
    KeepCapabilities "keep capabilities across the change of user";
    ClearGroups "clear supplementary groups";
    ChangeGroup "change the group";
    ChangeUser "change the user";
    DropBounding "empty the capability bounding set";
    DropCapabilities "drop capabilities";
    NoNewPrivileges "rule out new privileges";
    NotDumpable "make the process not dumpable";
    DieWithParent "ask to die with the parent";
    SetBound "set a resource limit";
    CompileFilter "compile the system call filter";
    InstallFilter "install the system call filter";
    MapSignalStack "map a stack for signal handlers";
    SetSignalStack "set the stack for signal handlers";
    SetHandler "set a signal handler";
    BlockChildSignal "block the signal of ended children";
    Reap "reap an ended child";
    StartSelf "start this program again";
    Kill "kill by pidfd";
    MakeCgroup "make a cgroup";
    WriteCgroup "write a cgroup's bounds";
    JoinCgroup "move a process into a cgroup";
    ReadMemorySize "read the size of this process's memory";
    LookAtPages "look at the pages of this process";
    PinPages "have forks copy pages at once";
    Wait "wait for a descriptor";
    MountMemory "mount a file system in memory";
    BindMount "mount a folder of the host";
    MapMount "have a folder of the host belong to the sandbox";
    NarrowMount "take rights from a mount";
    MountProcesses "mount the processes of the sandbox";
    MountTerminals "mount terminals of its own";
    MountDevices "mount the devices of this kernel";
    MountCgroups "mount the cgroups of this kernel";
    MountServed "mount the files that the host serves";
    LoadModule "load a module of the kernel";
    FindModules "find the modules of the kernel";
    OpenPort "open the port to the host";
    OpenServed "open what asks the host for files";
    SetClock "set the clock";
    SeedRandom "seed the random numbers of the kernel";
    DetachMount "detach a mount";
    MakePlace "make a place in the new root";
    WritePlace "write a file of the new root";
    LayOver "lay one folder over another";
    KeepMarks "keep the marks of an overlay in memory";
    CopyImage "copy the image into memory";
    ChangedMeanwhile "find the folder that was checked";
    RestrictFiles "restrict files by Landlock";
    NameHost "name the host inside";
    RaiseLoopback "raise the loopback inside";
    ListenInside "listen inside";
    HandOver "hand descriptors over";
    LookAtSelf "look at this process";
    HideCgroups "hide where the cgroups are";
    ReadCgroup "read a cgroup's account";
    FreezeCgroup "freeze a cgroup";
    RemoveCgroup "remove a cgroup";
    MapChildStack "map a stack for commands that start";
    BlockSignals "set which signals are blocked";
    ForkCommand "fork";
    BeginSession "begin a session";
    PlaceStreams "put the streams in place";
    TakeTerminal "take the terminal";
    EnterFolder "change to the working folder";
    Execute "execute";
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.says())
    }
}

/// A step that failed, and what the system said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot {step}: {errno}")]
pub struct Failed {
    /// Which step.
    pub step: Step,
    /// What the system said.
    pub errno: Errno,
}
