//! What the table answers and remembers.

use std::net::SocketAddr;

use super::Routes;

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

#[test]
fn an_address_leads_to_its_upstream_and_any_other_nowhere() {
    let routes = Routes::new()
        .route(address("93.184.216.34:443"), address("127.0.0.1:1001"))
        .route(address("[2606:2800::1]:80"), address("[::1]:1002"));
    let cases = [
        ("93.184.216.34:443", Some("127.0.0.1:1001")),
        ("[2606:2800::1]:80", Some("[::1]:1002")),
        ("93.184.216.34:80", None),
        ("127.0.0.1:1001", None),
    ];
    for (asked, wanted) in cases {
        assert_eq!(routes.lookup(address(asked)), wanted.map(address), "{asked}");
    }
}

#[test]
fn every_dialled_address_is_remembered_also_by_a_clone() {
    let routes = Routes::new();
    assert_eq!(routes.dialled(), []);
    for asked in ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.1:80"] {
        assert_eq!(routes.clone().lookup(address(asked)), None);
    }
    assert_eq!(routes.dialled(), ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.1:80"].map(address));
}

#[test]
#[should_panic(expected = "not on loopback")]
fn a_way_out_of_the_machine_is_refused() {
    let _ = Routes::new().route(address("10.0.0.1:80"), address("93.184.216.34:80"));
}
