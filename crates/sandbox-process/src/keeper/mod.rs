//! The keeper: this program started again, alone and with an empty environment. It makes jails when the host asks, reaps them,
//! and says when each has ended.
//!
//! It never sees a byte of a guest: it reads orders of the host, and what it clones reads everything else. It must never
//! outlive the host.

mod ahead;
mod build;
mod copied;
mod covered;
mod found;
mod image;
mod look;
mod opened;
mod unbuilt;
mod way;

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use ahead::Ahead;
use bailiwick_sys::alone::Alone;
use bailiwick_sys::cgroups;
use bailiwick_sys::clone::{Child, Own, Side, into_jail};
use bailiwick_sys::mounts::{self, Less};
use bailiwick_sys::namespaces::{Differs, Mapping, map};
use bailiwick_sys::pidfd::{How, reap_one};
use bailiwick_sys::seccomp::command::{Filters, Neighbours, Sockets};
use bailiwick_sys::{Errno, Failed, Step, descriptors, ending, packets, pidfd, privileges};
use bailiwick_wire::jail::{self, Bind, FromKeeper, Lower, Place, Plan, ToKeeper};
use bailiwick_wire::{decode, encode};

/// The exit code of a program that was started as a keeper by somebody else than a host.
const NOT_FOR_PEOPLE: u8 = 64;
/// The exit code of a keeper whose host is gone.
const FINE: u8 = 0;
/// The exit code of a keeper that could not go on.
const FAILED: u8 = 70;

/// What every jail needs and only one is made of.
struct Keeper {
    alone: Alone,
    filters: Walls,
    living: BTreeMap<i32, u64>,
    ahead: Ahead,
}

/// The filters, by what the namespaces of a jail leave to them.
struct Walls {
    /// For one with namespaces of its own.
    apart: Filters,
    /// For one without any, in the host's network because that was asked for.
    among: Filters,
    /// For one without any: the filter is what keeps it from the host's network.
    alone: Filters,
}

impl Walls {
    fn compile() -> Result<Self, Failed> {
        Ok(Self {
            apart: Filters::compile(Sockets::Internet, Neighbours::Nobody)?,
            among: Filters::compile(Sockets::Internet, Neighbours::Everybody)?,
            alone: Filters::compile(Sockets::PairsOnly, Neighbours::Everybody)?,
        })
    }

    fn of(&self, plan: &Plan) -> &Filters {
        match (plan.own, plan.own_network) {
            (jail::Own::All | jail::Own::AllButUser, _) => &self.apart,
            (jail::Own::Nothing, false) => &self.among,
            (jail::Own::Nothing, true) => &self.alone,
        }
    }
}

/// Becomes a keeper and never returns.
pub(crate) fn become_one() -> ! {
    if !descriptors::is_socket(descriptors::zero()) {
        ending::exit_now(NOT_FOR_PEOPLE);
    }
    match Keeper::start() {
        Ok(mut keeper) => loop {
            match keeper.turn() {
                Ok(true) => {}
                Ok(false) => ending::exit_now(FINE),
                Err(_) => ending::exit_now(FAILED),
            }
        },
        Err(_) => ending::exit_now(FAILED),
    }
}

impl Keeper {
    fn start() -> Result<Self, Failed> {
        descriptors::close_from(1)?;
        let alone = Alone::check()?;
        // The host may already be gone; then the socket says so as well.
        privileges::die_with_parent()?;
        if privileges::identity().0 == 0 {
            // An ordinary user's keeper has to stay visible: the maps of a jail are files that only its owner writes.
            privileges::hide()?;
            privileges::clear_groups()?;
        }
        let keeper =
            Self { alone, filters: Walls::compile()?, living: BTreeMap::new(), ahead: Ahead::default() };
        ending::watch_children()?;
        tell(&FromKeeper::Ready, &[])?;
        Ok(keeper)
    }

