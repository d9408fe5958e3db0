//! Keys: made, listed, revoked, expired, recognised; and the operator's own.
#![expect(clippy::disallowed_methods, reason = "files of a test's own folder, read and spoiled as they lie")]

use std::os::unix::fs::PermissionsExt as _;

use bailiwick_core::{Action, Actor, Caller, KeyLine, KeyMade, KeyWish, NotAKey, Refusal, Reply};
use bailiwick_types::{ErrorCode, Scope, Scopes};

use crate::stage::{House, Place, block_on, cli, refused, sql};

fn wish(name: &str) -> KeyWish {
    KeyWish {
        name: name.to_owned(),
        scopes: Scopes::of([Scope::Call]),
        expires_in_s: None,
        per_second: None,
        at_once: None,
        dialogue: false,
    }
}

async fn make(house: &House, wish: KeyWish) -> Result<KeyMade, Refusal> {
    match house.act(Action::KeyCreate(wish)).await? {
        Reply::KeyMade(made) => Ok(*made),
        other => panic!("{other:?}"),
    }
}

async fn revoke(house: &House, key: &str) -> Result<KeyLine, Refusal> {
    match house.act(Action::KeyRevoke { key: key.to_owned() }).await? {
        Reply::Keys(mut lines) => Ok(lines.remove(0)),
        other => panic!("{other:?}"),
    }
}

async fn list(house: &House) -> Vec<KeyLine> {
    match house.act(Action::KeyList).await {
        Ok(Reply::Keys(lines)) => lines,
        other => panic!("{other:?}"),
    }
}

fn a_key_opens_until_it_is_revoked_also_after_a_restart() {
    let place = Place::new();
    block_on(async {
        let house = place.open().await;
        let made = make(&house, KeyWish { per_second: Some(5), dialogue: true, ..wish("ci") });
        let made = made.await.expect("a key");
        let shown = house.core.authenticate(&made.key).expect("it opens");
        assert_eq!((shown.name.as_str(), shown.scopes, shown.id), ("ci", made.line.scopes, made.line.id));
        assert_eq!((shown.per_second, shown.dialogue), (Some(5), true));
        house.close().await;
        let house = place.open().await;
        let shown = house.core.authenticate(&made.key).expect("it opens");
        assert_eq!((shown.id, shown.dialogue), (made.line.id, true));
        let line = list(&house).await.remove(0);
        assert!(line.dialogue);
        let used = line.last_used_at.expect("a use is kept at the latest at the end");
        assert!(used >= line.created_at, "no key is used before it is made: {used} {}", line.created_at);
        let line = revoke(&house, "ci").await.expect("revoked");
        assert!(line.revoked_at.is_some());
        assert_eq!(house.core.authenticate(&made.key), Err(NotAKey::Revoked));
        house.close().await;
        let house = place.open().await;
        assert_eq!(house.core.authenticate(&made.key), Err(NotAKey::Revoked));
        assert_eq!(list(&house).await.len(), 1, "a revoked key stays on the list");
        house.close().await;
    });
}

fn wishes_that_cannot_be_met_are_refused() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        for wrong in [
            wish("Not a slug"),
            wish(""),
            wish("bwk_x"),
            wish("operator"),
            KeyWish { scopes: Scopes::NONE, ..wish("a") },
            KeyWish { expires_in_s: Some(0), ..wish("a") },
            KeyWish { expires_in_s: Some(400_000_000), ..wish("a") },
            KeyWish { per_second: Some(0), ..wish("a") },
            KeyWish { at_once: Some(0), ..wish("a") },
            KeyWish { dialogue: true, scopes: Scopes::of([Scope::Approve]), ..wish("a") },
        ] {
            assert_eq!(refused(make(&house, wrong).await).0, ErrorCode::InvalidInput);
        }
        assert_eq!(list(&house).await, Vec::new());
        house.close().await;
    });
}

fn a_name_is_taken_while_its_key_holds() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let first = make(&house, wish("ci")).await.expect("a key");
        assert_eq!(refused(make(&house, wish("ci")).await).0, ErrorCode::Conflict);
        revoke(&house, &first.line.id.to_string()).await.expect("revoked by its id");
        let second = make(&house, wish("ci")).await.expect("the name is free again");
        assert_eq!(refused(revoke(&house, &first.line.id.to_string()).await).0, ErrorCode::Conflict);
        revoke(&house, "ci").await.expect("the one that holds");
        assert_eq!(house.core.authenticate(&second.key), Err(NotAKey::Revoked));
        assert_eq!(refused(revoke(&house, "ci").await).0, ErrorCode::Conflict);
        assert_eq!(refused(revoke(&house, "nobody").await).0, ErrorCode::NotFound);
        let (code, message) = refused(revoke(&house, &second.key).await);
        assert_eq!(code, ErrorCode::InvalidInput);
        assert!(!message.contains("bwk_"), "{message}");
        house.close().await;
    });
}

