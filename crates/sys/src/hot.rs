//! What every fork is going to touch, given to it by the fork itself.
//!
//! A page that a fork shares with its parent is copied when one of them first writes to it, by a fault for each. What is
//! pinned for I/O the kernel cannot share like that: it copies such a page within the fork, in a third of the time. So
//! the pages that a trial run writes to are registered as buffers of a ring that is never used for anything. A clone has
//! the same memory as ever, and no access to the ring: it closes what it inherits, and its filter knows no such call.
//!
//! Where a mapping holds only pages of a file, as code does, a fork copies none of its page tables, and the clone finds
//! its code again by faults too. One page of it that is the process's own has it copied; what else the process has used
//! of its code is let go before, so that little more is copied than a trial run needs.
//!
//! Nothing here is part of a wall. Where the kernel does not offer it, forks are merely slower.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;

use crate::alone::Alone;
use crate::clone::{Child, Side, fork};
use crate::descriptors::last;
use crate::{Failed, Step, ending, packets, pidfd};

/// The most pages that are worth it: a megabyte.
const MOST: usize = 256;

/// Of a page, as the kernel tells it: it is there, it is put away, it belongs to a file or to shared memory, nobody else
/// has it mapped.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const SHARED: u64 = 1 << 61;
const EXCLUSIVE: u64 = 1 << 56;

/// A page table that is worth copying has at least this many pages.
const FEWEST: usize = 32;

/// The kernel's account of this process's memory, opened while its files can still be reached.
#[derive(Debug)]
pub struct Account {
    maps: File,
    pages: File,
    memory: File,
}

impl Account {
    /// Opens the account of the process with this number, which is this one by the name that `/proc` knows it by.
    pub fn open(pid: i32) -> Result<Self, Failed> {
        let open = |name: &str, write: bool| {
            let file = File::options().read(true).write(write).open(format!("/proc/{pid}/{name}"));
            file.map_err(|error| failed(&error))
        };
        Ok(Self { maps: open("maps", false)?, pages: open("pagemap", false)?, memory: open("mem", true)? })
    }

    /// Has every fork from now on be given at once what this work touches. It is done a few times; one of them beside a
    /// fork that does nothing and so shares all pages but those that the work writes to.
    pub fn give_to_forks(mut self, alone: &Alone, work: impl Fn()) -> Result<Given, Failed> {
        let mut text = String::new();
        self.maps.read_to_string(&mut text).map_err(|error| failed(&error))?;
        let all: Vec<Mapping> = text.lines().filter_map(Mapping::read).collect();
        let code = self.let_go_of_code(&all)?;
        work();
        let written = self.written_by(&all, alone, work)?;
        for range in code {
            self.have_tables_copied(&range)?;
        }
        // Without a ring the rest is still worth having.
        Ok(Given { ring: hold(&written).ok() })
    }

    /// Lets go of the pages of code and constants; those that are used come back from their file. Gives where they are.
    fn let_go_of_code(&self, all: &[Mapping]) -> Result<Vec<Range<usize>>, Failed> {
        let mut code = Vec::new();
        for Mapping { range, .. } in all.iter().filter(|mapping| mapping.kind == Kind::OfAFile) {
            let mut is_the_files_own = true;
            // What was changed when the program was loaded would be lost.
            self.each_page(range, |_, page| {
                is_the_files_own &= page & SWAPPED == 0 && (page & PRESENT == 0 || page & SHARED != 0);
            })?;
            if !is_the_files_own {
                continue;
            }
            let start = std::ptr::with_exposed_provenance_mut::<libc::c_void>(range.start);
            // SAFETY: the range is a mapping of a file that this process cannot write to and none of whose pages it has
            // of its own, so that what is let go is what comes back.
            if unsafe { libc::madvise(start, range.len(), libc::MADV_DONTNEED) } == 0 {
                code.push(range.clone());
            }
        }
        Ok(code)
    }

    /// The pages that some work writes to, as ranges of addresses; none when there are too many.
    fn written_by(
        &self,
        all: &[Mapping],
        alone: &Alone,
        work: impl Fn(),
    ) -> Result<Vec<Range<usize>>, Failed> {
        let page = rustix::param::page_size();
        let mut written: Vec<Range<usize>> = Vec::with_capacity(MOST);
        let (_ours, theirs) = packets::stream_pair()?;
        let Child { pidfd, .. } = match fork(alone)? {
            Side::Parent(child) => child,
            Side::Child => {
                // It holds both ends, so nothing ever comes, until it is killed.
                let _never = packets::read(&theirs, &mut [0]);
                ending::exit_now(0)
            }
        };
        work();
        let looked = all.iter().filter(|mapping| mapping.kind == Kind::Writable).try_for_each(|mapping| {
            self.each_page(&mapping.range, |start, bits| {
                if bits & (PRESENT | SHARED | EXCLUSIVE) != PRESENT | EXCLUSIVE {
                    return;
                }
                match written.last_mut().filter(|last| last.end == start) {
                    Some(last) => last.end += page,
                    None => written.push(start..start + page),
                }
            })
        });
        pidfd::kill(&pidfd)?;
        pidfd::reap(&pidfd)?;
        looked?;
        let count: usize = written.iter().map(|range| range.len() / page).sum();
        if count > MOST {
            written.clear();
        }
        Ok(written)
    }

