//! Building a jail around this process, step by step, in the order in which each still can be built; then looking at what
//! stands, telling it, and becoming the agent.
//!
//! A step without which something would be open ends the process. Nothing of a guest runs before the last step.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use bailiwick_agent::Supervision;
use bailiwick_sys::clock::wait_readable;
use bailiwick_sys::landlock;
use bailiwick_sys::mounts::{self, Less, Size};
use bailiwick_sys::namespaces::{self, Differs};
use bailiwick_sys::seccomp::command::Filters;
use bailiwick_sys::seccomp::supervised::Supervised;
use bailiwick_sys::{Errno, Failed, Step, bounds, cgroups, ending, loopback, packets, privileges};
use bailiwick_wire::jail::{self, Bind, FromJail, Laid, Listens, Own, Place, Plan, Standing, ToKeeper};
use bailiwick_wire::{decode, encode};

use super::found::Found;
use super::opened::opened;
use super::unbuilt::Unbuilt;
use super::{Handed, covered, image, look, way};

/// The exit code of a jail that could not be built.
const UNBUILT: u8 = 71;
/// Where the host's files are while the root is built.
pub(super) const OLD: &str = "/.old";
/// Where the sandbox's own files are while the root is built.
const OWN: &str = "/.own";
/// Folders of which at least one exists on any machine; the new root is mounted over it, in this mount namespace only.
const PLACES: [&str; 5] = ["/tmp", "/run", "/var", "/dev", "/proc"];
/// What the sandbox calls itself.
const HOST: &str = "sandbox";

/// The life of a jail's first process. Never returns.
pub(super) fn live(
    plan: &Plan,
    stream: OwnedFd,
    mut handed: Handed,
    keeper: OwnedFd,
    filters: &Filters,
) -> ! {
    let prepared = prepare(plan, &mut handed, &keeper);
    drop(keeper);
    go_on(plan, stream, handed, prepared, filters)
}

/// The life of a jail's first process that was started ahead: it builds what all of its kind have in common, and waits for the
/// plan. Never returns.
pub(super) fn wait(kind: &Plan, keeper: OwnedFd, filters: &Filters) -> ! {
    let prepared = prepare(kind, &mut Handed::default(), &keeper);
    let Some((plan, stream, doors)) = hear_plan(&keeper) else { ending::exit_now(UNBUILT) };
    drop(keeper);
    go_on(&plan, stream, Handed { doors, ..Handed::default() }, prepared, filters)
}

/// Waits for a plan, the stream to the host and the doors of cgroups; none when the keeper is gone.
fn hear_plan(keeper: &OwnedFd) -> Option<(Box<Plan>, OwnedFd, Vec<OwnedFd>)> {
    let mut buffer = vec![0; jail::LONGEST];
    loop {
        wait_readable(keeper, None).ok()?;
        let packet = match packets::receive(keeper, &mut buffer) {
            Err(Failed { errno: Errno::AGAIN, .. }) => continue,
            received => received.ok()?,
        };
        let Ok(ToKeeper::Make { plan, .. }) = decode(buffer.get(4..packet.length)?) else { return None };
        let mut descriptors = packet.descriptors.into_iter();
        let stream = descriptors.next()?;
        return Some((plan, stream, descriptors.collect()));
    }
}

