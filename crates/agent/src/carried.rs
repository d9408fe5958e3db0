//! Connections that are carried over the stream to the host, where no socket can be handed through the wall: those that programs
//! inside make to the places at which this process listens for the host, and those that the host makes to ports inside.
//!
//! Nothing is decided here: what comes is told, what is told goes. Both directions of a connection are bounded by credit, their
//! number by [`MOST_CARRIED`], and questions about names by [`MOST_ASKED`], of which the oldest is forgotten for a new one.

mod connection;

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::{Errno, Failed, loopback};
use bailiwick_wire::agent::{FIRST_CARRIED, FromAgent, LONGEST_QUERY, MOST_ASKED, MOST_CARRIED};
use bailiwick_wire::jail::Listens;
use rustix::event::PollFlags;

use self::connection::Connection;
pub(crate) use self::connection::TooMuch;
use crate::outgoing::Outgoing;

/// Who is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Listener(usize),
    Names,
    /// The other side of a connection has something to say, or room to be told.
    Connection(u32),
}

/// Everything that is carried.
#[derive(Debug, Default)]
pub(crate) struct Carrier {
    listeners: Vec<OwnedFd>,
    names: Option<OwnedFd>,
    connections: BTreeMap<u32, Connection>,
    /// Questions that wait for their answer, oldest first.
    asked: VecDeque<(u32, SocketAddrV4)>,
    given: u32,
}

impl Carrier {
    /// Listens for the host.
    pub(crate) fn listen(&mut self, listens: &Listens) -> Result<(), Failed> {
        let Listens { proxy, names, ports } = listens;
        let mut listeners = vec![loopback::listen_at(*proxy)?, loopback::listen_at(*names)?];
        for port in ports {
            listeners.push(loopback::listen_at(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, *port))?);
        }
        self.names = Some(loopback::datagrams_at(*names)?);
        self.listeners = listeners;
        Ok(())
    }

    /// Whether it listens already.
    pub(crate) const fn listens(&self) -> bool {
        self.names.is_some()
    }

    /// Connects to a port inside.
    pub(crate) fn dial(&mut self, id: u32, port: u16, is_six: bool) -> Result<(), Errno> {
        if self.connections.len() >= MOST_CARRIED {
            return Err(Errno::MFILE);
        }
        self.connections.insert(id, Connection::begun(loopback::dial(port, is_six)?));
        Ok(())
    }

    /// Whether a number means a connection.
    pub(crate) fn knows(&self, id: u32) -> bool {
        self.connections.contains_key(&id)
    }

    /// Descriptors to wait for, and what for.
    pub(crate) fn wanted(&self, has_room: bool) -> impl Iterator<Item = (Who, BorrowedFd<'_>, PollFlags)> {
        let takes_more = has_room && self.connections.len() < MOST_CARRIED;
        let listeners = self.listeners.iter().enumerate().filter(move |_| takes_more);
        let listeners = listeners.map(|(which, end)| (Who::Listener(which), end.as_fd(), PollFlags::IN));
        let names = self.names.iter().filter(move |_| has_room);
        let names = names.map(|end| (Who::Names, end.as_fd(), PollFlags::IN));
        let connections = self.connections.iter().filter_map(move |(id, connection)| {
            let (end, flags) = connection.wanted(has_room)?;
            Some((Who::Connection(*id), end, flags))
        });
        listeners.chain(names).chain(connections)
    }

    /// Does a piece for somebody who is ready.
    pub(crate) fn ready(&mut self, who: Who, scratch: &mut [u8], out: &mut Outgoing) {
        match who {
            Who::Listener(which) => self.arrived(which, out),
            Who::Names => self.question(scratch, out),
            Who::Connection(id) => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.pump(id, scratch, out);
                }
                self.drop_if_over(id, out);
            }
        }
    }

    fn number(&mut self) -> u32 {
        loop {
            let id = FIRST_CARRIED | self.given;
            self.given = self.given.wrapping_add(1) & !FIRST_CARRIED;
            if !self.knows(id) && !self.asked.iter().any(|(asked, _)| *asked == id) {
                return id;
            }
        }
    }

    fn arrived(&mut self, which: usize, out: &mut Outgoing) {
        let Some(listener) = self.listeners.get(which) else { return };
        // Whoever gave up meanwhile, and whoever this process has no descriptor left for, is not taken.
        let Ok((socket, at)) = loopback::accept_at(listener) else { return };
        // Without it small messages only come later.
        let _slower = loopback::at_once(&socket);
        let id = self.number();
        self.connections.insert(id, Connection::joined(socket));
        out.push(&FromAgent::Arrived { id, at });
    }

    fn question(&mut self, scratch: &mut [u8], out: &mut Outgoing) {
        let Some(names) = &self.names else { return };
        let buffer = scratch.get_mut(..LONGEST_QUERY).unwrap_or_default();
        let Ok((length, from)) = loopback::take_datagram(names, buffer) else { return };
        let bytes = buffer.get(..length).unwrap_or_default().to_vec();
        let id = self.number();
        if self.asked.len() >= MOST_ASKED {
            self.asked.pop_front();
        }
        self.asked.push_back((id, from));
        out.push(&FromAgent::Asked { id, bytes });
    }

    /// Answers a question, if it was not forgotten.
    pub(crate) fn answer(&mut self, id: u32, bytes: &[u8]) {
        let Some(place) = self.asked.iter().position(|(asked, _)| *asked == id) else { return };
        if let (Some((_, to)), Some(names)) = (self.asked.remove(place), &self.names) {
            // Who does not wait for it any more asks again.
            let _gone = loopback::send_datagram(names, bytes, to);
        }
    }

    /// Takes what the host has for the other side.
    pub(crate) fn input(&mut self, id: u32, bytes: &[u8], out: &mut Outgoing) -> Result<(), TooMuch> {
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        connection.take(id, bytes, out)?;
        self.drop_if_over(id, out);
        Ok(())
    }

    /// There is no more for the other side.
    pub(crate) fn input_end(&mut self, id: u32, out: &mut Outgoing) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.finish(id, out);
        }
        self.drop_if_over(id, out);
    }

    /// The host took so many bytes.
    pub(crate) fn give_credit(&mut self, id: u32, bytes: u32) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.give_credit(bytes);
        }
    }

    /// Ends a connection.
    pub(crate) fn part(&mut self, id: u32) {
        self.connections.remove(&id);
    }

    /// Ends every connection, and forgets every question.
    pub(crate) fn forget(&mut self) {
        self.connections.clear();
        self.asked.clear();
    }

    fn drop_if_over(&mut self, id: u32, out: &mut Outgoing) {
        if self.connections.get(&id).is_some_and(Connection::is_over) {
            self.connections.remove(&id);
            out.push(&FromAgent::Parted { id });
        }
    }
}
