//! A jail that was started before anybody asked for it: its namespaces are there and its root is built, but for what differs from
//! one sandbox to the next. It waits for its plan, and has seen nothing of a guest.
//!
//! Only for sandboxes that take nothing of the host but its programs: what is mounted later may look different by then.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::clone::Child;
use bailiwick_sys::{packets, pidfd};
use bailiwick_wire::jail::{Bind, Own, Place, Plan};

/// From how many sandboxes on one is started ahead: a command that makes one has no use for a second.
const FROM: u32 = 2;

/// What is started ahead, at most one.
#[derive(Default)]
pub(super) struct Ahead {
    waiting: Option<Waiting>,
    /// The plan that was asked for last, if one of its kind can be started ahead.
    last: Option<Plan>,
    asked: u32,
}

struct Waiting {
    child: Child,
    socket: OwnedFd,
    plan: Plan,
}

impl Ahead {
    /// Somebody asked for this one.
    pub(super) fn asked_for(&mut self, plan: &Plan) {
        self.asked = self.asked.saturating_add(1);
        self.last = can_be_ahead(plan).then(|| plan.clone());
    }

    /// The plan of the next that is to be started ahead.
    pub(super) fn wanted(&self) -> Option<Plan> {
        if self.waiting.is_some() || self.asked < FROM {
            return None;
        }
        self.last.clone()
    }

    /// Keeps one that was started.
    pub(super) fn keep(&mut self, child: Child, socket: OwnedFd, plan: Plan) {
        self.waiting = Some(Waiting { child, socket, plan });
    }

    /// A process ended; one that waits may be among them.
    pub(super) fn ended(&mut self, pid: i32) {
        self.waiting.take_if(|waiting| waiting.child.pid == pid);
    }

    /// Hands a plan to one that waits, if it is of the same kind; gives its process.
    pub(super) fn hand_over(
        &mut self,
        plan: &Plan,
        order: &[u8],
        stream: &OwnedFd,
        doors: &[OwnedFd],
    ) -> Option<Child> {
        let Waiting { child, socket, plan: _ } =
            self.waiting.take_if(|waiting| can_be_ahead(plan) && is_same_kind(&waiting.plan, plan))?;
        let handed: Vec<BorrowedFd<'_>> = [stream].into_iter().chain(doors).map(|one| one.as_fd()).collect();
        if packets::send(&socket, order, &handed).is_ok() {
            return Some(child);
        }
        // It is gone, or cannot be told: another is started.
        let _gone = pidfd::kill(&child.pidfd);
        None
    }
}

fn can_be_ahead(plan: &Plan) -> bool {
    let is_held = |place: &Place| matches!(place, Place::Bind(Bind { is_held: true, .. }));
    let fits = plan.doors.len() < packets::MOST_DESCRIPTORS;
    let is_plain = plan.image.is_none() && plan.overlays.is_empty() && !plan.hands;
    plan.own == Own::All && plan.own_network && fits && is_plain && !plan.places.iter().any(is_held)
}

/// Whether what was built for one plan is what another wants.
fn is_same_kind(built: &Plan, wanted: &Plan) -> bool {
    built.inside == wanted.inside
        && built.outside == wanted.outside
        && built.places == wanted.places
        && built.masks == wanted.masks
}
