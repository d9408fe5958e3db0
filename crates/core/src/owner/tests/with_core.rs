//! The real core behind a desk: what a client puts on the record is there for the next owner.

use bailiwick_config::{Environment, FolderFile, Request, load};
use bailiwick_runtime::Runtime;
use bailiwick_secrets::Fallback;
use bailiwick_types::{CallId, CorrelationId, Risk, RiskLevel};
use serde_json::json;

use super::Stage;
use crate::{Action, Actor, Caller, Desk, Opening, Reply, RunIntent};

pub(super) fn opening(stage: &Stage) -> Opening {
    let home = stage.around.path().join("home");
    let environment = Environment {
        working_folder: home.clone(),
        system_folder: home.join("etc"),
        home: Some(home.clone()),
        config_home: None,
        data_home: None,
        data: None,
        config: None,
        variables: std::collections::BTreeMap::new(),
    };
    let (data, set) = (stage.data.clone(), Vec::new());
    let request = Request { config: None, data: Some(data.clone()), set, folder_file: FolderFile::Skip };
    let settings = load(&environment, &request).unwrap().settings;
    Opening {
        data,
        config: home.join("config"),
        settings,
        fallback: Fallback::none(),
        cells: Runtime::builder(),
        backends: crate::Backends::default(),
        presence: crate::Presence::Brief,
    }
}

fn begins(text: &str) -> Action {
    Action::RunBegins(RunIntent {
        name: text.to_owned(),
        code_hash: "0".repeat(64),
        policy_hash: "0".repeat(64),
        risk: Risk { level: RiskLevel::L0, credited: None, reasons: Vec::new() },
        arguments: json!({"a": 0.1}),
        call_id: CallId::from_parts(1, &[7; 10]),
        correlation_id: CorrelationId::parse("together").unwrap(),
    })
}

/// The clients of the records that belong together.
async fn clients(desk: &Desk) -> Vec<String> {
    let show = Action::AuditShow { about: "together".to_owned() };
    let Reply::Records(records) = desk.perform(super::alone(), show).await.unwrap() else {
        panic!("no records")
    };
    let client = |record: &serde_json::Value| record["actor"]["client"].as_str().unwrap().to_owned();
    records.iter().map(client).collect()
}

#[tokio::test]
async fn what_a_client_put_on_the_record_is_there_for_the_next_owner() {
    let stage = Stage::new();
    let us = bailiwick_sys::privileges::identity().0;
    let owner = Desk::open(opening(&stage)).await.unwrap();
    let client = Desk::open(opening(&stage)).await.unwrap();
    assert!(owner.is_owner() && !client.is_owner());
    let caller = |client: &str| Caller::alone(Actor { key: None, client: client.to_owned() });
    owner.perform(caller("serve"), begins("first")).await.unwrap();
    client.perform(caller("cli"), begins("second")).await.unwrap();
    let expected = ["serve".to_owned(), format!("cli uid={us}")];
    assert_eq!(clients(&client).await, expected);
    owner.close().await.unwrap();
    assert_eq!(clients(&client).await, expected);
    assert!(client.is_owner(), "it is the next owner");
    client.close().await.unwrap();
}
