//! Commands with other settings than the process that owns the data folder: they are told, and nothing runs.

use bailiwick_core::{Action, Desk, Reply};
use bailiwick_types::ErrorCode;
use serde_json::json;

use crate::stage::{ADD, Place, block_on, cli, refused, yaml};

bailiwick_testkit::tests!(what_an_owner_would_do_under_other_settings_is_refused);

fn what_an_owner_would_do_under_other_settings_is_refused() {
    block_on(async {
        let mut place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        house.close().await;
        let owner = Desk::open(place.opening()).await.expect("a desk");
        assert!(owner.is_owner());
        let arguments = json!({"a": 1, "b": 2}).as_object().cloned().unwrap_or_default();
        let call = Action::ToolCall { tool: "add".to_owned(), arguments, correlation: None, workspace: None };
        let alike = Desk::open(place.opening()).await.expect("a desk");
        let called = alike.perform(cli(), call.clone()).await;
        assert!(matches!(called, Ok(Reply::Called(_))), "{called:?}");
        for narrower in ["approvals.required=add", "ceilings.memory=64MiB", "policy.hosts.never=example.com"]
        {
            place.reset(&[narrower]);
            let desk = Desk::open(place.opening()).await.expect("a desk");
            assert!(!desk.is_owner());
            let (code, message) = refused(desk.perform(cli(), call.clone()).await);
            assert_eq!(code, ErrorCode::Conflict, "{message}");
            // What no setting decides is answered.
            desk.perform(cli(), Action::AuditTail { limit: 1 }).await.expect("records");
        }
        owner.close().await.expect("closed");
    });
}
