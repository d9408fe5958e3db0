//! Every command in the documents runs here and prints what the document says.

use std::path::Path;

#[track_caller]
fn check(document: &str, text: &str) {
    let wrong = bailiwick_testkit::run_examples(Path::new(env!("CARGO_BIN_EXE_bailiwick")), text);
    assert!(wrong.is_empty(), "{document}\n{}", wrong.join("\n\n"));
}

#[test]
fn the_examples_of_the_readme_are_true() {
    check("README.md", include_str!("../../../../README.md"));
}

#[test]
fn the_examples_of_the_guide_to_cells_are_true() {
    check("docs/cells.md", include_str!("../../../../docs/cells.md"));
}

#[test]
fn the_examples_of_the_guide_to_sandboxes_are_true() {
    check("docs/sandboxes.md", include_str!("../../../../docs/sandboxes.md"));
}

#[test]
fn the_examples_of_the_guide_to_images_are_true() {
    check("docs/images.md", include_str!("../../../../docs/images.md"));
}

#[test]
fn the_examples_of_the_guide_to_command_tools_are_true() {
    check("docs/command-tools.md", include_str!("../../../../docs/command-tools.md"));
}

#[test]
fn the_examples_of_the_policy_guide_are_true() {
    check("docs/policy.md", include_str!("../../../../docs/policy.md"));
}

#[test]
fn the_examples_of_the_guide_to_secrets_are_true() {
    check("docs/secrets.md", include_str!("../../../../docs/secrets.md"));
}

#[test]
fn the_examples_of_the_guide_to_the_gateway_are_true() {
    check("docs/gateway.md", include_str!("../../../../docs/gateway.md"));
}

#[test]
fn the_examples_of_the_guide_to_a_first_tool_are_true() {
    check("docs/first-tool.md", include_str!("../../../../docs/first-tool.md"));
}

#[test]
fn the_examples_of_the_guide_to_the_record_are_true() {
    check("docs/audit.md", include_str!("../../../../docs/audit.md"));
}

#[test]
fn the_examples_of_the_guide_to_the_server_are_true() {
    check("docs/server.md", include_str!("../../../../docs/server.md"));
}

#[test]
fn the_examples_of_the_guide_to_sandboxes_over_http_are_true() {
    check("docs/http.md", include_str!("../../../../docs/http.md"));
}

#[test]
fn the_examples_of_the_guide_to_mcp_are_true() {
    check("docs/mcp.md", include_str!("../../../../docs/mcp.md"));
}

#[test]
fn the_example_policy_of_the_documents_is_one() {
    let run = super::bailiwick()
        .with_file("o.yaml", include_str!("../../../../docs/examples/repo-stars.yaml"))
        .run(&["policy", "show", "--overrides", "o.yaml"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

/// A proof that SECURITY.md or ARCHITECTURE.md names is there: a folder of `specs/`, or a test of that name.
#[test]
fn the_proofs_that_the_documents_name_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = sources_below(&root.join("crates")) + &sources_below(&root.join("fuzz/src"));
    let documents =
        [include_str!("../../../../SECURITY.md"), include_str!("../../../../ARCHITECTURE.md")].concat();
    let names = documents.split('`').skip(1).step_by(2);
    let mut proofs = 0;
    for name in names {
        let is_case = name.strip_prefix("specs/").is_some_and(|rest| rest.contains('/'));
        if is_case {
            assert!(root.join(name).join("case.toml").is_file(), "{name}");
            proofs += 1;
        } else if name.matches('_').count() >= 3 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
            assert!(sources.contains(&format!("fn {name}(")), "no test is called {name}");
            proofs += 1;
        }
    }
    assert!(proofs > 20, "only {proofs} proofs were found");
}

#[expect(clippy::disallowed_methods, reason = "sources of the repository, read by its tests")]
#[expect(clippy::unwrap_used, reason = "a repository that cannot be read ends the test")]
fn sources_below(folder: &Path) -> String {
    let mut text = String::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    text
}
