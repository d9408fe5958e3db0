//! The record as actions read it.

use std::sync::{Arc, Mutex};

use bailiwick_core::{Action, Reply};
use bailiwick_testkit::authority::Authority;
use bailiwick_testkit::upstream::{Answer, Request, Upstream};
use bailiwick_types::ErrorCode;
use serde_json::json;

use crate::stage::{ADD, Place, block_on, refused, yaml};

bailiwick_testkit::tests!(
    the_chain_is_proven_across_restarts,
    an_export_has_every_record_and_its_heads,
    what_belongs_to_nothing_is_not_found,
    retention_keeps_the_rest_provable,
    a_witness_outside_sees_that_the_end_is_gone,
    a_witness_at_an_address_gets_every_head,
    a_witness_that_takes_no_head_is_told_of,
);

fn the_chain_is_proven_across_restarts() {
    block_on(async {
        let place = Place::new();
        for round in 0..3 {
            let house = place.open().await;
            if round == 0 {
                house.offer(&yaml("add", ADD)).await;
            }
            house.call("add", json!({"a": round, "b": 2})).await.expect("a report");
            let verified = house.verify().await;
            assert!(verified.ok, "{}", verified.says);
            house.close().await;
        }
        let house = place.open().await;
        let verified = house.verify().await;
        assert_eq!((verified.ok, verified.unsigned), (true, 0), "{}", verified.says);
        assert!(verified.proven_to >= 10);
        assert_eq!(verified.key.len(), 64);
    });
}

fn an_export_has_every_record_and_its_heads() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        house.close().await;
        let house = place.open().await;
        house.call("add", json!({"a": 1, "b": 2})).await.expect("a report");
        house.close().await;
        let house = place.open().await;
        let (mut lines, mut from) = (Vec::new(), Some(1));
        while let Some(next) = from {
            let Ok(Reply::Lines(page)) = house.act(Action::AuditExport { from: next, limit: 2 }).await else {
                panic!("no lines")
            };
            lines.extend(page.lines);
            from = page.next;
        }
        let heads = lines.iter().filter(|line| line.starts_with("{\"head\"")).count();
        assert!(heads >= 2, "{lines:#?}");
        let last = house.tail(1).await.remove(0);
        assert_eq!((lines.len() - heads) as u64, last["seq"].as_u64().expect("a number"));
        let key = house.verify().await.key;
        let text = lines.join("\n") + "\n";
        let key = bailiwick_audit::PublicKey::parse(&key).expect("a key");
        let verdict = bailiwick_audit::ExportReader::new(text.as_bytes(), key).verify().expect("readable");
        assert!(verdict.is_proven(), "{verdict}");
    });
}

fn what_belongs_to_nothing_is_not_found() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        for about in ["9999", "no-such-thing", "01890a5d-ac96-774b-bcce-b302099a8057"] {
            let reply = house.act(Action::AuditShow { about: about.to_owned() }).await;
            assert_eq!(refused(reply).0, ErrorCode::NotFound, "{about}");
        }
    });
}

fn retention_keeps_the_rest_provable() {
    block_on(async {
        let place = Place::new();
        for _ in 0..3 {
            let house = place.open().await;
            house.import(&[yaml("add", ADD)]).await.expect("imported");
            house.act(Action::ToolRemove { tool: "add".to_owned() }).await.expect("removed");
            house.close().await;
        }
        let house = place.open().await;
        let Ok(Reply::Retained { removed }) =
            house.act(Action::AuditRetain { days: None, records: Some(3) }).await
        else {
            panic!("not retained")
        };
        assert!(removed > 0);
        let verified = house.verify().await;
        assert!(verified.ok, "{}", verified.says);
        assert_eq!(verified.removed, removed);
    });
}

fn a_witness_outside_sees_that_the_end_is_gone() {
    block_on(async {
        let outside = tempfile::tempdir().expect("a folder");
        let file = outside.path().join("heads");
        let place = Place::new().set(&format!("audit.witness={}", file.display()));
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        house.close().await;
        let connection = rusqlite::Connection::open(place.database()).expect("the store");
        connection.execute("DELETE FROM audit WHERE seq > 2", []).expect("deleted");
        connection.execute("DELETE FROM heads WHERE seq > 2", []).expect("deleted");
        drop(connection);
        std::fs::remove_file(place.data().join("audit.heads")).expect("removed");
        let house = bailiwick_core::Core::open(place.opening()).await;
        // Whether it is seen at the start or by the proof: it does not go unnoticed.
        if let Ok(core) = house {
            let house = crate::stage::House { core };
            let verified = house.verify().await;
            assert!(!verified.ok, "{}", verified.says);
        }
    });
}

fn a_witness_at_an_address_gets_every_head() {
    block_on(async {
        let authority = Authority::new();
        let taken: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&taken);
        let upstream = Upstream::https(
            move |request: &Request| {
                let body = String::from_utf8_lossy(&request.body).into_owned();
                kept.lock().expect("not poisoned").push(format!("{} {body}", request.method));
                Answer::ok("")
            },
            &authority.issue(&["127.0.0.1"]),
        );
        let folder = tempfile::tempdir().expect("a folder");
        let roots = folder.path().join("roots.pem");
        let written = bailiwick_config::files::replace(
            &roots,
            authority.pem(),
            bailiwick_config::files::Readers::Owner,
        );
        written.expect("written");
        let place = Place::new()
            .set(&format!("fetch.roots={}", roots.display()))
            .set(&format!("audit.witness=https://{}/heads", upstream.address()));
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        let last = house.tail(1).await.remove(0);
        house.close().await;
        let taken = taken.lock().expect("not poisoned");
        let head = taken.last().expect("a head");
        assert!(head.starts_with("POST {\"head\""), "{head}");
        assert!(head.contains(last["hash"].as_str().expect("a hash")), "{head}");
    });
}

fn a_witness_that_takes_no_head_is_told_of() {
    block_on(async {
        let authority = Authority::new();
        // Nobody here believes who signed its certificate.
        let upstream = Upstream::https(|_: &Request| Answer::ok(""), &authority.issue(&["127.0.0.1"]));
        let place =
            Place::new().set(&format!("audit.witness=https://{}/heads?token=t0k3n", upstream.address()));
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        let core = house.core.clone();
        house.close().await;
        let told = core.troubles();
        assert!(
            told.iter().any(|trouble| trouble.contains("did not reach a witness at an address")),
            "{told:?}"
        );
        assert!(!told.concat().contains("t0k3n"), "{told:?}");
    });
}
