//! Which certificates a client accepts that trusts the authority and nobody else.

use crate::authority::{Authority, Certificate};
use crate::client::{connect, exchange, get_of, text, tls};
use crate::upstream::{Answer, Request, Upstream};

#[track_caller]
fn check(authority: &Authority, certificate: &Certificate, name: &str, wanted: Result<(), &str>) {
    let upstream = Upstream::https(|_: &Request| Answer::ok("hello"), certificate);
    let stream = tls(authority.client(), name, connect(upstream.address()));
    let (got, ended) = exchange(stream, get_of("/").as_bytes());
    match wanted {
        Ok(()) => {
            ended.expect("an answer");
            assert!(text(&got).ends_with("hello"));
            assert_eq!(upstream.requests().len(), 1);
        }
        Err(fault) => {
            let ended = ended.expect_err("a refusal").to_string();
            assert!(ended.contains(fault), "{ended}");
            assert_eq!(upstream.requests(), []);
        }
    }
}

#[test]
fn a_sound_certificate_is_accepted_for_its_names_and_addresses() {
    let authority = Authority::new();
    let certificate = authority.issue(&["upstream.test", "*.wild.test", "93.184.216.34", "::1"]);
    for name in ["upstream.test", "any.wild.test", "93.184.216.34", "::1"] {
        check(&authority, &certificate, name, Ok(()));
    }
}

#[test]
fn a_faulty_certificate_is_refused_for_its_own_fault() {
    let (authority, names) = (Authority::new(), ["upstream.test"]);
    let faulty = [
        (authority.issue_expired(&names), "expired"),
        (authority.issue_not_yet_valid(&names), "not valid yet"),
        (authority.issue_wrong_name(), "not valid for name"),
        (Authority::self_signed(&names), "UnknownIssuer"),
        (Authority::issue_by_another(&names), "BadSignature"),
    ];
    for (certificate, fault) in faulty {
        check(&authority, &certificate, "upstream.test", Err(fault));
    }
}

#[test]
fn the_certificates_can_be_handed_out_as_pem() {
    let authority = Authority::new();
    for pem in [authority.pem(), authority.issue(&["upstream.test"]).pem()] {
        assert!(pem.starts_with("-----BEGIN CERTIFICATE-----"), "{pem}");
        assert!(!pem.contains("PRIVATE"), "{pem}");
    }
}
