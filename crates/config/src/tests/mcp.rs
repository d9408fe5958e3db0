//! The mcp section: what is off stays off until the operator names it.

use super::{Machine, check_refused};

#[test]
fn native_tools_are_off_until_the_operator_names_them() {
    let machine = Machine::new();
    let begins = machine.load().unwrap().settings.mcp;
    assert!(begins.tools.is_empty() && begins.ask.is_empty());
    machine.user_file(
        "[mcp]\ntools = [\"run_javascript\", \"describe_runtime\", \"run_javascript\"]\nask = [\"run_javascript\"]\n",
    );
    let mcp = machine.load().unwrap().settings.mcp;
    assert_eq!(mcp.tools, ["run_javascript", "describe_runtime"]);
    assert_eq!(mcp.ask, ["run_javascript"]);
    for (text, message, hint) in [
        (
            "[mcp]\ntools = [\"run_javascrpt\"]",
            "`mcp.tools`: `run_javascrpt` is no native tool",
            "did you mean `run_javascript`?",
        ),
        (
            "[mcp]\nask = [\"describe-runtime\"]",
            "`mcp.ask`: `describe-runtime` is no native tool",
            "did you mean `describe_runtime`?",
        ),
        ("[mcp]\nask = [\"describe_runtime\"]", "`describe_runtime` runs nothing", "leave it out"),
        (
            "[mcp]\ntools = [\"*\"]",
            "`*` is no native tool",
            "there are run_javascript, describe_runtime, run_command",
        ),
        ("[mcp]\ntools = [\"run_code\"]", "`run_code` is no native tool", ""),
        ("[mcp]\ntools = \"run_javascript\"", "mcp.tools", ""),
        ("[mcp]\ntool = []", "unknown key `mcp.tool`", "did you mean `tools`?"),
    ] {
        machine.user_file(text);
        check_refused(&machine, message, hint);
    }
}

#[test]
fn a_folder_takes_native_tools_away_and_has_people_asked_more() {
    let machine = Machine::new();
    machine.user_file("[mcp]\ntools = [\"run_javascript\", \"describe_runtime\"]\n");
    machine.folder_file("[mcp]\ntools = [\"describe_runtime\"]\nask = [\"run_javascript\"]\n");
    let mcp = machine.load().unwrap().settings.mcp;
    assert_eq!(mcp.tools, ["describe_runtime"]);
    assert_eq!(mcp.ask, ["run_javascript"], "a folder may have people asked");
    machine.user_file("[mcp]\nask = [\"run_javascript\"]\n");
    machine.folder_file("[mcp]\nask = []\n");
    assert_eq!(machine.load().unwrap().settings.mcp.ask, ["run_javascript"]);
}

#[test]
fn agents_get_sandboxes_that_reach_nothing_unless_the_operator_says_so() {
    let machine = Machine::new();
    let begins = machine.load().unwrap().settings.mcp;
    assert!(begins.tools.is_empty());
    let sandbox = begins.sandbox;
    assert_eq!((sandbox.network.as_str(), sandbox.image.as_str(), sandbox.most), ("none", "", 8));
    assert!(sandbox.mounts.is_empty());
    machine.user_file("[mcp.sandbox]\npreset = \"huge\"\n");
    check_refused(&machine, "`mcp.sandbox.preset`: `huge` is not one of minimal, standard, dev", "");
    machine.user_file("");
    for (text, key) in [
        ("[mcp.sandbox]\nnetwork = \"full\"", "mcp.sandbox.network"),
        ("[mcp.sandbox]\nimage = \"mine\"", "mcp.sandbox.image"),
        ("[mcp.python]\nimage = \"mine\"", "mcp.python.image"),
        ("[mcp.sandbox]\nmounts = [\"/home:/home:rw\"]", "mcp.sandbox.mounts"),
        ("[mcp.sandbox]\nmost = 9", "mcp.sandbox.most"),
    ] {
        machine.folder_file(text);
        check_refused(&machine, key, "bailiwick trust");
    }
}