    /// Waits for an order or an end, and does what follows. False when the host is gone.
    fn turn(&mut self) -> Result<bool, Failed> {
        ending::wait_for_packet_or_child()?;
        self.tell_endings()?;
        let mut buffer = vec![0; jail::LONGEST];
        loop {
            let packet = match packets::receive(descriptors::zero(), &mut buffer) {
                Ok(packet) => packet,
                Err(Failed { errno: Errno::AGAIN, .. }) => {
                    // Nobody waits: there is time for the next one.
                    self.look_ahead();
                    return Ok(true);
                }
                Err(failed) => return Err(failed),
            };
            let Some(bytes) = buffer.get(4..packet.length) else { return Ok(false) };
            // Host and keeper are one binary; a message that is none means that the host is not a host.
            let Ok(ToKeeper::Make { number, plan }) = decode(bytes) else { return Ok(false) };
            let mut descriptors = packet.descriptors.into_iter();
            let Some(agent) = descriptors.next() else { return Ok(false) };
            let hand = if plan.hands { descriptors.next() } else { None };
            let given: Vec<OwnedFd> = descriptors.by_ref().take(plan.given.len()).collect();
            let held: BTreeMap<String, OwnedFd> = plan.held().map(str::to_owned).zip(descriptors).collect();
            if held.len() != plan.held().count() {
                // This process may open no more: without its descriptor nothing is mounted.
                let (step, errno) = (Step::ReceivePacket.says().to_owned(), Errno::MFILE.raw_os_error());
                tell(&FromKeeper::NotStarted { number, step, errno }, &[])?;
                continue;
            }
            let streams = Streams { agent, hand, given, held };
            let order = buffer.get(..packet.length).unwrap_or_default();
            if let Err(Failed { step, errno }) = self.make(number, &plan, streams, order) {
                let step = step.says().to_owned();
                tell(&FromKeeper::NotStarted { number, step, errno: errno.raw_os_error() }, &[])?;
            }
        }
    }

    fn tell_endings(&mut self) -> Result<(), Failed> {
        while let Some(ended) = reap_one()? {
            self.ahead.ended(ended.pid);
            let Some(number) = self.living.remove(&ended.pid) else { continue };
            let status = match ended.how {
                How::Exited(code) => i32::from(code),
                How::Signalled(signal) => 128 + i32::from(signal),
            };
            tell(&FromKeeper::Ended { number, status }, &[])?;
        }
        Ok(())
    }

    /// Starts the first process of a jail, or takes one that was started ahead.
    fn make(&mut self, number: u64, plan: &Plan, streams: Streams, order: &[u8]) -> Result<(), Failed> {
        let doors: Vec<OwnedFd> =
            plan.doors.iter().map(|door| cgroups::open_door(Path::new(door))).collect::<Result<_, _>>()?;
        self.ahead.asked_for(plan);
        if let Some(child) = self.ahead.hand_over(plan, order, &streams.agent, &doors) {
            self.living.insert(child.pid, number);
            return tell(&FromKeeper::Started { number }, &[child.pidfd.as_fd()]);
        }
        self.start_one(number, plan, streams, doors)
    }

    /// Starts the first process of a jail, and does for it what can be done only from outside.
    fn start_one(
        &mut self,
        number: u64,
        plan: &Plan,
        Streams { agent: stream, hand, given, held }: Streams,
        doors: Vec<OwnedFd>,
    ) -> Result<(), Failed> {
        let own = match plan.own {
            jail::Own::All => Own::All,
            jail::Own::AllButUser => Own::AllButUser,
            jail::Own::Nothing => Own::Nothing,
        };
        let copies = self.copies(plan, &held);
        let (outer, inner) = packets::packet_pair()?;
        match into_jail(own, plan.own_network, &self.alone)? {
            Side::Child => {
                drop((outer, std::mem::take(&mut self.ahead)));
                let handed = Handed { doors, copies, held, hand, given };
                build::live(plan, stream, handed, inner, self.filters.of(plan))
            }
            Side::Parent(child) => {
                drop((inner, doors, copies, held, stream, hand, given));
                let outside = match settle(own, &child, plan) {
                    Ok(outside) => outside,
                    Err(failed) => {
                        pidfd::kill(&child.pidfd)?;
                        return Err(failed);
                    }
                };
                self.living.insert(child.pid, number);
                tell(&FromKeeper::Started { number }, &[child.pidfd.as_fd()])?;
                tell_child(&outer, &child, outside)
            }
        }
    }

    /// Starts one ahead, if another of the kind that was asked for last is likely to be.
    fn look_ahead(&mut self) {
        let Some(plan) = self.ahead.wanted() else { return };
        let Ok((outer, inner)) = packets::packet_pair() else { return };
        match into_jail(Own::All, true, &self.alone) {
            Ok(Side::Child) => {
                drop((outer, std::mem::take(&mut self.ahead)));
                build::wait(&plan, inner, self.filters.of(&plan))
            }
            Ok(Side::Parent(child)) => {
                drop(inner);
                let told =
                    settle(Own::All, &child, &plan).and_then(|outside| tell_child(&outer, &child, outside));
                match told {
                    Ok(()) => self.ahead.keep(child, outer, plan),
                    // Without it the next one only takes longer.
                    Err(_) => {
                        let _gone = pidfd::kill(&child.pidfd);
                    }
                }
            }
            Err(_) => {}
        }
    }
}

