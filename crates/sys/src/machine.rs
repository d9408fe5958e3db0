//! What only the first process of a machine does: modules, streams to its host, the clock, random numbers, the end.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
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

/// A stream to the host of this machine, by its virtual socket of this number.
pub fn connect_to_host(number: u32) -> Result<OwnedFd, Failed> {
    let failed = |errno| Step::OpenPort.failed(errno);
    let kind = (AddressFamily::VSOCK, SocketType::STREAM);
    let socket = rustix::net::socket_with(kind.0, kind.1, SocketFlags::CLOEXEC, None).map_err(failed)?;
    let address = libc::sockaddr_vm {
        svm_family: AddressFamily::VSOCK.as_raw(),
        svm_reserved1: 0,
        svm_port: number,
        svm_cid: libc::VMADDR_CID_HOST,
        svm_zero: [0; 4],
    };
    let length = libc::socklen_t::try_from(size_of_val(&address)).map_err(|_| failed(Errno::INVAL))?;
    loop {
        // SAFETY: the address is as long as is said, and the call only reads it.
        let result = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
        match if result == 0 { Ok(()) } else { Err(last()) } {
            // One that was interrupted goes on by itself, and is waited for by asking again.
            Ok(()) | Err(Errno::ISCONN) => return Ok(socket),
            Err(Errno::INTR | Errno::ALREADY) => {}
            Err(errno) => return Err(failed(errno)),
        }
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

/// Starts the machine anew, which its monitor takes for its end. Only for its first process; gives why that failed.
pub fn restart() -> Failed {
    let failed = rustix::system::reboot(rustix::system::RebootCommand::Restart);
    Step::Kill.failed(failed.err().unwrap_or(Errno::IO))
}
