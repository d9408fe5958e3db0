//! Starting a command at the least cost: the child borrows the memory of this process until it executes.
//!
//! Between the clone and the execution only system calls are made; nothing is allocated, locked or dropped. The parent
//! stands still meanwhile, so what the child writes down about a failure is simply there afterwards.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::ptr;

use rustix::io::Errno;

use crate::descriptors::last;
use crate::{Failed, Step};

/// What is started.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// Where the program may be; the first that can be executed is.
    pub programs: &'a [CString],
    /// Its words.
    pub argv: &'a [CString],
    /// All of its variables.
    pub env: &'a [CString],
    /// Where it begins.
    pub cwd: &'a CStr,
    /// Its standard streams. None of them may have the number of a standard stream here.
    pub streams: [BorrowedFd<'a>; 3],
    /// Whether the first of them is a terminal that becomes its own.
    pub terminal: bool,
}

/// How large the child's stack is. It makes system calls and nothing else.
const STACK: usize = 64 * 1024;
/// What is kept inaccessible below it.
const GUARD: usize = 16 * 1024;

/// The stack on which a child runs until it executes; one serves all of them, one after the other.
#[derive(Debug)]
pub struct Stack {
    low: *mut c_void,
}

impl Stack {
    /// Maps one. It stays for the life of the process.
    pub fn map() -> Result<Self, Failed> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a fresh anonymous mapping, which is never unmapped.
        let low = unsafe {
            libc::mmap(ptr::null_mut(), STACK + GUARD, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if low == libc::MAP_FAILED {
            return Err(Step::MapChildStack.failed(last()));
        }
        // SAFETY: the first pages of the mapping above, which nobody uses.
        if unsafe { libc::mprotect(low, GUARD, libc::PROT_NONE) } != 0 {
            return Err(Step::MapChildStack.failed(last()));
        }
        Ok(Self { low })
    }

    fn top(&self) -> *mut c_void {
        // SAFETY: the end of the mapping, which is this long.
        unsafe { self.low.byte_add(STACK + GUARD) }
    }
}

/// What the child reads, and the place where it says what failed.
struct Errand {
    programs: *const *const c_char,
    argv: *const *const c_char,
    env: *const *const c_char,
    cwd: *const c_char,
    streams: [RawFd; 3],
    terminal: bool,
    failed: Option<Failed>,
}

/// Starts a command in a session of its own, with no signal blocked, and gives its number. A command that cannot be
/// executed leaves no process behind.
///
/// Every descriptor but the three must close on execution, and no signal may be ignored here: both cross an execution.
pub fn start(launch: &Launch<'_>, stack: &mut Stack) -> Result<i32, Failed> {
    let (programs, argv, env) = (pointers(launch.programs), pointers(launch.argv), pointers(launch.env));
    let mut errand = Errand {
        programs: programs.as_ptr(),
        argv: argv.as_ptr(),
        env: env.as_ptr(),
        cwd: launch.cwd.as_ptr(),
        streams: launch.streams.map(|stream| stream.as_raw_fd()),
        terminal: launch.terminal,
        failed: None,
    };
    let told = (&raw mut errand).cast::<c_void>();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: with CLONE_VFORK this thread stands still until the child has executed or ended, so the errand, what it
    // points to and the stack outlive every use; the stack is used by nobody else, since `&mut` is held.
    let pid = unsafe { libc::clone(child, stack.top(), flags, told) };
    if pid < 0 {
        return Err(Step::ForkCommand.failed(last()));
    }
    // SAFETY: the child may have written through the pointer, which is where the errand is.
    let failed = unsafe { (&raw const errand).read_volatile() }.failed;
    match failed {
        None => Ok(pid),
        Some(failed) => {
            reap(pid);
            Err(failed)
        }
    }
}

/// Reaps a child that has called `_exit` already.
fn reap(pid: i32) {
    let mut status = 0;
    // SAFETY: the pointer is to a live variable of this frame.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } < 0 && last() == Errno::INTR {}
}

fn pointers(words: &[CString]) -> Vec<*const c_char> {
    words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect()
}

extern "C" fn child(told: *mut c_void) -> c_int {
    let errand = told.cast::<Errand>();
    // SAFETY: the parent stands still and its errand lives; this child is the only one who touches it.
    unsafe {
        let failed = prepare(&*errand).err().unwrap_or_else(|| execute(&*errand));
        (&raw mut (*errand).failed).write_volatile(Some(failed));
        libc::_exit(127)
    }
}

/// Everything before the execution.
///
/// # Safety
/// Only in the child: it changes the streams, the session and the folder of this process.
unsafe fn prepare(errand: &Errand) -> Result<(), Failed> {
    let done = |result: c_int, step: Step| if result < 0 { Err(step.failed(last())) } else { Ok(()) };
    // SAFETY: system calls with numbers and with pointers that live as long as the errand.
    unsafe {
        done(libc::setsid(), Step::BeginSession)?;
        for (number, stream) in (0..).zip(errand.streams) {
            done(libc::dup2(stream, number), Step::PlaceStreams)?;
        }
        if errand.terminal {
            done(libc::ioctl(0, libc::TIOCSCTTY, 0), Step::TakeTerminal)?;
        }
        done(libc::chdir(errand.cwd), Step::EnterFolder)?;
    }
    crate::signals::mask(0)
}

/// Tries the programs in their order. Returns only if none could be executed.
///
/// # Safety
/// Only in the child: where it succeeds, this process is another program.
unsafe fn execute(errand: &Errand) -> Failed {
    let mut said = Errno::NOENT;
    let mut next = errand.programs;
    // SAFETY: the lists end with a null pointer and live as long as the errand.
    unsafe {
        while !(*next).is_null() {
            libc::execve(*next, errand.argv, errand.env);
            match last() {
                // Not here: perhaps in the next folder.
                Errno::NOENT | Errno::NOTDIR => {}
                Errno::ACCESS => said = Errno::ACCESS,
                errno => return Step::Execute.failed(errno),
            }
            next = next.add(1);
        }
    }
    Step::Execute.failed(said)
}
