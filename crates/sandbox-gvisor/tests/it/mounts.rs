//! Directories of the host's, where gVisor's sandboxes have something of their own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use bailiwick_sandbox::{Held, Mount};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, path, spec, wait};

tests!(nothing_is_mounted_over_the_agent,);

fn mount(from: &Path, to: &str, writable: bool) -> Held<Mount> {
    let from = from.canonicalize().expect("a path");
    Mount { from, to: path(to), writable }.open_by_name().expect("it is held")
}

/// What is at the place of the agent is started as root of the sandbox's kernel, and believed.
fn nothing_is_mounted_over_the_agent() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let (agent, said) = (place.path().join("agent"), place.path().join("said"));
    for folder in [&agent, &said] {
        std::fs::create_dir(folder).expect("a folder");
    }
    let program = agent.join("program");
    std::fs::write(
        &program,
        "#!/bin/sh\nid -u > /srv/said/ran; grep CapEff /proc/self/status >> /srv/said/ran\n",
    )
    .expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    wait(async {
        for (from, to) in [(&agent, "/.agent"), (&program, "/.agent/program")] {
            let mut spec = spec();
            spec.mounts = vec![mount(from, to, false), mount(&said, "/srv/said", true)];
            let made = place.create(spec).await.map(|sandbox| sandbox.id());
            let ran = std::fs::read_to_string(said.join("ran")).unwrap_or_default();
            assert_eq!(ran, "", "what was mounted at {to} was started as the agent");
            let error = made.expect_err("it is refused");
            assert!(error.to_string().contains("the sandbox has its own there"), "{error}");
        }
    });
}