fn the_record_tells_of_keys_and_not_what_opens() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let made = make(&house, wish("ci")).await.expect("a key");
        revoke(&house, "ci").await.expect("revoked");
        let tail = house.tail(10).await;
        let told = |action: &str| tail.iter().find(|record| record["action"] == action).expect("a record");
        assert_eq!(told("key.create")["kind"], "change");
        assert_eq!(told("key.create")["outcome"]["key"]["name"], "ci");
        assert_eq!(told("key.revoke")["outcome"]["holds"], false);
        // It may have such a sign in itself.
        let secret = made.key.splitn(3, '_').nth(2).expect("three parts").to_owned();
        assert_eq!(secret.len(), 43);
        let everything = format!("{tail:?}{:?}{made:?}", list(&house).await);
        assert!(!everything.contains(&secret));
        assert!(house.verify().await.ok);
        house.close().await;
        for file in std::fs::read_dir(place.data()).expect("the folder").flatten() {
            let bytes = std::fs::read(file.path()).unwrap_or_default();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{file:?}");
        }
    });
}

fn a_row_that_was_edited_or_put_back_opens_nothing() {
    for (before, after) in [
        ("", "UPDATE keys SET scopes = 'call operate'"),
        ("", "UPDATE keys SET expires_ms = 99999999999999"),
        ("", "UPDATE keys SET id = 'none'"),
        ("CREATE TABLE old AS SELECT * FROM keys", "INSERT OR REPLACE INTO keys SELECT * FROM old"),
    ] {
        let place = Place::new();
        block_on(async {
            let house = place.open().await;
            let made = make(&house, wish("ci")).await.expect("a key");
            house.close().await;
            if !before.is_empty() {
                sql(&place, before);
                let house = place.open().await;
                revoke(&house, "ci").await.expect("revoked");
                house.close().await;
            }
            sql(&place, after);
            let house = place.open().await;
            assert_eq!(house.core.authenticate(&made.key), Err(NotAKey::Unknown), "{after}");
            let troubles = house.core.troubles();
            assert!(troubles.iter().any(|trouble| trouble.contains("not as we left them")), "{troubles:?}");
            make(&house, wish("ci")).await.expect("its name is free");
            house.close().await;
        });
    }
}

fn what_became_of_a_key_outlives_the_oldest_records() {
    let place = Place::new();
    block_on(async {
        let house = place.open().await;
        let (kept, gone) = (make(&house, wish("kept")).await, make(&house, wish("gone")).await);
        let (kept, gone) = (kept.expect("a key"), gone.expect("a key"));
        revoke(&house, "gone").await.expect("revoked");
        house.close().await;
        let house = place.open().await;
        let retain = Action::AuditRetain { days: None, records: Some(1) };
        match house.act(retain).await {
            Ok(Reply::Retained { removed }) => assert!(removed > 0),
            other => panic!("{other:?}"),
        }
        house.close().await;
        let house = place.open().await;
        assert!(house.core.authenticate(&kept.key).is_ok());
        assert_eq!(house.core.authenticate(&gone.key), Err(NotAKey::Revoked));
        assert_eq!(house.core.troubles(), Vec::<String>::new());
        house.close().await;
    });
}

fn an_expired_key_opens_nothing_and_is_told_to_be_gone() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let mut told = house.core.watch();
        let made = make(&house, KeyWish { expires_in_s: Some(3600), ..wish("brief") }).await.expect("a key");
        assert!(house.core.authenticate(&made.key).is_ok());
        house.core.put_clock_ahead(std::time::Duration::from_hours(1));
        loop {
            if let bailiwick_core::Happening::KeyGone(line) = &*told.recv().await.expect("told") {
                assert_eq!(line.id, made.line.id);
                break;
            }
        }
        assert_eq!(house.core.authenticate(&made.key), Err(NotAKey::Expired));
        house.close().await;
    });
}

