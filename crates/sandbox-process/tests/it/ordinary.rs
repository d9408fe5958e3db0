//! The same as an ordinary user: this program again, as nobody.

use std::process::Command;

use bailiwick_testkit::{requires, tests};

use crate::place::is_root;

tests!(an_ordinary_user_has_the_same_walls_and_says_which_limits_are_not_held);

fn an_ordinary_user_has_the_same_walls_and_says_which_limits_are_not_held() {
    use std::os::unix::fs::PermissionsExt as _;
    requires!("root", is_root());
    requires!("setpriv", Command::new("setpriv").arg("--version").output().is_ok());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("permissions");
    let program = folder.path().join("it");
    std::fs::copy("/proc/self/exe", &program).expect("a copy");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    for name in TOO {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(["--exact", name])
            .env("TMPDIR", folder.path())
            .env("HOME", folder.path())
            .env_remove("BAILIWICK_REQUIRE")
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{name}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("1 passed"), "{name}: {text}");
    }
}

/// Tests that have to pass for an ordinary user too.
const TOO: &[&str] = &[
    "attacks::watches_of_one_sandbox_leave_the_owner_its_own",
    "attacks::an_agent_that_is_made_to_stand_still_is_not_waited_for",
    "attacks::a_mount_finds_its_place_through_no_link_of_a_guest",
    "attacks::without_namespaces_a_pair_of_sockets_reaches_nobody_else",
    "attacks::without_namespaces_nobody_elses_processes_and_memory_are_reached",
    "conformance::commands::a_command_ends_as_it_says",
    "conformance::commands::a_command_has_exactly_its_variables",
    "conformance::commands::input_comes_in_and_output_goes_out_whole",
    "conformance::terminals::a_terminal_is_one_of_its_size_each_time",
    "limits::a_deadline_ends_whatever_is_done_about_it",
    "limits::its_own_files_are_bounded_in_bytes_and_in_number",
    "limits::processes_are_bounded",
    "walls::a_receipt_says_what_holds_each_demand",
    "walls::a_separate_uid_is_claimed_only_where_the_host_has_one",
    "walls::only_loopback_is_there",
    "conformance::walls::nothing_is_written_but_what_is_its_own",
    "walls::a_command_is_nobody",
    "conformance::mounts::mounts_are_read_or_written_as_they_were_asked_for",
    "conformance::files::files_are_written_read_listed_and_removed",
    "conformance::network::a_program_reaches_the_proxy_and_names_and_ports_and_nothing_else",
    "images::an_image_is_the_root_and_what_is_written_to_it_is_gone_afterwards",
    "images::a_copy_of_an_image_has_its_holes_its_links_and_its_times",
    "images::an_image_that_does_not_fit_as_a_copy_is_refused_with_what_it_needs",
    "images::a_probe_says_how_images_become_roots",
    "images::an_image_cannot_lead_what_is_put_into_it_elsewhere",
    "worlds::a_folder_under_an_overlay_stays_as_it_is",
    "conformance::network::a_port_is_reached_from_outside_and_ends_with_its_sandbox",
    "files::a_fork_has_the_files_and_is_apart",
    "sleep::stopping_ends_what_runs_and_keeps_the_files",
    "conformance::endings::closing_a_backend_ends_all_and_waits_for_it",
    "levels::without_namespaces_files_and_network_still_hold",
    "levels::without_namespaces_what_is_left_is_told_and_refused",
    "conformance::leases::a_lease_sees_nothing_of_the_one_before",
];