/// Builds the rest, tells what stands, and becomes the agent.
fn go_on(
    plan: &Plan,
    stream: OwnedFd,
    Handed { doors, copies, held, hand, given: _ }: Handed,
    prepared: Result<Prepared, Unbuilt>,
    filters: &Filters,
) -> ! {
    let finished = prepared.and_then(|prepared| {
        let found = Found { copies: &copies, held: &held };
        let (standing, handed, supervision) = finish(plan, doors, found, prepared, filters)?;
        hand_over(hand.as_ref(), &handed)?;
        Ok((standing, supervision))
    });
    // The agent holds nothing of the host's.
    drop((copies, held));
    match finished {
        Ok((standing, supervision)) => {
            let signals_stay = standing.signals_stay;
            if send(&stream, &FromJail::Built(Box::new(standing))).is_err() {
                ending::exit_now(UNBUILT);
            }
            let setup = bailiwick_agent::Setup {
                is_init: plan.own != Own::Nothing,
                signals_stay,
                owns_ipc: plan.own != Own::Nothing,
                reset: plan.resets.then(|| plan.folders.clone()),
                hand,
                supervision,
            };
            ending::exit_now(bailiwick_agent::run(stream, setup))
        }
        Err(unbuilt) => {
            let said = match unbuilt {
                Unbuilt::Failed(Failed { step, errno }) => {
                    FromJail::Unbuilt { step: step.says().to_owned(), errno: errno.raw_os_error() }
                }
                Unbuilt::TooLarge { needs: Size { bytes, files }, why } => {
                    FromJail::TooLarge { bytes, files, why }
                }
            };
            // When the host cannot be told, it sees the stream close.
            let _host_gone = send(&stream, &said);
            ending::exit_now(UNBUILT)
        }
    }
}

fn send(stream: &OwnedFd, message: &FromJail) -> Result<(), Failed> {
    let failed = |errno| Step::SendPacket.failed(errno);
    let frame = encode(message).map_err(|_| failed(Errno::INVAL))?;
    let mut rest = frame.as_slice();
    while !rest.is_empty() {
        let written = packets::write(stream, rest).map_err(failed)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Hands over what is the host's to hold.
fn hand_over(hand: Option<&OwnedFd>, descriptors: &[OwnedFd]) -> Result<(), Failed> {
    if descriptors.is_empty() {
        return Ok(());
    }
    let hand = hand.ok_or_else(|| Step::HandOver.failed(Errno::BADF))?;
    let descriptors: Vec<_> = descriptors.iter().map(OwnedFd::as_fd).collect();
    packets::send(hand, b"hand", &descriptors)
}

/// What the keeper told, and what is there once what all sandboxes of a kind have in common is built.
struct Prepared {
    differs: Differs,
    outside: u32,
    /// How the image is its root; its own files are mounted already then.
    image: Option<Laid>,
    /// The cgroups that it has joined.
    joined: u32,
    /// Where it listens for the host.
    listeners: Vec<OwnedFd>,
}

/// Builds what all sandboxes of a kind have in common: who it is, its network, its root but for what is its own.
fn prepare(plan: &Plan, handed: &mut Handed, keeper: &OwnedFd) -> Result<Prepared, Unbuilt> {
    let (differs, outside) = hear(keeper)?;
    become_somebody(plan, outside)?;
    let mut prepared = Prepared { differs, outside, image: None, joined: 0, listeners: Vec::new() };
    if plan.own != Own::Nothing {
        if plan.image.is_some() {
            // What is copied of an image is memory, and has to be counted as the sandbox's from its first byte.
            prepared.joined = join(std::mem::take(&mut handed.doors))?;
        }
        prepared.image = begin_root(plan, Found { copies: &handed.copies, held: &handed.held })?;
        for (at, text) in plan.given.iter().zip(&handed.given) {
            image::write(Path::new(at), &whole(text)?)?;
        }
        loopback::name_host(HOST)?;
        if plan.own_network {
            loopback::raise()?;
            // In the host's network there must be no such thing: whoever comes there is not the sandbox.
            prepared.listeners = plan.listens.as_ref().map_or(Ok(Vec::new()), listen)?;
            // After the host's own listeners, which keep their queues and buffers.
            bounds::for_a_network_namespace()?;
        }
    }
    Ok(prepared)
}

/// Joins cgroups; gives how many.
fn join(doors: Vec<OwnedFd>) -> Result<u32, Failed> {
    let mut joined = 0;
    for door in doors {
        cgroups::go_through(&door)?;
        joined += 1;
    }
    Ok(joined)
}

/// All of a text that was given.
fn whole(text: &OwnedFd) -> Result<Vec<u8>, Failed> {
    let failed = |errno| Step::WritePlace.failed(errno);
    let length = rustix::fs::fstat(text).map_err(failed)?.st_size;
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| failed(Errno::INVAL))?];
    let mut done = 0;
    while let Some(room) = bytes.get_mut(done..).filter(|room| !room.is_empty()) {
        match rustix::io::pread(text, room, done as u64).map_err(failed)? {
            0 => return Err(failed(Errno::IO)),
            read => done += read,
        }
    }
    Ok(bytes)
}

