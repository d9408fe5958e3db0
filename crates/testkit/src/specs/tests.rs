use std::path::Path;

use super::Specs;
use crate::requires;

/// Runs one case against a script, and tells what is wrong with it; nothing when it was left out.
#[expect(clippy::disallowed_methods, reason = "files of a test's own")]
fn run(program: &str, case: &str, files: &[(&str, &str)], with: fn(Specs) -> Specs) -> Vec<Option<String>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("program");
    std::fs::write(&script, program).expect("a script");
    let area = folder.path().join("area");
    std::fs::create_dir_all(area.join("one")).expect("a case");
    std::fs::write(area.join("one/case.toml"), format!("about = \"it\"\n{case}\n")).expect("a case");
    for (name, text) in files {
        std::fs::write(area.join("one").join(name), text).expect("a file of the case");
    }
    // Read by a shell and not executed: another test may be forking while it is still open for writing.
    let results = with(Specs::new(&script, &area).behind(&["/bin/sh"])).run();
    results.into_iter().map(|(_, wrong)| wrong).collect()
}

#[track_caller]
fn check(program: &str, case: &str, files: &[(&str, &str)], wrong: Option<&str>) {
    let told = run(program, case, files, |specs| specs.preamble("before"));
    let [told] = told.as_slice() else { panic!("the case is run once: {told:?}") };
    match wrong {
        None => assert_eq!(told, &None),
        Some(wrong) => assert!(told.as_ref().is_some_and(|told| told.contains(wrong)), "{told:?}"),
    }
}

#[test]
fn the_folders_of_the_machine_stand_for_their_names_in_arguments() {
    let program = r#"[ "$1" = "--at=$(pwd):/x" ] && [ "$2" = "$HOME/y" ] && echo fine"#;
    check(program, "args = [\"--at={work}:/x\", \"{home}/y\"]\nstdout = [\"fine\"]", &[], None);
}

#[test]
fn a_deadline_is_later_where_everything_is_slower() {
    let program = r#"[ "$*" = "exec --timeout 8s --cpu 1s -- --timeout" ] && echo fine"#;
    let case = "args = [\"exec\", \"--timeout\", \"2s\", \"--cpu\", \"1s\", \"--\", \"--timeout\"]\nstdout = [\"fine\"]";
    assert_eq!(run(program, case, &[], |specs| specs.patient(4)), [None]);
    let usual = r#"[ "$*" = "exec --timeout 120s -- x" ] && echo fine"#;
    let none = "args = [\"exec\", \"--\", \"x\"]\nstdout = [\"fine\"]";
    assert_eq!(run(usual, none, &[], |specs| specs.patient(4)), [None]);
    assert!(run(program, case, &[], |specs| specs).iter().all(Option::is_some));
}

#[test]
fn an_input_is_a_file_of_the_case_and_python_has_something_in_front_of_it() {
    check("cat", "input = \"a.sh\"\nstdout = [\"text\"]\nnever = [\"before\"]", &[("a.sh", "text")], None);
    check("cat", "input = \"a.py\"\nstdout = [\"before\\ntext\"]", &[("a.py", "text")], None);
    check("cat", "input = \"none\"", &[], Some("No such file"));
}

#[test]
fn more_bytes_than_a_case_allows_are_wrong() {
    check("echo 12345678", "most = 9", &[], None);
    check("echo 123456789", "most = 9", &[], Some("stdout has 10 bytes"));
    check("echo 123456789 >&2", "most = 9", &[], Some("stderr has 10 bytes"));
}

#[test]
fn a_case_is_run_for_the_user_that_it_is_for() {
    let is_root = rustix::process::geteuid().is_root();
    let (mine, other) = if is_root { ("root", "user") } else { ("user", "root") };
    assert_eq!(run("true", &format!("only = \"{mine}\""), &[], |specs| specs), [None]);
    assert_eq!(run("false", &format!("only = \"{other}\""), &[], |specs| specs), []);
    check("true", "only = \"somebody\"", &[], Some("`only` is"));
}

#[test]
fn a_program_and_its_scripts_can_be_nobodys() {
    requires!("root", rustix::process::geteuid().is_root() && Path::new("/usr/bin/setpriv").exists());
    let case = "only = \"user\"\nstdout = [\"65534 65534\"]";
    let files =
        [("prepare.sh", "[ \"$(id -u)\" = 65534 ]; touch mine"), ("check.sh", "rm mine; rm prepare.sh")];
    let told = run("echo $(id -u) $(id -G)", case, &files, Specs::by_nobody);
    assert_eq!(told, [None]);
}

#[test]
fn words_in_front_of_a_program_start_it() {
    let told = run("echo $LEFT", "stdout = [\"open\"]", &[], |specs| {
        specs.behind(&["/usr/bin/env", "LEFT=open", "/bin/sh"])
    });
    assert_eq!(told, [None]);
}

/// That a host which stops answering is seen is for no test to show; that one which was not looked at is, is.
#[test]
fn a_host_is_watched_for_as_long_as_a_case_takes() {
    check("/bin/sleep 0.3", "watch = \"host\"", &[], None);
    check("true", "watch = \"nothing\"", &[], Some("`watch` is"));
}

#[test]
fn webassembly_as_text_is_there_as_a_module() {
    const MAGIC: &str = r#"[ "$(head -c 4 a.wasm | tail -c 3)" = asm ] && [ ! -e a.wat ] && wc -c <a.wasm"#;
    let told = |text: &str, case: &str| {
        let told = run(MAGIC, case, &[("a.wat", text)], |specs| specs.webassembly("(memory 1)"));
        told.into_iter().next().flatten()
    };
    // The rest of a module has the beginning in front of it: eight bytes, and five for a memory.
    assert_eq!(told(";; nothing more\n", "stdout = [\"13\"]"), None);
    assert_eq!(told(";; all of it\n(module)\n", "stdout = [\"8\"]"), None);
    assert_eq!(told("(component)", "stdout = [\"8\"]"), None);
    assert!(told("(func", "").is_some_and(|wrong| wrong.contains("a.wat: ")));
}
