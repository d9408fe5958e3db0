//! Tool documents on the command line, in each of their syntaxes.

use insta::assert_snapshot;

use crate::bailiwick;

const GREET: &str = "#!/usr/bin/env -S bailiwick run
/**
 * ---
 * name: greet
 * description: Greets.
 * params:
 *   - {name: who, type: STRING, required: true}
 *   - {name: times, type: INTEGER, default: 2}
 * limits: {wall: 2s}
 * ---
 */
if (who === 'nobody') null.x;
return 'Hello ' + who + '!'.repeat(times);
";

#[test]
fn code_with_the_fields_of_a_tool_at_its_top_is_a_tool() {
    let program = bailiwick().with_file("greet.js", GREET);
    let run = program.run(&["run", "greet.js", "--arg", "who=42"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("\"Hello 42!!\"\n", ""));
    let run = program.run(&["run", "greet.js", "--arg", "who=nobody"]);
    assert!(run.stderr.contains("--> greet.js:12:"), "{}", run.stderr);
    let run = program.run(&["run", "greet.js"]);
    assert_snapshot!(run.stderr, @r"
    error: required arguments are missing: who
      hint: add --arg who=…
    ");
    let run = program.run(&["policy", "learn", "greet.js", "--arg", "who=x"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn code_without_fields_is_run_as_it_is() {
    let run = bailiwick().with_file("a.js", "/* a comment */ return 1;").run(&["run", "a.js"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("1\n", ""));
}

#[test]
fn arguments_are_checked_before_anything_runs() {
    let program = bailiwick().with_file("greet.js", GREET);
    let run = program.run(&["run", "greet.js", "--arg", "who=a", "--arg", "times=often"]);
    assert_snapshot!(run.stderr, @r#"
    error: the argument `times` must be a whole number, but is a text ("often")
      hint: see the `params` of the tool
    "#);
    assert_eq!(run.code, Some(2));
    let run = program.run(&["run", "greet.js", "--args", r#"{"who": 7, "tmes": 1}"#]);
    assert_snapshot!(run.stderr, @r"
    error: the argument `who` must be a text, but is a number (7); the tool has no parameter `tmes`
      hint: did you mean `times`?
    ");
}

#[test]
fn every_mistake_of_a_tool_is_told_where_it_is() {
    let text = "/*---\nname: greet\ntags: [safe]\nparams: [{name: if, type: STRIN}]\n---*/\nreturn 1;\n";
    let run = bailiwick().with_file("a.ts", text).run(&["run", "a.ts"]);
    assert_snapshot!(run.stderr, @r"
    error: the tag `safe` claims a capability
      --> a.ts:3:8  tags[0]
      hint: say what the tool is about; what it may do is worked out from its policy
    error: `if` cannot be a parameter: it is a reserved word
      --> a.ts:4:17  params[0].name
      hint: name it `if_`, say
    error: `STRIN` is no type of a parameter
      --> a.ts:4:27  params[0].type
      hint: did you mean `STRING`?
    ");
    assert_eq!(run.code, Some(2));
}

#[test]
fn the_pure_function_reads_its_input() {
    let tool = "name: loud\nentry: emit\nparams: [{name: input, type: STRING}]\ncode: emit(read_input().toUpperCase())\n";
    let run =
        bailiwick().with_file("loud.tool.yaml", tool).run(&["run", "loud.tool.yaml", "--arg", "input=42a"]);
    assert!(run.stdout.contains("42A"), "{} {}", run.stdout, run.stderr);
}

#[test]
fn the_policy_of_a_tool_is_read_from_its_document() {
    let tool = "name: a\noverrides: {network: allowlist, hosts: [a.test]}\ncode: return 1\n";
    let program = bailiwick()
        .with_file("a.tool.yaml", tool)
        .with_file("b.js", "/*---\nname: b\noverrides: {network: strict}\n---*/\nreturn 1\n");
    let run = program.run(&["policy", "show", "--overrides", "a.tool.yaml"]);
    assert!(run.stdout.contains("allowlist"), "{} {}", run.stdout, run.stderr);
    let run = program.run(&["policy", "diff", "a.tool.yaml", "b.js"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.starts_with("+ "), "{}", run.stdout);
}

#[test]
fn a_command_tool_is_no_code_that_run_could_run() {
    let tool = "name: a\ncommand: {argv: [ls]}\n";
    let run = bailiwick().with_file("a.tool.yaml", tool).run(&["run", "a.tool.yaml"]);
    assert_snapshot!(run.stderr, @r"
    error: a command tool has no code to run here; it runs in a command sandbox
      hint: try it with bailiwick tool test FILE, or publish it and call it
    ");
}

#[test]
fn what_is_unwise_in_a_tool_is_told_to_whoever_asks() {
    let tool = "name: a\ntests: [{input: {}}]\ncode: return 1\n";
    let program = bailiwick().with_file("a.tool.yaml", tool);
    assert_eq!(program.run(&["run", "a.tool.yaml"]).stderr, "");
    let run = program.run(&["run", "a.tool.yaml", "--verbose"]);
    assert!(run.stderr.contains("warning: the tool has no `description`"), "{}", run.stderr);
    assert!(
        run.stderr.contains("warning: the test `test 1` expects nothing but a result (tests[0])"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_misspelt_protective_field_is_never_taken_for_none() {
    let tool = "name: a\ndescription: d\naproval: {mode: REQUIRED}\ncode: return 1\n";
    let program = bailiwick().with_file("a.tool.yaml", tool);
    let run = program.run(&["tool", "check", "a.tool.yaml"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert_snapshot!(run.stdout, @r"
    blocked  a.tool.yaml
    error: a.tool.yaml has a mistake
    error: unknown field `aproval`
      --> a.tool.yaml:3:1  aproval
      hint: did you mean `approval`?
    ");
    let run = program.run(&["tool", "import", "a.tool.yaml"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("unknown field `aproval`"), "{}", run.stderr);
}

#[test]
fn tools_of_spring_ai_playground_are_imported_with_what_protects_them() {
    let specs = serde_json::json!([{
        "toolId": "130a8372-bc43-5e15-9c29-4cbfb9209ae3", "name": "readNote", "description": "Reads a note.",
        "params": [{"name": "path", "description": "Which", "required": true, "type": "STRING", "testValue": "a.txt"}],
        "staticVariables": [], "code": "return safety.fs.exists(path);", "codeType": "Javascript", "category": "FILE",
        "tags": ["pipeline"], "draft": true, "createTimestamp": 1, "updateTimestamp": 1,
        "sandboxOverrides": {"networkMode": "blocked", "hostsAllow": [], "fileRead": true, "fileWrite": false,
            "addAllowClasses": [], "removeAllowClasses": [], "addDenyClasses": [], "removeDenyClasses": [],
            "fsBasePath": null},
        "humanInTheLoop": {"mode": "REQUIRED", "promptTemplate": null},
    }]);
    let program = bailiwick().with_file("specs.json", &specs.to_string());
    let run = program.run(&["tool", "import", "--from", "spring", "specs.json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("note: `draft` is kept below `metadata`"), "{}", run.stdout);
    assert!(run.stdout.ends_with("added   readNote  DRAFT\n"), "{}", run.stdout);
    let shown = program.run(&["tool", "show", "readNote"]).stdout;
    assert!(shown.contains("approval      every call waits for a person"), "{shown}");
    assert!(shown.contains("L3 fileRead: workspace"), "{shown}");
    let worse = specs.to_string().replace("humanInTheLoop", "humanInTheLop");
    let run =
        program.with_file("worse.json", &worse).run(&["tool", "import", "--from", "spring", "worse.json"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("unknown field `humanInTheLop`"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `humanInTheLoop`?"), "{}", run.stderr);
}
