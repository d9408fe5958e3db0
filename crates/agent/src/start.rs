//! From what a host asked for to a process: its words, where its program may be, its streams.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, OwnedFd};

use bailiwick_sys::command::{Launch, Stack};
use bailiwick_sys::{Errno, Failed};
use bailiwick_wire::agent::{Start, Stream, Window};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::command::Command;
use crate::input::Input;
use crate::output::{From, Output};

/// Why a command did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotStarted {
    /// What was being done.
    pub(crate) step: &'static str,
    /// What the system said.
    pub(crate) errno: Errno,
}

impl std::convert::From<Failed> for NotStarted {
    fn from(failed: Failed) -> Self {
        Self { step: failed.step.says(), errno: failed.errno }
    }
}

fn at(step: &'static str) -> impl Fn(Errno) -> NotStarted {
    move |errno| NotStarted { step, errno }
}

const READ_WORDS: &str = "read the words of the command";
const MAKE_PIPE: &str = "make a pipe";
const OPEN_TERMINAL: &str = "open a terminal";

/// Starts a command.
pub(crate) fn start(asked: &Start, stack: &mut Stack) -> Result<Command, NotStarted> {
    let words = |list: &[String]| list.iter().map(|word| text(word)).collect::<Result<Vec<CString>, _>>();
    let argv = words(&asked.argv)?;
    let env = asked
        .env
        .iter()
        .map(|(name, value)| text(&format!("{name}={value}")))
        .collect::<Result<Vec<CString>, _>>()?;
    let cwd = text(&asked.cwd)?;
    let programs = programs(asked)?;
    let launch = |streams: &Streams| {
        let [input, output, error] = &streams.theirs;
        let streams = [input.as_fd(), output.as_fd(), error.as_fd()];
        let terminal = asked.terminal.is_some();
        bailiwick_sys::command::start(
            &Launch { programs: &programs, argv: &argv, env: &env, cwd: &cwd, streams, terminal },
            stack,
        )
    };
    let mut launch = launch;
    let streams = match asked.terminal {
        None => pipes(asked.has_input)?,
        Some(window) => terminal(window)?,
    };
    let pid = launch(&streams)?;
    Ok(Command::new(pid, streams.outputs, streams.input))
}

fn text(word: &str) -> Result<CString, NotStarted> {
    CString::new(word).map_err(|_| NotStarted { step: READ_WORDS, errno: Errno::INVAL })
}

/// Where a command is looked for without a PATH of its own.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where the program may be: as it was said if that has a slash, else in each folder of the PATH. One that is empty or
/// relative is meant from the working folder, which is where it will be looked for.
fn programs(asked: &Start) -> Result<Vec<CString>, NotStarted> {
    let first = asked.argv.first().ok_or(NotStarted { step: READ_WORDS, errno: Errno::INVAL })?;
    if first.is_empty() {
        return Ok(Vec::new());
    }
    if first.contains('/') {
        return Ok(vec![text(first)?]);
    }
    // The last of two counts, as it does for programs that make a table of them.
    let path = asked.env.iter().rev().find(|(name, _)| name == "PATH").map_or(USUAL_PATH, |(_, path)| path);
    let place = |folder: &str| {
        let folder = if folder.is_empty() { "." } else { folder };
        text(&format!("{folder}/{first}"))
    };
    path.split(':').map(place).collect()
}

/// Both sides of a command's streams.
struct Streams {
    theirs: [OwnedFd; 3],
    input: Input,
    outputs: Vec<Output>,
}

/// Three pipes; no input is what `/dev/null` says.
fn pipes(has_input: bool) -> Result<Streams, NotStarted> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(at(MAKE_PIPE));
    let never_block =
        |end: &OwnedFd| rustix::io::ioctl_fionbio(end, true).map_err(at("make a pipe that never blocks"));
    let (output, their_output) = pipe()?;
    let (error, their_error) = pipe()?;
    never_block(&output)?;
    never_block(&error)?;
    let (their_input, input) = if has_input {
        let (theirs, ours) = pipe()?;
        never_block(&ours)?;
        (theirs, Some(ours))
    } else {
        (nothing().or_else(|_| pipe().map(|(theirs, _)| theirs))?, None)
    };
    let outputs =
        vec![Output::new(Stream::Stdout, From::Pipe, output), Output::new(Stream::Stderr, From::Pipe, error)];
    Ok(Streams { theirs: [their_input, their_output, their_error], input: Input::new(input, false), outputs })
}

/// Opened anew for every command: what one sets on it must not reach another.
fn nothing() -> Result<OwnedFd, Errno> {
    const NOTHING: &CStr = c"/dev/null";
    rustix::fs::open(NOTHING, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn terminal(window: Window) -> Result<Streams, NotStarted> {
    let failed = at(OPEN_TERMINAL);
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).map_err(&failed)?;
    unlockpt(&ours).map_err(&failed)?;
    set_window(&ours, window).map_err(&failed)?;
    rustix::io::ioctl_fionbio(&ours, true).map_err(&failed)?;
    let theirs = match ioctl_tiocgptpeer(&ours, flags) {
        Err(Errno::NOTTY) => named(&ours),
        opened => opened,
    };
    let theirs = theirs.map_err(&failed)?;
    let again = |end: &OwnedFd| rustix::io::fcntl_dupfd_cloexec(end, 3).map_err(&failed);
    let input = Input::new(Some(again(&ours)?), true);
    let others = (again(&theirs)?, again(&theirs)?);
    let outputs = vec![Output::new(Stream::Stdout, From::Terminal, ours)];
    Ok(Streams { theirs: [theirs, others.0, others.1], input, outputs })
}

/// The major number of the commands' ends of terminals.
const TERMINALS: u32 = 136;

/// The other end of a terminal by its name, on a kernel that opens it by nothing else (gVisor's). What the name leads to is looked at:
/// it has to be the terminal of that number, by no link.
fn named(ours: &OwnedFd) -> Result<OwnedFd, Errno> {
    let name = ptsname(ours, Vec::new())?;
    let number = name.to_str().ok().and_then(|name| name.strip_prefix("/dev/pts/")?.parse::<u32>().ok());
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
    let found = rustix::fs::fstat(&theirs)?;
    let is_device = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice;
    let device = (rustix::fs::major(found.st_rdev), Some(rustix::fs::minor(found.st_rdev)));
    if is_device && device == (TERMINALS, number) { Ok(theirs) } else { Err(Errno::NOTTY) }
}

/// Gives a terminal another size.
pub(crate) fn set_window(terminal: impl std::os::fd::AsFd, window: Window) -> Result<(), Errno> {
    let size = Winsize { ws_row: window.rows, ws_col: window.columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size)
}