/// Listens for the host, in the order in which it expects them.
fn listen(Listens { proxy, names, ports }: &Listens) -> Result<Vec<OwnedFd>, Failed> {
    let mut listeners =
        vec![loopback::listen_at(*proxy)?, loopback::datagrams_at(*names)?, loopback::listen_at(*names)?];
    for port in ports {
        listeners.push(loopback::listen_at(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, *port))?);
    }
    Ok(listeners)
}

/// Builds what is this sandbox's own, gives everything up, and looks at what stands.
fn finish(
    plan: &Plan,
    doors: Vec<OwnedFd>,
    found: Found<'_>,
    Prepared { differs, outside, image, joined, listeners }: Prepared,
    filters: &Filters,
) -> Result<(Standing, Vec<OwnedFd>, Supervision), Failed> {
    let mut handed = listeners;
    let mut standing = Standing { joined: joined + join(doors)?, ..Standing::default() };
    if plan.own == Own::Nothing {
        make_folders(plan)?;
    } else {
        // After it has joined: a namespace of cgroups begins where its maker is.
        namespaces::hide_cgroups()?;
        handed.extend(end_root(plan, image.is_some(), found)?);
    }
    // One more than commands may have: the agent.
    let processes = plan.processes.map(|most| u64::from(most) + 1);
    bounds::for_a_sandbox(processes, plan.data)?;
    privileges::drop_all()?;
    privileges::never_gain()?;
    privileges::hide()?;
    if plan.own != Own::Nothing {
        // Without a pid namespace the agent has to end what it started first: it sees the stream close.
        privileges::die_with_parent()?;
    }
    let outsider = (plan.own == Own::Nothing).then(look::Outsider::start).transpose()?;
    let landlock = landlock::close_all_but(opened(plan, found)?)?;
    standing.signals_stay = outsider.is_some_and(|outsider| outsider.is_out_of_reach());
    standing.landlock = (landlock.version > 0).then_some((landlock.version, landlock.whole));
    look::at(&mut standing, plan, image, differs, outside)?;
    filters.install()?;
    standing.filter = bailiwick_sys::seccomp::in_force().then(|| filters.mark());
    // In the host's network the host's own sockets would be counted, and without namespaces there are none of the internet's.
    let supervised = (plan.own != Own::Nothing && plan.own_network).then(Supervised::install);
    let supervision = match supervised {
        // A supervisor around this program, or a kernel without such filters: the report says what is not bounded then.
        None | Some(Err(_)) => Supervision::Off,
        Some(Ok(supervised)) => Supervision::On(supervised),
    };
    standing.supervised = matches!(supervision, Supervision::On(_));
    Ok((standing, handed, supervision))
}

/// What the keeper says: which namespaces differ, and who this process is outside.
fn hear(keeper: &OwnedFd) -> Result<(Differs, u32), Failed> {
    let mut told = [0; 5];
    let length = packets::read(keeper, &mut told).map_err(|errno| Step::LookAtNamespace.failed(errno))?;
    let [differs, user @ ..] = told;
    if length != told.len() {
        return Err(Step::LookAtNamespace.failed(Errno::PIPE));
    }
    Ok((Differs::from_byte(differs), u32::from_le_bytes(user)))
}

/// Becomes the sandbox's own user, with the capabilities that building needs.
fn become_somebody(plan: &Plan, outside: u32) -> Result<(), Failed> {
    let is_root = privileges::identity().0 == 0;
    match plan.own {
        Own::All => privileges::become_user(plan.inside, plan.inside)?,
        Own::AllButUser => privileges::become_user(outside, outside)?,
        Own::Nothing if is_root && outside != 0 => privileges::become_user(outside, outside)?,
        Own::Nothing => return Ok(()),
    }
    privileges::regain_kept()
}

