//! `tool new`: what it writes passes as it is.

use insta::assert_snapshot;

use super::{bailiwick, check_code, json, written};

#[track_caller]
fn check_that_it_passes(arguments: &[&str], file: &str) {
    let program = bailiwick();
    let made = program.run(&[&["tool", "new"], arguments].concat());
    check_code(&made, 0);
    assert!(made.stdout.contains(&format!("bailiwick tool test {file}")), "{}", made.stdout);
    for verb in ["check", "test"] {
        check_code(&program.run(&["tool", verb, file]), 0);
    }
}

#[test]
fn what_is_written_passes_its_own_check_and_tests() {
    check_that_it_passes(&["plain"], "plain.tool.yaml");
    check_that_it_passes(&["greet", "--param", "who:string!=O'Hara */ \"x\": #"], "greet.tool.yaml");
    check_that_it_passes(
        &["a", "--param", "n:integer=7", "--param", "o:object!", "--param", "x"],
        "a.tool.yaml",
    );
    check_that_it_passes(
        &["web", "--net", "api.example.com,*.example.org", "--category", "WEB"],
        "web.tool.yaml",
    );
    check_that_it_passes(&["files", "--read", "--write", "--param", "notes!"], "files.tool.yaml");
    check_that_it_passes(
        &["all", "--net", "a.example", "--read", "--write", "--param", "page"],
        "all.tool.yaml",
    );
    check_that_it_passes(&["js", "--language", "js", "--description", "Ends */ the comment"], "js.js");
    check_that_it_passes(&["ts", "--language", "ts", "--param", "a:array=[1,2]"], "ts.ts");
    if bailiwick_testkit::has("sandboxes", crate::exec::has_sandboxes()) {
        check_that_it_passes(&["hello", "--command"], "hello.tool.yaml");
        check_that_it_passes(
            &[
                "say",
                "--command",
                "--param",
                "text:string!=-x",
                "--param",
                "n:number=1.5",
                "--param",
                "o:object={\"a\":[1]}",
            ],
            "say.tool.yaml",
        );
    }
    check_that_it_passes(&["there", "--file", "deep/down/there.js"], "deep/down/there.js");
}

#[test]
fn a_new_tool_is_short_and_honest() {
    let program = bailiwick();
    let run =
        program.run(&["tool", "new", "repo_stars", "--param", "repo:string!=a/b", "--net", "api.github.com"]);
    assert_snapshot!(run.stdout, @r#"
    wrote repo_stars.tool.yaml
    check it      bailiwick tool check repo_stars.tool.yaml
    test it       bailiwick tool test repo_stars.tool.yaml
    publish it    bailiwick tool publish repo_stars.tool.yaml
    call it       bailiwick tool call repo_stars --args '{"repo":"a/b"}'
    "#);
    let written = written(&program, "repo_stars.tool.yaml");
    assert_snapshot!(written, @r#"
    name: repo_stars
    title: "Repo stars"
    description: "Gives back what it was given, gets https://api.github.com/."
    category: CUSTOM
    params:
      - {name: repo, type: STRING, required: true, description: "The repo.", testValue: "a/b"}
    overrides: {network: allowlist, hosts: [api.github.com]}
    tests:
      - name: gives what it should
        input: {"repo":"a/b"}
        http: [{"request":{"method":"GET","url":"https://api.github.com/"},"response":{"status":200,"text":"hello\n"}}]
        equals: {"repo":"a/b","page":"hello\n"}
    code: |
      // What it returns is what its caller gets.
      const response = await fetch("https://api.github.com/");
      if (!response.ok) throw new Error(`the server answered with ${response.status}`);
      const page = await response.text();
      return {repo, page};
    "#);
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let program = bailiwick().with_file("greet.tool.yaml", "mine");
    let run = program.run(&["tool", "new", "greet"]);
    check_code(&run, 2);
    assert_snapshot!(run.stderr, @r"
    error: greet.tool.yaml is there already
      hint: name another file with --file, or write over it with --force
    ");
    assert_eq!(written(&program, "greet.tool.yaml"), "mine");
    check_code(&program.run(&["tool", "new", "greet", "--force"]), 0);
    assert!(written(&program, "greet.tool.yaml").contains("name: greet"));
}

#[test]
fn what_cannot_be_a_tool_is_refused_before_anything_is_written() {
    for (arguments, said) in [
        (&[][..], "the tool has no name"),
        (&["Greet"], "is not a tool name"),
        (&["a", "--param", "1x"], "its name must be one that code can use"),
        (&["a", "--param", "if:string"], "`if`"),
        (&["a", "--param", "x:strng"], "`strng` is no type of a parameter"),
        (&["a", "--param", "x:integer=1.5"], "is not a value of x, which is INTEGER"),
        (&["a", "--param", "x", "--param", "x"], "x"),
        (&["a", "--net", "https://a.test/"], "https://a.test/"),
        (&["a", "--file", "a.txt"], "does not say what it is written in"),
        (&["a", "--file", "a.js", "--language", "ts"], "say different things"),
    ] {
        let program = bailiwick();
        let run = program.run(&[&["tool", "new"], arguments].concat());
        check_code(&run, 2);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        assert_eq!(program.working_folder().read_dir().unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn machines_are_told_the_file() {
    let program = bailiwick();
    let made = json(&program, &["tool", "new", "greet"], 0);
    assert_eq!((made["file"].as_str(), made["name"].as_str()), (Some("greet.tool.yaml"), Some("greet")));
}