/// Tells a jail which of its namespaces are its own, and who it is outside.
fn tell_child(outer: &OwnedFd, child: &Child, outside: u32) -> Result<(), Failed> {
    let differs = Differs::look(child.pid)?;
    let mut told = vec![differs.to_byte()];
    told.extend_from_slice(&outside.to_le_bytes());
    // A process that is gone is noticed by its end.
    let _gone = packets::write(outer, &told);
    Ok(())
}

impl Keeper {
    /// As root, copies of what was asked for of the host's, by their places: the jail's user may not get as far as where they are.
    /// Writable ones look as if that user owned them; where a file system cannot do that, the folder is as it is, and its
    /// permissions say what can be done.
    fn copies(&self, plan: &Plan, held: &BTreeMap<String, OwnedFd>) -> BTreeMap<String, OwnedFd> {
        let Some(outside) = plan.outside.first().copied() else { return BTreeMap::new() };
        let owned = |from: &OwnedFd, owner: Option<(u32, u32)>| {
            let (user, group) = owner?;
            let user = Mapping { inside: user, user: outside, group: outside };
            let group = Mapping { inside: group, user: outside, group: outside };
            mounts::owned_copy(from, user, group, &self.alone).ok()
        };
        let copy = |place: &Place| {
            let Place::Bind(Bind { to, writable, is_held: true, owner, .. }) = place else {
                return None;
            };
            let from = held.get(to)?;
            let owned = owned(from, *owner);
            let less = if *writable { Less::WRITE } else { Less::READ };
            // What cannot be copied is looked for by the jail itself, which says why it cannot be mounted.
            let copy = owned.or_else(|| mounts::copy(from, less).ok())?;
            Some((to.clone(), copy))
        };
        let lower = |lower: &Lower| Some((lower.to.clone(), owned(held.get(&lower.to)?, lower.owner)?));
        let image = |image: &Lower| {
            // One that cannot be made to look like the sandbox's is copied, and has to be read for that.
            let read = || mounts::copy(held.get(&image.to)?, Less::READ).ok();
            lower(image).or_else(|| Some((image.to.clone(), read()?)))
        };
        let lowers = plan.image.iter().filter_map(image).chain(plan.overlays.iter().filter_map(lower));
        plan.places.iter().filter_map(copy).chain(lowers).collect()
    }
}

/// The ends of a jail's streams to the host.
struct Streams {
    /// The agent's.
    agent: OwnedFd,
    /// The one that descriptors are handed over by.
    hand: Option<OwnedFd>,
    /// The texts of files, in the order of the plan.
    given: Vec<OwnedFd>,
    /// What is mounted of the host's, by its place.
    held: BTreeMap<String, OwnedFd>,
}

/// What the first process of a jail is handed.
#[derive(Default)]
pub(crate) struct Handed {
    /// The doors of its cgroups.
    pub(crate) doors: Vec<OwnedFd>,
    /// Folders of the host's that look like its own, by their places.
    pub(crate) copies: BTreeMap<String, OwnedFd>,
    /// What is mounted of the host's, by its place, as descriptors of the host's mount namespace.
    pub(crate) held: BTreeMap<String, OwnedFd>,
    /// Where it hands descriptors to the host.
    pub(crate) hand: Option<OwnedFd>,
    /// The texts of files, in the order of the plan.
    pub(crate) given: Vec<OwnedFd>,
}

/// Writes the maps of a jail's user namespace; gives who it is outside.
fn settle(own: Own, child: &Child, plan: &Plan) -> Result<u32, Failed> {
    let (user, group) = privileges::identity();
    if own != Own::All {
        return Ok(plan.outside.first().copied().unwrap_or(user));
    }
    let inside = plan.inside;
    let mut result = Err(Step::MapUser.failed(Errno::PERM));
    for outside in &plan.outside {
        result = map(child.pid, Mapping { inside, user: *outside, group: *outside });
        if result.is_ok() {
            return Ok(*outside);
        }
    }
    if plan.outside.is_empty() {
        result = map(child.pid, Mapping { inside, user, group });
    }
    result.map(|()| user)
}

/// Tells the host.
fn tell(message: &FromKeeper, descriptors: &[std::os::fd::BorrowedFd<'_>]) -> Result<(), Failed> {
    let frame = encode(message).map_err(|_| Step::SendPacket.failed(Errno::INVAL))?;
    packets::send(descriptors::zero(), &frame, descriptors)
}