/// The part of the root that all sandboxes of a kind have in common. The host's files are still there, at their place.
/// Says how an image is the root, if one is.
fn begin_root(plan: &Plan, found: Found<'_>) -> Result<Option<Laid>, Unbuilt> {
    mounts::keep_to_oneself()?;
    // Before anything is mounted: it may be where the new root is about to be.
    let image = plan.image.as_ref();
    let image = image.map(|image| found.mount(&image.to, (Path::new("/"), &image.from), Less::READ));
    let image = image.transpose()?;
    let small = Size { bytes: 4 << 20, files: 4096 };
    let mut root = Err(Step::MountMemory.failed(Errno::NOENT));
    for place in PLACES {
        root = mounts::memory(Path::new(place), small, 0o755, Less::WRITE).map(|()| place);
        if root.is_ok() {
            break;
        }
    }
    let base = Path::new(root?);
    let (root, own, laid) = match &image {
        None => (base.to_owned(), None, None),
        Some(image) => {
            let image::Root { place, own, laid } = image::lay(base, plan, image)?;
            (place, Some(own), Some(laid))
        }
    };
    let old = OLD.trim_start_matches('/');
    // An image must not have one: it would be what is moved to.
    image::new_folder(&root.join(old))?;
    mounts::move_to(&root, old)?;
    if let Some(own) = own {
        image::new_folder(Path::new(OWN))?;
        image::attach(&own, Path::new(OWN))?;
        // What was below the place where all this was made is there again.
        mounts::detach(Path::new(&format!("{OLD}{}", base.display())))?;
        for place in ["/proc", "/dev", "/tmp", "/var", "/run"] {
            way::to(Path::new(place), true)?;
        }
        mounts::memory(Path::new("/dev"), small, 0o755, Less::WRITE)?;
        folder(Path::new("/dev/pts"))?;
    } else {
        for place in ["/proc", "/dev", "/dev/pts", "/tmp", "/var", "/run"] {
            folder(Path::new(place))?;
        }
    }
    for place in &plan.places {
        match place {
            Place::File { at, text } if plan.image.is_some() => image::write(Path::new(at), text.as_bytes())?,
            place => make(place)?,
        }
    }
    mounts::processes(Path::new("/proc"))?;
    if plan.own == Own::All {
        bounds::for_a_user_namespace()?;
    }
    for mask in &plan.masks {
        cover(Path::new(mask))?;
    }
    mounts::terminals(Path::new("/dev/pts"))?;
    Ok(laid)
}

/// What is this sandbox's own; then the host's files go, and the root is closed. Gives where what is written over folders of the
/// host's is.
fn end_root(plan: &Plan, has_own: bool, found: Found<'_>) -> Result<Vec<OwnedFd>, Failed> {
    make_own(plan, has_own)?;
    for place in &plan.places {
        // The user's own mounts come last: one may lie in a folder of the sandbox's own.
        if let Place::Bind(bind) = place
            && bind.is_held
        {
            mount_held(bind, found)?;
        }
    }
    let own = Path::new(OWN);
    let covered = covered::cover(plan, own, found)?;
    // What is mounted elsewhere stays; the whole of it has no name any more.
    mounts::detach(own)?;
    remove_folder(own)?;
    mounts::detach(Path::new(OLD))?;
    remove_folder(Path::new(OLD))?;
    if plan.image.is_some() {
        // It is beside the sandbox's own files, and not bounded with them.
        mounts::take_away(Path::new("/dev"), Less::READ, false)?;
    }
    // What is written to an image goes to the sandbox's own files.
    let less = if plan.image.is_some() { Less::WRITE } else { Less::READ };
    mounts::take_away(Path::new("/"), less, false)?;
    Ok(covered)
}

fn make(place: &Place) -> Result<(), Failed> {
    match place {
        Place::Folder { at } => folder(Path::new(at)),
        Place::Link { at, to } => {
            folder_above(Path::new(at))?;
            rustix::fs::symlink(to.as_str(), at.as_str()).map_err(|errno| Step::MakePlace.failed(errno))
        }
        Place::File { at, text } => {
            folder_above(Path::new(at))?;
            file(Path::new(at), text.as_bytes())
        }
        Place::Bind(bind) if bind.is_held => Ok(()),
        Place::Bind(bind) => mount(bind),
        Place::Device { at } => {
            file(Path::new(at), b"")?;
            let from = PathBuf::from(format!("{OLD}{at}"));
            // Nothing is taken away from a device but gaining privileges by it.
            mounts::bind(&from, Path::new(at), Less { no_programs: true, ..Less::default() })
        }
    }
}