    /// Makes one page of a mapping this process's own, without changing it, if enough of the mapping is in use.
    fn have_tables_copied(&self, range: &Range<usize>) -> Result<(), Failed> {
        let (mut first, mut count) = (None, 0);
        self.each_page(range, |start, page| {
            if page & PRESENT != 0 {
                first = first.or(Some(start));
                count += 1;
            }
        })?;
        let Some(first) = first.filter(|_| count >= FEWEST) else { return Ok(()) };
        let mut byte = [0];
        self.memory.read_exact_at(&mut byte, first as u64).map_err(|error| failed(&error))?;
        self.memory.write_all_at(&byte, first as u64).map_err(|error| failed(&error))
    }

    /// Looks at each page of a range: its address, and what the kernel says of it.
    fn each_page(&self, range: &Range<usize>, mut look: impl FnMut(usize, u64)) -> Result<(), Failed> {
        let page = rustix::param::page_size();
        let mut entries = [0; AT_ONCE * size_of::<u64>()];
        for first in range.clone().step_by(AT_ONCE * page) {
            let count = (range.end - first).div_ceil(page).min(AT_ONCE);
            let Some(entries) = entries.get_mut(..count * size_of::<u64>()) else { continue };
            let place = (first / page * size_of::<u64>()) as u64;
            self.pages.read_exact_at(entries, place).map_err(|error| failed(&error))?;
            for (index, entry) in entries.as_chunks().0.iter().enumerate() {
                look(first + index * page, u64::from_ne_bytes(*entry));
            }
        }
        Ok(())
    }
}

/// Pages that are looked at together.
const AT_ONCE: usize = 256;

/// A stretch of memory.
struct Mapping {
    range: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Private, and can be written to.
    Writable,
    /// A file's, private, and cannot be written to: code and constants.
    OfAFile,
}

impl Mapping {
    /// Reads a line of `maps`; none when it is about other memory.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let kind = match rights {
            "rw-p" => Kind::Writable,
            "r--p" | "r-xp" if words.nth(3).is_some_and(|path| path.starts_with('/')) => Kind::OfAFile,
            _ => return None,
        };
        let (start, end) = range.split_once('-')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        Some(Self { range, kind })
    }
}

fn failed(error: &std::io::Error) -> Failed {
    Step::LookAtPages.failed(Errno::from_io_error(error).unwrap_or(Errno::IO))
}

/// What forks are given at once, for as long as this lives.
#[derive(Debug)]
pub struct Given {
    ring: Option<OwnedFd>,
}

impl Given {
    /// Whether it is all of it: also the pages that are written to.
    pub const fn is_whole(&self) -> bool {
        self.ring.is_some()
    }
}

/// The parameters of a ring, as long as the kernel wants them. All of them zero is a plain one.
type RingParameters = [u64; 15];

/// Holds these pages, so that every fork copies them at once.
fn hold(pages: &[Range<usize>]) -> Result<OwnedFd, Failed> {
    let mut parameters: RingParameters = [0; 15];
    // SAFETY: the kernel reads and writes a structure of exactly this size, which lives in this frame.
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, &raw mut parameters) };
    let ring =
        RawFd::try_from(ring).ok().filter(|ring| *ring >= 0).ok_or_else(|| Step::PinPages.failed(last()))?;
    // SAFETY: the kernel made this descriptor for us just now, and nobody else knows it.
    let ring = unsafe { OwnedFd::from_raw_fd(ring) };
    let buffers: Vec<libc::iovec> = pages
        .iter()
        .map(|range| libc::iovec {
            iov_base: std::ptr::with_exposed_provenance_mut(range.start),
            iov_len: range.len(),
        })
        .collect();
    // SAFETY: the list lives in this frame. The kernel only holds the pages that it names; no request is ever put on
    // the ring, so it neither reads nor writes them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            ring.as_raw_fd(),
            REGISTER_BUFFERS,
            buffers.as_ptr(),
            buffers.len(),
        )
    };
    if result == 0 { Ok(ring) } else { Err(Step::PinPages.failed(last())) }
}

/// The kernel's number for "hold these buffers".
const REGISTER_BUFFERS: libc::c_uint = 0;
