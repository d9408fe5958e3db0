//! What only the first process of a machine does: modules, the clock, random numbers, the end.

use std::os::fd::{AsFd, AsRawFd as _};
use std::time::Duration;

use rustix::io::Errno;
use rustix::time::Timespec;

use crate::descriptors::last;
use crate::{Failed, Step};

/// Loads a module of the kernel from an open file. One that is there already is fine.
pub fn load_module(file: impl AsFd) -> Result<(), Failed> {
    // SAFETY: the parameters end in a NUL, and the call takes no other memory.
    let result = unsafe { libc::syscall(libc::SYS_finit_module, file.as_fd().as_raw_fd(), c"".as_ptr(), 0) };
    match if result == 0 { Ok(()) } else { Err(last()) } {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(Step::LoadModule.failed(errno)),
    }
}

/// Sets the clock to so long after 1970.
pub fn set_clock(now: Duration) -> Result<(), Failed> {
    let seconds = i64::try_from(now.as_secs()).map_err(|_| Step::SetClock.failed(Errno::OVERFLOW))?;
    let now = Timespec { tv_sec: seconds, tv_nsec: i64::from(now.subsec_nanos()) };
    rustix::time::clock_settime(rustix::time::ClockId::Realtime, now)
        .map_err(|errno| Step::SetClock.failed(errno))
}

/// Of `/dev/random`: begin anew with what is known by now.
const RESEED: libc::c_ulong = 0x5207;

/// Has the kernel make other random numbers from here on, through an open `/dev/random`: two machines that go on from the same
/// memory would make the same ones.
pub fn seed(random: impl AsFd, bytes: &[u8]) -> Result<(), Failed> {
    let failed = |errno| Step::SeedRandom.failed(errno);
    rustix::io::write(&random, bytes).map_err(failed)?;
    // SAFETY: this request takes no argument.
    let result = unsafe { libc::ioctl(random.as_fd().as_raw_fd(), RESEED) };
    if result == 0 { Ok(()) } else { Err(failed(last())) }
}

/// Turns the machine off. Only for its first process; gives why that failed.
pub fn power_off() -> Failed {
    let failed = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
    Step::Kill.failed(failed.err().unwrap_or(Errno::IO))
}
