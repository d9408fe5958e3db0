//! What a jail hands over: sockets that listen inside, and folders that hold what is written over the host's.

use std::os::fd::OwnedFd;

use bailiwick_sys::{Errno, packets};
use bailiwick_wire::jail::Plan;

/// Handed over by a jail, in the order of its plan.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    /// Where it listens: the proxy, names by datagrams, names by connections, and each port.
    pub(crate) listeners: Vec<OwnedFd>,
    /// What is written over each overlay.
    pub(crate) uppers: Vec<OwnedFd>,
}

impl HandedOver {
    /// Takes what a jail that stands has handed over already.
    pub(crate) fn take(hand: &OwnedFd, plan: &Plan) -> Result<Self, Errno> {
        let listeners = plan.listens.as_ref().map_or(0, |listens| listens.ports.len() + 3);
        let wanted = listeners + plan.overlays.len();
        if wanted == 0 {
            return Ok(Self::default());
        }
        let mut descriptors = take(hand)?.1;
        // This process may open no more, or the jail was not told as it should have been.
        if descriptors.len() != wanted {
            return Err(Errno::MFILE);
        }
        let uppers = descriptors.split_off(listeners);
        Ok(Self { listeners: descriptors, uppers })
    }
}

/// The next packet, with the descriptors beside it.
pub(crate) fn take(hand: &OwnedFd) -> Result<(Vec<u8>, Vec<OwnedFd>), Errno> {
    let mut buffer = [0; 16];
    let packet = packets::receive(hand, &mut buffer).map_err(|failed| failed.errno)?;
    Ok((buffer.get(..packet.length).unwrap_or_default().to_vec(), packet.descriptors))
}