fn somebody_may_approve_while_such_a_key_holds() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        assert!(!house.core.somebody_may_approve());
        make(&house, wish("caller")).await.expect("a key");
        assert!(!house.core.somebody_may_approve());
        make(&house, KeyWish { scopes: Scopes::of([Scope::Approve]), ..wish("phone") }).await.expect("a key");
        assert!(house.core.somebody_may_approve());
        revoke(&house, "phone").await.expect("revoked");
        assert!(!house.core.somebody_may_approve());
        house.close().await;
    });
}

fn the_operators_key_is_written_once_for_its_owner_alone() {
    let place = Place::new();
    block_on(async {
        let house = place.open().await;
        let first = house.core.operator_key().await.expect("a key");
        assert!(first.is_new);
        let mode = std::fs::metadata(&first.path).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&first.path).expect("the file");
        let shown = house.core.authenticate(text.trim()).expect("it opens");
        assert_eq!((shown.name.as_str(), shown.scopes), ("operator", Scopes::ALL));
        assert!(!house.core.operator_key().await.expect("a key").is_new);
        house.close().await;
        let house = place.open().await;
        assert!(!house.core.operator_key().await.expect("a key").is_new);
        assert_eq!(std::fs::read_to_string(&first.path).expect("the file"), text);
        house.close().await;
    });
}

fn an_operators_key_that_opens_nothing_is_replaced() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let path = house.core.operator_key().await.expect("a key").path;
        let other = make(&house, KeyWish { scopes: Scopes::ALL, ..wish("other") }).await.expect("a key");
        let spoil: [&dyn Fn(); 4] = [
            &|| std::fs::remove_file(&path).expect("removed"),
            &|| std::fs::write(&path, "no key").expect("written"),
            &|| std::fs::write(&path, [0xff; 100]).expect("written"),
            // A key that opens, but is not the operator's.
            &|| std::fs::write(&path, &other.key).expect("written"),
        ];
        for spoil in spoil {
            let before = std::fs::read_to_string(&path).expect("the file");
            spoil();
            assert!(house.core.operator_key().await.expect("a key").is_new);
            assert_eq!(house.core.authenticate(before.trim()), Err(NotAKey::Revoked));
            let now = std::fs::read_to_string(&path).expect("the file");
            assert!(house.core.authenticate(now.trim()).is_ok());
        }
        revoke(&house, "operator").await.expect("revoked");
        revoke(&house, "other").await.expect("revoked");
        let troubles = house.core.troubles();
        assert!(troubles.iter().any(|trouble| trouble.contains("new operator key")), "{troubles:?}");
        assert!(house.core.operator_key().await.expect("a key").is_new);
        assert_eq!(house.core.troubles(), Vec::<String>::new());
        house.close().await;
    });
}

fn an_operators_key_that_others_can_read_is_refused() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let path = house.core.operator_key().await.expect("a key").path;
        for mode in [0o640, 0o604, 0o660] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("permissions");
            let (code, message) = refused(house.core.operator_key().await);
            assert_eq!(code, ErrorCode::Forbidden, "{message}");
        }
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink("/dev/null", &path).expect("a link");
        refused(house.core.operator_key().await);
        house.close().await;
    });
}

fn only_whoever_operates_makes_keys() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let scopes = Scopes::of([Scope::Call, Scope::Author, Scope::Approve]);
        for action in [
            Action::KeyCreate(wish("mine")),
            Action::KeyList,
            Action::KeyRevoke { key: "operator".to_owned() },
        ] {
            let caller = Caller::covering(Actor { key: None, client: "test".to_owned() }, scopes);
            assert_eq!(refused(house.core.perform(caller, action).await).0, ErrorCode::Forbidden);
        }
        assert!(house.core.perform(cli(), Action::KeyList).await.is_ok());
        house.close().await;
    });
}

bailiwick_testkit::tests! {
    a_key_opens_until_it_is_revoked_also_after_a_restart,
    wishes_that_cannot_be_met_are_refused,
    a_name_is_taken_while_its_key_holds,
    the_record_tells_of_keys_and_not_what_opens,
    a_row_that_was_edited_or_put_back_opens_nothing,
    what_became_of_a_key_outlives_the_oldest_records,
    an_expired_key_opens_nothing_and_is_told_to_be_gone,
    somebody_may_approve_while_such_a_key_holds,
    the_operators_key_is_written_once_for_its_owner_alone,
    an_operators_key_that_opens_nothing_is_replaced,
    an_operators_key_that_others_can_read_is_refused,
    only_whoever_operates_makes_keys,
}
