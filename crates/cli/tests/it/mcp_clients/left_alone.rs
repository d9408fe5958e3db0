//! Files that `mcp install` does not touch.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use bailiwick_testkit::Program;

use super::{CLIENTS, bailiwick, check, everything, kept, text, with_home};

/// Nothing below home and working folder is changed, whatever is asked for.
#[track_caller]
fn check_left_alone(program: &Program, arguments: &[&str], stdout: &str, stderr: &str) {
    let (home, work) = (everything(&program.home()), everything(&program.working_folder()));
    let run = program.run(&[&["mcp", "install"], arguments].concat());
    check(&run, 2, stdout, stderr);
    assert_eq!((everything(&program.home()), everything(&program.working_folder())), (home, work), "{run:?}");
}

#[test]
fn without_a_terminal_nothing_is_written_unless_yes_is_typed() {
    for known in CLIENTS {
        let program = with_home(known.file, known.before);
        check_left_alone(&program, &[known.client], "", "nobody is at a terminal");
        let run = program.run_with_input(&["mcp", "install", known.client], "y\n");
        check(&run, 2, "", "--yes writes it without asking");
        assert_eq!(text(&program.home().join(known.file)), known.before);
        let none = bailiwick();
        check_left_alone(&none, &[known.client], "", "nobody is at a terminal");
    }
}

#[test]
fn a_file_that_is_not_plain_is_left_alone_and_there_is_something_to_paste() {
    for known in CLIENTS.iter().filter(|known| known.client != "codex") {
        for text in ["{\n  // mine\n  \"servers\": {}\n}", "{\"mcpServers\": {},}", "nonsense", "{"] {
            let program = with_home(known.file, text);
            check_left_alone(&program, &[known.client, "--yes"], "\"bailiwick\": {", "it is not plain JSON");
            check_left_alone(&program, &[known.client, "--yes", "--remove"], "", "it is not plain JSON");
        }
    }
    let program = with_home(".codex/config.toml", "model = \n");
    check_left_alone(&program, &["codex", "--yes"], "[mcp_servers.bailiwick]", "it is not plain TOML");
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let program = bailiwick();
    fs::create_dir_all(program.home().join(".cursor/mcp.json")).unwrap();
    check_left_alone(&program, &["cursor", "--yes"], "", "is not a regular file");
    let program = bailiwick();
    write(&program.working_folder().join("latin"), b"{\"a\": \"\xe9\"}");
    check_left_alone(&program, &["cursor", "--yes", "--file", "latin"], "", "is not UTF-8");
    let program = bailiwick();
    symlink("nowhere", program.home().join(".claude.json")).unwrap();
    check_left_alone(&program, &["claude-code", "--yes"], "", "leads nowhere");
}

#[expect(clippy::disallowed_methods, reason = "files of a test's own machine")]
fn write(path: &std::path::Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_read_only_file_and_one_that_everybody_writes_are_left_alone() {
    for (mode, said) in [(0o444, "is read-only"), (0o666, "can be written by every user")] {
        let program = with_home(".cursor/mcp.json", "{}");
        let file = program.home().join(".cursor/mcp.json");
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        check_left_alone(&program, &["cursor", "--yes"], "", said);
    }
}

#[test]
fn a_link_of_ones_own_is_followed_and_stays_one() {
    let program = with_home("dotfiles/mcp.json", "{\n  \"mcpServers\": {}\n}\n");
    let link = program.home().join(".cursor/mcp.json");
    fs::create_dir(program.home().join(".cursor")).unwrap();
    symlink("../dotfiles/mcp.json", &link).unwrap();
    let run = program.run(&["mcp", "install", "cursor", "--yes"]);
    check(&run, 0, "added", "which is [MACHINE]/home/dotfiles/mcp.json");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(text(&program.home().join("dotfiles/mcp.json")).contains("\"bailiwick\""));
    assert_eq!(kept(&link).len(), 1);
}

#[test]
fn a_link_in_a_strangers_folder_does_not_lead_out_of_it() {
    for known in CLIENTS {
        let Some(name) = known.projects else { continue };
        let program = with_home(known.file, known.before);
        let link = program.working_folder().join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(program.home().join(known.file), &link).unwrap();
        check_left_alone(&program, &[known.client, "--project", "--yes"], "", "leads out of its folder");
    }
}
