//! What Firecracker is told, against what its makers publish of the bodies: `src/firecracker/swagger/firecracker.yaml` of their repository, as
//! it is in version 1.17.0-dev (commit 004d9353), written down here in our own words and only as far as we send it.
//!
//! That file says nothing of properties that it does not name; their readers refuse them, so they are refused here.

use bailiwick_agent_host::label;
use serde_json::{Value, json};

use super::{Configuration, configuration};
use crate::monitor::Size;

/// A part of the configuration, and the request that takes the same body.
struct Body {
    part: &'static str,
    request: &'static str,
    schema: Value,
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

/// Every body that we send.
fn published() -> [Body; 4] {
    let text = json!({ "type": "string" });
    let switch = json!({ "type": "boolean" });
    let one_of = |words: &[&str]| json!({ "type": "string", "enum": words });
    [
        Body {
            part: "boot-source",
            request: "PUT /boot-source",
            schema: object(
                &["kernel_image_path"],
                &json!({ "kernel_image_path": text, "initrd_path": text, "boot_args": text }),
            ),
        },
        Body {
            part: "machine-config",
            request: "PUT /machine-config",
            schema: object(
                &["mem_size_mib", "vcpu_count"],
                &json!({
                    "vcpu_count": { "type": "integer", "minimum": 1, "maximum": 32 },
                    // That none is no memory is said in words, and by their reader.
                    "mem_size_mib": { "type": "integer", "minimum": 1 },
                    "smt": switch,
                    "track_dirty_pages": switch,
                    "cpu_template": one_of(&["C3", "T2", "T2S", "T2CL", "T2A", "V1N1", "None"]),
                    "huge_pages": one_of(&["None", "Transparent", "2M"]),
                }),
            ),
        },
        Body {
            part: "vsock",
            request: "PUT /vsock",
            schema: object(
                &["guest_cid", "uds_path"],
                &json!({ "guest_cid": { "type": "integer", "minimum": 3 }, "uds_path": text, "vsock_id": text }),
            ),
        },
        Body {
            part: "drives",
            request: "PUT /drives/{drive_id}, as many as there are",
            // What each of them would be is left out: there is none.
            schema: json!({ "type": "array", "maxItems": 0 }),
        },
    ]
}

/// What is wrong with a configuration, by its parts.
fn wrong(configuration: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let published = published();
    let told = configuration.as_object().expect("an object");
    for part in told.keys().filter(|part| published.iter().all(|body| body.part != *part)) {
        wrong.push(format!("`{part}` is none of the bodies that were read"));
    }
    // Without these their reader takes no file; without a vsock we have no stream.
    for Body { part, request, schema } in &published {
        let Some(body) = told.get(*part) else {
            wrong.push(format!("`{part}` is missing"));
            continue;
        };
        let validator = jsonschema::validator_for(schema).expect("a schema");
        wrong.extend(validator.iter_errors(body).map(|error| format!("{request}: {error}")));
    }
    wrong
}

fn ours(size: Size) -> Value {
    let configuration: Configuration = configuration(7, 8, "/proc/self/fd/9/v".to_owned(), size);
    serde_json::to_value(configuration).expect("JSON")
}

const SMALL: Size = Size { memory: 1, processors: 1 };

#[test]
fn every_body_fits_what_is_published() {
    for size in [SMALL, Size { memory: 1 << 20, processors: 32 }, Size { memory: 416, processors: 3 }] {
        assert_eq!(wrong(&ours(size)), Vec::<String>::new());
    }
}

#[test]
fn a_body_that_does_not_fit_is_found() {
    #[track_caller]
    fn check(at: &str, value: Value, why: &str) {
        let mut told = ours(SMALL);
        match (told.pointer_mut(at), at.rsplit_once('/')) {
            (Some(place), _) => *place = value,
            (None, Some((above, key))) => told.pointer_mut(above).expect("a place")[key] = value,
            (None, None) => panic!("{at} is no place"),
        }
        let wrong = wrong(&told);
        assert!(matches!(&wrong[..], [one] if one.contains(why)), "{at}: {wrong:?}");
    }
    check("/machine-config/vcpu_count", json!(0), "PUT /machine-config: 0 is less than the minimum of 1");
    check("/machine-config/vcpu_count", json!(33), "greater than the maximum of 32");
    check("/machine-config/mem_size_mib", json!("416"), "is not of type \"integer\"");
    check("/machine-config/ht_enabled", json!(false), "'ht_enabled' was unexpected");
    check("/vsock/guest_cid", json!(2), "PUT /vsock: 2 is less than the minimum of 3");
    check("/vsock", json!({ "guest_cid": 3 }), "\"uds_path\" is a required property");
    check("/boot-source/boot_args", json!(["quiet"]), "is not of type \"string\"");
    check("/boot-source", json!({ "initrd_path": "/x" }), "\"kernel_image_path\" is a required property");
    check("/drives", json!([{ "drive_id": "root", "is_root_device": true }]), "has more than 0 items");
    check("/network-interfaces", json!([]), "none of the bodies that were read");
}

#[test]
fn a_machine_of_the_largest_spec_is_not_larger_than_one_may_be() {
    // What a plan gives is held to this; the schema has the same bound.
    let largest = ours(Size { memory: u64::from(u32::MAX), processors: crate::plan::MOST_PROCESSORS });
    assert_eq!(wrong(&largest), Vec::<String>::new());
}

/// Their program takes letters, digits and dashes, and at most 64 of them.
#[test]
fn a_machine_is_called_what_it_may_be_called() {
    let name = label::fresh();
    assert!(name.len() <= 64 && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '-'), "{name}");
}

#[test]
fn the_kernel_is_told_how_streams_lead_out_and_how_to_end() {
    let told = ours(SMALL);
    let words = told.pointer("/boot-source/boot_args").and_then(Value::as_str).expect("words");
    let (kernels, ours) = words.split_once(" -- ").expect("two parts");
    assert_eq!(ours, "machine vsock");
    for word in ["panic=-1", "reboot=k", "pci=off", "console=ttyS0"] {
        assert!(kernels.split(' ').any(|one| one == word), "{word}: {kernels}");
    }
}
