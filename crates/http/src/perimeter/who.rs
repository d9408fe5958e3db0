//! Whose credentials they are. Wrong ones are never taken for none: whoever shows something means it.

use bailiwick_core::{Actor, Dialogue};

use super::credentials::{Credentials, Shown};
use super::guard::Keyless;
use super::rates::Who;
use super::{NotAKey, NotAToken, Perimeter, Principal, tokens};
use crate::listen::{Peer, counted_for};

/// How a request came, as far as that matters for whoever shows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From the peer itself.
    Direct,
    /// Through a proxy, which says so.
    ThroughSomebody,
    /// From the peer itself, for the counters.
    ToTheCounters,
}

/// Somebody who is known.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) principal: Principal,
    pub(super) counted_as: Who,
    pub(super) per_second: Option<u32>,
    pub(super) at_once: Option<u32>,
}

/// Why somebody is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotKnown {
    /// They showed nothing, and that is not enough.
    Nothing,
    /// They showed a key that does not hold.
    Key(NotAKey),
    /// They showed a token that does not count.
    Token(NotAToken),
}

/// Who it is; none for somebody on this machine who only reads the counters.
pub(super) async fn is(
    perimeter: &Perimeter,
    shown: Credentials,
    peer: Peer,
    way: Way,
) -> Result<Option<Known>, NotKnown> {
    match shown {
        Credentials::None => keyless(perimeter.keyless, peer, way),
        Credentials::Key(key) => of_key(perimeter, &key).map(Some),
        Credentials::Bearer(shown) => match &perimeter.tokens {
            Some(tokens) if shown.looks_like_a_token() => {
                let token = tokens.check(shown.reveal()).await.map_err(NotKnown::Token)?;
                let ends_s = tokens::end_of(shown.reveal());
                let subject = format!("jwt:{}", token.subject);
                let actor = Actor { key: Some(subject.clone()), client: "http".to_owned() };
                let dialogue = Dialogue::Ignored;
                let principal = Principal { actor, scopes: token.scopes, key: None, dialogue, ends_s };
                Ok(Some(Known {
                    principal,
                    counted_as: Who::Token(subject),
                    per_second: None,
                    at_once: None,
                }))
            }
            _ => of_key(perimeter, &shown).map(Some),
        },
    }
}

fn keyless(keyless: Keyless, peer: Peer, way: Way) -> Result<Option<Known>, NotKnown> {
    let here = peer.is_loopback() && way != Way::ThroughSomebody;
    let may = match keyless {
        Keyless::Nobody => false,
        Keyless::ThisMachine => here,
        Keyless::Everybody => true,
    };
    if may {
        let counted_as = Who::Address(counted_for(peer.address.ip()));
        let principal = Principal::keyless();
        return Ok(Some(Known { principal, counted_as, per_second: None, at_once: None }));
    }
    if here && way == Way::ToTheCounters { Ok(None) } else { Err(NotKnown::Nothing) }
}

fn of_key(perimeter: &Perimeter, key: &Shown) -> Result<Known, NotKnown> {
    let shown = perimeter.keyring.authenticate(key.reveal()).map_err(NotKnown::Key)?;
    Ok(Known {
        counted_as: Who::Key(shown.id),
        per_second: shown.per_second,
        at_once: shown.at_once,
        principal: Principal::of_key(&shown),
    })
}