/// Mounts something of the system's.
fn mount(Bind { from, to, writable, is_folder, .. }: &Bind) -> Result<(), Failed> {
    let to = Path::new(to);
    if *is_folder {
        folder(to)?;
    } else {
        folder_above(to)?;
        file(to, b"")?;
    }
    let less = if *writable { Less::WRITE } else { Less::READ };
    mounts::bind(&PathBuf::from(format!("{OLD}{from}")), to, less)
}

/// Mounts something of the user's. It may lie in another that a guest has written to, and the host's files are still there under
/// a name: so the way to its place is gone step by step, and no link is followed.
fn mount_held(bind: &Bind, found: Found<'_>) -> Result<(), Failed> {
    let less = if bind.writable { Less::WRITE } else { Less::READ };
    let mount = found.mount(&bind.to, (Path::new(OLD), &bind.from), less)?;
    let place = way::to(Path::new(&bind.to), bind.is_folder)?;
    mounts::attach(&mount, place.as_fd())
}

/// Covers something of `/proc`, if it is there.
fn cover(place: &Path) -> Result<(), Failed> {
    let Ok(found) = rustix::fs::lstat(place) else { return Ok(()) };
    if rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() {
        let nothing = Size { bytes: 4096, files: 1 };
        return mounts::memory(place, nothing, 0o555, Less { no_programs: true, ..Less::READ });
    }
    mounts::bind(Path::new("/dev/null"), place, Less { read_only: true, ..Less::default() })
}

/// The sandbox's own folders, which share one bound.
fn make_own(plan: &Plan, is_mounted: bool) -> Result<(), Failed> {
    let own = Path::new(OWN);
    if !is_mounted {
        folder(own)?;
        mounts::memory(own, Size { bytes: plan.disk, files: plan.files }, 0o755, Less::WRITE)?;
    }
    for (number, place) in plan.folders.iter().enumerate() {
        let source = own.join(number.to_string());
        folder(&source)?;
        if plan.image.is_some() {
            image::put(&source, Path::new(place))?;
            continue;
        }
        folder(Path::new(place))?;
        mounts::bind(&source, Path::new(place), Less::WRITE)?;
    }
    if plan.disk == 0 {
        for place in &plan.folders {
            mounts::take_away(Path::new(place), Less::READ, false)?;
        }
    }
    Ok(())
}

/// Where there is no root of its own, its folders are the host's, made by the host; only what is in them is looked for.
fn make_folders(plan: &Plan) -> Result<(), Failed> {
    for place in &plan.folders {
        folder(Path::new(place))?;
    }
    Ok(())
}

/// Makes a folder and those above it.
fn folder(path: &Path) -> Result<(), Failed> {
    match rustix::fs::mkdir(path, rustix::fs::Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            folder_above(path)?;
            match rustix::fs::mkdir(path, rustix::fs::Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(errno) => Err(Step::MakePlace.failed(errno)),
            }
        }
        Err(errno) => Err(Step::MakePlace.failed(errno)),
    }
}

fn folder_above(path: &Path) -> Result<(), Failed> {
    let above: Vec<&Path> = path.ancestors().skip(1).filter(|above| above.parent().is_some()).collect();
    for above in above.into_iter().rev() {
        match rustix::fs::mkdir(above, rustix::fs::Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(Step::MakePlace.failed(errno)),
        }
    }
    Ok(())
}

fn remove_folder(path: &Path) -> Result<(), Failed> {
    rustix::fs::rmdir(path).map_err(|errno| Step::MakePlace.failed(errno))
}

/// Writes a file that is not there yet.
fn file(path: &Path, text: &[u8]) -> Result<(), Failed> {
    use rustix::fs::{Mode, OFlags};
    let failed = |errno| Step::WritePlace.failed(errno);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::from_raw_mode(0o644)).map_err(failed)?;
    let mut rest = text;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest).map_err(failed)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}
