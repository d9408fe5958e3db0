//! `tool list`, `show`, `import`, `export` and `rm`: the catalogue as a whole.

use insta::assert_snapshot;
use serde_json::json;

use super::{GREET, KEEP, STRAYS, check_code, json, with, written};

#[test]
fn the_list_is_a_table_for_people_and_objects_for_machines() {
    let program = with(&[("a/greet.tool.yaml", GREET), ("a/keep.tool.yaml", KEEP)]);
    let run = program.run(&["tool", "list"]);
    assert_eq!((run.stdout.as_str(), run.code), ("there are no tools\n", Some(0)));
    let run = program.run(&["tool", "import", "a"]);
    check_code(&run, 0);
    assert_snapshot!(run.stdout, @r"
    CHANGE  NAME   STATE
    added   greet  DRAFT
    added   keep   DRAFT
    ");
    check_code(&program.run(&["tool", "publish", "a/greet.tool.yaml"]), 0);
    assert_snapshot!(program.run(&["tool", "list"]).stdout, @r"
    NAME   STATE      BADGE  VERSION  TITLE
    greet  PUBLISHED  L0     1        Greet
    keep   DRAFT      L4     1
    ");
    assert_snapshot!(program.run(&["tool", "list", "--state", "draft"]).stdout, @r"
    NAME  STATE  BADGE  VERSION  TITLE
    keep  DRAFT  L4     1
    ");
    let listed = json(&program, &["tool", "list"], 0);
    for field in ["id", "name", "title", "state", "level", "version", "updatedAt"] {
        assert!(listed["tools"][0].get(field).is_some(), "{field}: {listed}");
    }
}

#[test]
fn a_tool_is_shown_in_full_or_as_a_model_sees_it() {
    let program = with(&[("keep.tool.yaml", KEEP)]);
    check_code(&program.run(&["tool", "import", "keep.tool.yaml"]), 0);
    let shown = json(&program, &["tool", "show", "keep"], 0);
    assert_eq!(shown["approval"], true);
    for field in ["document", "hash", "textsHash", "risk", "policy", "definition", "id", "state"] {
        assert!(!shown[field].is_null(), "{field}: {shown}");
    }
    let definition = program.run(&["tool", "show", "keep", "--definition"]);
    let definition: serde_json::Value = serde_json::from_str(&definition.stdout).unwrap();
    assert_eq!(definition["inputSchema"]["required"], json!(["text"]));
    assert!(!definition.to_string().contains("writeText"), "code never reaches a model: {definition}");
    let run = program.run(&["tool", "show", "keep"]);
    for line in [
        "state         DRAFT",
        "risk          L4  credited L3",
        "approval      every call waits for a person",
        "pass          none",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    check_code(&program.run(&["tool", "show", "nope"]), 2);
}

#[test]
fn an_import_is_all_or_nothing_and_tells_every_mistake() {
    let program = with(&[
        ("a/greet.tool.yaml", GREET),
        ("a/one.tool.yaml", "name: one\ncod: x\n"),
        ("a/two.tool.yaml", "name: two\nparams: [{nam: x}]\ncode: x\n"),
    ]);
    let run = program.run(&["tool", "import", "a"]);
    check_code(&run, 2);
    for place in ["a/one.tool.yaml", "a/two.tool.yaml"] {
        assert!(run.stderr.contains(place), "{}", run.stderr);
    }
    assert_eq!(json(&program, &["tool", "list"], 0)["tools"], json!([]));
}

#[test]
fn what_is_exported_comes_back_the_same() {
    let program =
        with(&[("a/greet.tool.yaml", GREET), ("a/keep.tool.yaml", KEEP), ("a/s.tool.yaml", STRAYS)]);
    check_code(&program.run(&["tool", "import", "a"]), 0);
    let run = program.run(&["tool", "export", "--to", "out"]);
    check_code(&run, 0);
    assert_snapshot!(run.stdout, @r"
    wrote out/greet.tool.yaml
    wrote out/keep.tool.yaml
    wrote out/strays.tool.yaml
    ");
    let again = json(&program, &["tool", "import", "out"], 0);
    let changes: Vec<_> =
        again["tools"].as_array().unwrap().iter().map(|tool| tool["change"].clone()).collect();
    assert_eq!(changes, ["same", "same", "same"]);
    let again = json(&program, &["tool", "export", "--to", "out"], 0);
    assert_eq!(again, json!({"written": [], "same": 3}));
}

#[test]
fn an_export_does_not_write_over_what_differs() {
    let program = with(&[("greet.tool.yaml", GREET), ("out/greet.tool.yaml", "mine\n")]);
    check_code(&program.run(&["tool", "import", "greet.tool.yaml"]), 0);
    let run = program.run(&["tool", "export", "greet", "--to", "out"]);
    check_code(&run, 2);
    assert!(run.stderr.contains("out/greet.tool.yaml"), "{}", run.stderr);
    assert_eq!(written(&program, "out/greet.tool.yaml"), "mine\n");
    check_code(&program.run(&["tool", "export", "greet", "--to", "out", "--force"]), 0);
    assert!(written(&program, "out/greet.tool.yaml").contains("name: greet"));
    check_code(&program.run(&["tool", "export", "nope", "--to", "out"]), 2);
}

#[test]
fn a_tool_that_is_removed_is_gone() {
    let program = with(&[("greet.tool.yaml", GREET)]);
    check_code(&program.run(&["tool", "import", "greet.tool.yaml"]), 0);
    let run = program.run(&["tool", "rm", "greet"]);
    assert_eq!((run.stdout.as_str(), run.code), ("removed greet\n", Some(0)));
    check_code(&program.run(&["tool", "rm", "greet"]), 2);
    check_code(&program.run(&["tool", "call", "greet"]), 2);
}

#[test]
fn what_is_no_file_does_not_keep_a_folder_from_being_imported() {
    let program = with(&[("a/greet.tool.yaml", GREET)]);
    // It never ends, as a pipe that nobody writes to never begins.
    for name in ["zero.tool.yaml", "zero.js"] {
        std::os::unix::fs::symlink("/dev/zero", program.working_folder().join("a").join(name))
            .expect("a link");
    }
    let run = program.run(&["tool", "import", "a"]);
    check_code(&run, 0);
    assert!(run.stdout.contains("greet"), "{}", run.stdout);
}
