//! Where a whole server may listen: beyond this machine only where somebody could show who they are.

use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick_core::{Action, Actor, Caller, Desk, KeyWish, Presence, Reply};
use bailiwick_http::perimeter::NoAuth;
use bailiwick_http::{App, Ground, ServeError};
use bailiwick_types::{Scope, Scopes};

use crate::stage::{block_on, opening, private_folder};

bailiwick_testkit::tests!(a_server_without_a_key_that_holds_stays_on_this_machine);

fn a_server_without_a_key_that_holds_stays_on_this_machine() {
    block_on(async {
        let folder = private_folder();
        let opening = opening(folder.path(), Presence::Serving);
        let settings = opening.settings.clone();
        let desk = Arc::new(Desk::open(opening).await.expect("a desk"));
        let core = desk.core().expect("its own");
        let check = async |bound: &str, no_auth, may: bool| {
            let bound: SocketAddr = bound.parse().expect("an address");
            let (desk, core) = (Arc::clone(&desk), core.clone());
            let app = App::new(Ground { settings: &settings, bound, no_auth, desk, core, mcp: None }).await;
            match app {
                Ok(_) => assert!(may, "{bound} {no_auth:?}"),
                Err(ServeError::Open { address }) => assert!(!may && address == bound, "{bound} {no_auth:?}"),
                Err(other) => panic!("{other}"),
            }
        };
        let perform = async |action| {
            let caller = Caller::alone(Actor { key: None, client: "test".to_owned() });
            desk.perform(caller, action).await.expect("a reply")
        };
        check("0.0.0.0:8282", NoAuth::Refused, false).await;
        check("127.0.0.1:8282", NoAuth::Refused, true).await;
        check("0.0.0.0:8282", NoAuth::Insecure, true).await;
        let wish = KeyWish {
            name: "bot".to_owned(),
            scopes: Scopes::of([Scope::Call]),
            expires_in_s: None,
            per_second: None,
            at_once: None,
            dialogue: false,
        };
        assert!(matches!(perform(Action::KeyCreate(wish)).await, Reply::KeyMade(_)));
        check("0.0.0.0:8282", NoAuth::Refused, true).await;
        perform(Action::KeyRevoke { key: "bot".to_owned() }).await;
        check("0.0.0.0:8282", NoAuth::Refused, false).await;
        check("[::]:8282", NoAuth::Refused, false).await;
    });
}
