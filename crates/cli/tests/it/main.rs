//! The program as its users see it, run on a machine of its own for each test.

mod audit;
mod bad_documents;
mod catalogue;
mod cgroup_two;
mod configuration;
mod doctor;
mod documents;
mod everywhere;
mod exec;
mod images;
mod jsrun;
mod kills;
mod mcp_clients;
mod openapi;
mod output;
mod own;
mod policy;
mod remote;
mod run;
mod run_commands;
mod secrets;
mod serving;
mod tool_commands;
mod tools;
mod webassembly;

use bailiwick_testkit::Program;

fn bailiwick() -> Program {
    Program::new(env!("CARGO_BIN_EXE_bailiwick"))
}

/// The example of an overrides block that the product's shapes promise to accept.
const OVERRIDES: &str = r#"network: allowlist
hosts: ["api.github.com", "*.example.com", {host: "api.internal", port: 8443, private: true, methods: [GET], paths: ["/v1/**"]}]
fileRead: true
basePath: reports
addAllow: [timers]
removeDeny: [timers]
ask: {net: first}
"#;
