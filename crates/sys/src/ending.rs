//! How a cell ends when it cannot go on: each way has its own exit code, so that an attack, a bug and a bound are told
//! apart afterwards.
//!
//! Handlers run on a stack of their own, touch nothing but atomics and registers, and never return.

use std::sync::OnceLock;

use rustix::io::Errno;

use crate::descriptors::last;
use crate::{Failed, Step};

/// What to do at each end. Each runs in a signal handler: no allocation, no lock, only system calls; and it ends the
/// process.
#[derive(Debug, Clone, Copy)]
pub struct Endings {
    /// A system call was trapped; its number is given.
    pub trapped: fn(u32) -> !,
    /// The native stack is full.
    pub overflowed: fn() -> !,
    /// Memory was touched that is not there, or an instruction is not one.
    pub faulted: fn() -> !,
    /// `abort()` was called.
    pub aborted: fn() -> !,
    /// The kernel's bound on CPU time.
    pub out_of_cpu: fn() -> !,
}

static ENDINGS: OnceLock<Endings> = OnceLock::new();

/// How large the handlers' stack is.
const SIGNAL_STACK: usize = 64 * 1024;

/// How far from the stack pointer an overflow shows.
const NEAR: usize = 1024 * 1024;

/// Sets the handlers of this process and of all it forks. Only the first call counts.
pub fn install(endings: Endings) -> Result<(), Failed> {
    ENDINGS.get_or_init(|| endings);
    set_signal_stack()?;
    for signal in
        [libc::SIGSYS, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGXCPU]
    {
        // SAFETY: an all-zero sigaction is a valid one.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for, and the structure lives in this frame.
        let result = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
        if result != 0 {
            return Err(Step::SetHandler.failed(last()));
        }
    }
    Ok(())
}

fn set_signal_stack() -> Result<(), Failed> {
    // SAFETY: a fresh anonymous mapping, which is never unmapped.
    let stack = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            SIGNAL_STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if stack == libc::MAP_FAILED {
        return Err(Step::MapSignalStack.failed(last()));
    }
    let description = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: SIGNAL_STACK };
    // SAFETY: the mapping above is this large and stays for ever.
    let result = unsafe { libc::sigaltstack(&raw const description, std::ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(Step::SetSignalStack.failed(last())) }
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(endings) = ENDINGS.get() else { exit_now(OUR_FAULT) };
    match signal {
        libc::SIGSYS => {
            // SAFETY: the kernel gives a valid siginfo and context to a handler with SA_SIGINFO.
            let (number, third) = unsafe { (trapped_number(info), argument(context, 2)) };
            // abort() kills its own process, which no cell may: the trap is the abort.
            if libc::c_long::from(number) == libc::SYS_tgkill && third == libc::SIGABRT as u64 {
                (endings.aborted)();
            }
            (endings.trapped)(u32::try_from(number).unwrap_or(u32::MAX))
        }
        libc::SIGSEGV | libc::SIGBUS => {
            // SAFETY: as above.
            let (address, stack) = unsafe { ((*info).si_addr() as usize, stack_pointer(context)) };
            if address.abs_diff(stack) < NEAR { (endings.overflowed)() } else { (endings.faulted)() }
        }
        libc::SIGABRT => (endings.aborted)(),
        libc::SIGXCPU => (endings.out_of_cpu)(),
        _ => (endings.faulted)(),
    }
}

/// The exit code of a handler that was never told what to do.
const OUR_FAULT: u8 = 70;

/// The number of the system call that was trapped.
///
/// # Safety
/// `info` must be what the kernel gave a SIGSYS handler.
unsafe fn trapped_number(info: *mut libc::siginfo_t) -> i32 {
    // The union of a SIGSYS siginfo: the address of the call, its number, the architecture. It begins 16 bytes in, after
    // signo, errno, code and padding.
    // SAFETY: the caller's promise; the field is within the structure.
    unsafe { info.cast::<u8>().add(16 + size_of::<usize>()).cast::<i32>().read_unaligned() }
}

/// An argument of the system call that was trapped.
///
/// # Safety
/// `context` must be what the kernel gave the handler.
unsafe fn argument(context: *mut libc::c_void, index: usize) -> u64 {
    let context = context.cast::<libc::ucontext_t>();
    #[cfg(target_arch = "x86_64")]
    {
        let registers = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10];
        let register = registers.get(index).and_then(|register| usize::try_from(*register).ok());
        // SAFETY: the caller's promise.
        let all = unsafe { &(*context).uc_mcontext.gregs };
        register.and_then(|register| all.get(register)).map_or(0, |value| value.cast_unsigned())
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the caller's promise.
        let all = unsafe { &(*context).uc_mcontext.regs };
        all.get(index).copied().unwrap_or(0)
    }
}

/// Where the stack was when the signal came.
///
/// # Safety
/// `context` must be what the kernel gave the handler.
unsafe fn stack_pointer(context: *mut libc::c_void) -> usize {
    let context = context.cast::<libc::ucontext_t>();
    #[cfg(target_arch = "x86_64")]
    {
        let register = usize::try_from(libc::REG_RSP).unwrap_or_default();
        // SAFETY: the caller's promise.
        let all = unsafe { &(*context).uc_mcontext.gregs };
        all.get(register).and_then(|value| usize::try_from(*value).ok()).unwrap_or_default()
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the caller's promise.
        let pointer = unsafe { (*context).uc_mcontext.sp };
        usize::try_from(pointer).unwrap_or_default()
    }
}

/// Ends this process at once: no destructors, no buffers, no handlers.
pub fn exit_now(code: u8) -> ! {
    // SAFETY: _exit takes a number and does not return.
    unsafe { libc::_exit(i32::from(code)) }
}

/// Lets SIGCHLD interrupt only a wait that asks for it: blocked now, with a handler that does nothing.
pub fn watch_children() -> Result<(), Failed> {
    // SAFETY: an all-zero sigaction is a valid one.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = nothing as *const () as usize;
    // SAFETY: the handler has the right signature; the structure lives in this frame.
    if unsafe { libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut()) } != 0 {
        return Err(Step::SetHandler.failed(last()));
    }
    let set = child_signal();
    // SAFETY: the set lives in this frame.
    let result = unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(Step::BlockChildSignal.failed(last())) }
}

/// Waits until descriptor 0 can be read or a child has ended, whichever comes first.
pub fn wait_for_packet_or_child() -> Result<(), Failed> {
    let mut polled = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    // SAFETY: an all-zero set is a valid, empty one.
    let none: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: all pointers are to live variables of this frame, and there is one descriptor.
    let result = unsafe { libc::ppoll(&raw mut polled, 1, std::ptr::null(), &raw const none) };
    if result >= 0 {
        return Ok(());
    }
    match last() {
        Errno::INTR => Ok(()),
        errno => Err(Step::Wait.failed(errno)),
    }
}

fn child_signal() -> libc::sigset_t {
    // SAFETY: an all-zero set is a valid one, and sigaddset writes into it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        set
    }
}

extern "C" fn nothing(_signal: libc::c_int) {}
