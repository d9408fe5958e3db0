//! What counts as wider.

use serde_json::{Value, json};

use super::{Kept, wish_of};

fn kept() -> Value {
    json!({
        "tier": "CONTAINER", "network": "none", "mounts": [], "image": "host",
        "limits": {"cpu": 1000, "memory": 10_485_760, "disk": 0, "timeout": 1000, "processes": 64, "output": 1000},
        "required": ["memory"], "accepted": ["files"], "secrets": [], "private": [],
    })
}

fn read(value: &Value) -> Kept {
    serde_json::from_value(value.clone()).unwrap()
}

/// What of a change is told as wider, the one way and the other.
#[track_caller]
fn check(pointer: &str, now: Value, wider: &str, back: &str) {
    let (before, mut after) = (kept(), kept());
    *after.pointer_mut(pointer).unwrap() = now;
    let told = |now: &Value, before: &Value| read(now).widened_since(&read(before)).join("; ");
    assert_eq!(told(&after, &before), wider, "{pointer}");
    assert_eq!(told(&before, &after), back, "{pointer}, back");
}

#[test]
fn only_what_lets_more_is_wider() {
    check("/tier", json!("PROCESS"), "the weakest wall is PROCESS and was CONTAINER", "");
    check("/limits/memory", json!(20_971_520), "memory is 20MiB and was 10MiB", "");
    check("/limits/timeout", json!(2000), "timeout is 2s and was 1s", "");
    check("/limits/processes", json!(0), "processes is 0 and was 64", "");
    check("/required", json!([]), "the limit on memory does not have to be held any more", "");
    check("/accepted", json!(["files", "kill"]), "the wall kill may stand in part", "");
    check("/private", json!(["git.internal:443"]), "git.internal:443 may have a private address", "");
    let other = "what it reaches is another";
    check("/network", json!("git"), other, other);
    check("/secrets", json!(["TOKEN"]), other, other);
    assert_eq!(read(&kept()).widened_since(&read(&kept())), Vec::<String>::new());
}

#[test]
fn a_memory_of_another_shape_is_none() {
    let mut more = kept();
    more["more"] = json!(1);
    assert!(serde_json::from_value::<Kept>(more).is_err());
    let mut less = kept();
    less.as_object_mut().unwrap().remove("accepted");
    assert!(serde_json::from_value::<Kept>(less).is_err());
}

#[test]
fn all_that_a_document_says_of_its_sandbox_is_wished_for() {
    let document = json!({"name": "t", "description": "d", "command": {
        "argv": ["ls"], "image": "debian-12", "minTier": "CONTAINER", "network": {"allow": ["a.test"]},
        "mounts": ["/srv/a:/a"], "limits": {"timeout": "5s"},
    }});
    let tool = bailiwick_tool::Tool::from_json(&document).unwrap();
    let wish = wish_of(tool.command().unwrap(), tool.sealed_statics());
    let said = json!({
        "image": wish.image, "tier": wish.tier, "network": wish.network,
        "mounts": wish.mounts.iter().map(ToString::to_string).collect::<Vec<_>>(), "limits": wish.limits,
    });
    let expected = json!({
        "image": "debian-12", "tier": "CONTAINER", "network": "allow:a.test",
        "mounts": ["/srv/a:/a:ro"], "limits": {"timeout": "5s"},
    });
    assert_eq!(said, expected);
}
