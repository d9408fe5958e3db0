//! Badges by what a sandbox may do and what a tool does with it.

use std::path::PathBuf;

use bailiwick_sandbox::{Limits, Mount, Network, Preset, SandboxPath, SandboxSpec};
use bailiwick_types::{NATIVE_TOOLS, RiskLevel, Tier};

use super::AgentTool;

fn spec(network: Network, mounts: &[bool]) -> SandboxSpec {
    let mut spec = SandboxSpec::new(Limits::preset(Preset::Standard));
    spec.network = network;
    spec.mounts = mounts
        .iter()
        .map(|writable| Mount { from: PathBuf::from("/usr"), to: SandboxPath::work(), writable: *writable })
        .map(|mount| mount.open_by_name().unwrap())
        .collect();
    spec
}

#[track_caller]
fn check(spec: &SandboxSpec, tier: Tier, levels: [RiskLevel; 4]) {
    let tools = [AgentTool::Exec, AgentTool::WriteFile, AgentTool::ReadFile, AgentTool::Close];
    assert_eq!(tools.map(|tool| tool.risk(spec, tier, &[]).level), levels, "{spec:?}");
}

#[test]
fn a_badge_follows_what_a_tool_can_do_with_the_sandbox() {
    use RiskLevel::{L0, L1, L3, L4, L5};
    check(&spec(Network::None, &[]), Tier::Process, [L1, L0, L0, L0]);
    check(&spec(Network::Git, &[]), Tier::Process, [L3, L0, L0, L0]);
    check(&spec(Network::Full, &[]), Tier::Process, [L4, L0, L0, L0]);
    check(&spec(Network::Full, &[]), Tier::Container, [L3, L0, L0, L0]);
    check(&spec(Network::Host, &[]), Tier::MicroVm, [L5, L0, L0, L0]);
    check(&spec(Network::None, &[false]), Tier::Process, [L3, L3, L3, L0]);
    check(&spec(Network::None, &[false, true]), Tier::Process, [L4, L4, L3, L0]);
    check(&spec(Network::Git, &[false]), Tier::Process, [L4, L3, L3, L0]);
}

#[test]
fn every_tool_has_the_badge_of_what_it_does() {
    use RiskLevel::{L0, L3, L4, L5};
    let (wide, host) = (spec(Network::Full, &[true]), spec(Network::Host, &[]));
    for tool in AgentTool::ALL {
        let (on_wide, on_host) = match tool {
            AgentTool::RunCommand
            | AgentTool::RunPython
            | AgentTool::Create
            | AgentTool::Exec
            | AgentTool::Expose => (L4, L5),
            AgentTool::WriteFile | AgentTool::Upload => (L4, L0),
            AgentTool::ReadFile | AgentTool::ListFiles | AgentTool::Download => (L3, L0),
            AgentTool::Poll | AgentTool::Kill | AgentTool::Close => (L0, L0),
        };
        let levels = [&wide, &host].map(|spec| tool.risk(spec, Tier::Process, &[]).level);
        assert_eq!(levels, [on_wide, on_host], "{}", tool.name());
    }
}

#[test]
fn what_is_under_an_overlay_is_read_and_not_written() {
    use bailiwick_sandbox::Overlay;
    let mut spec = spec(Network::None, &[]);
    let overlay = Overlay { from: PathBuf::from("/usr"), to: SandboxPath::work() };
    spec.overlays = vec![overlay.open_by_name().unwrap()];
    check(&spec, Tier::Process, [RiskLevel::L3, RiskLevel::L3, RiskLevel::L3, RiskLevel::L0]);
}

#[test]
fn whatever_can_be_switched_on_is_known_here() {
    for tool in AgentTool::ALL {
        assert!(NATIVE_TOOLS.contains(&tool.name()), "{}", tool.name());
    }
}

#[test]
fn what_reads_only_says_so_and_what_reaches_out_does_too() {
    let closed = |tool: AgentTool| tool.hints_of(&Network::None, false);
    let open = |tool: AgentTool| tool.hints_of(&Network::Git, true);
    assert!(open(AgentTool::ReadFile).read_only);
    assert!(!closed(AgentTool::Exec).open_world && !closed(AgentTool::Exec).destructive);
    assert!(open(AgentTool::Exec).open_world && open(AgentTool::Exec).destructive);
}
