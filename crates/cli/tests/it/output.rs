//! Conventions people expect: help, completions, manual pages, colours, pipes.

use insta::assert_snapshot;

use super::bailiwick;

#[test]
fn help_fits_on_a_screen() {
    let run = bailiwick().run(&["--help"]);
    assert_eq!(run.code, Some(0));
    assert_snapshot!(run.stdout);
    assert!(run.stdout.lines().count() < 40);
}

#[test]
fn usage_mistakes_exit_with_two_and_suggest() {
    let run = bailiwick().run(&["polcy"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("similar subcommand exists: 'policy'"), "{}", run.stderr);
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for shell in ["bash", "zsh", "fish"] {
        let run = bailiwick().run(&["completions", shell]);
        assert!(run.code == Some(0) && run.stdout.contains("explain"), "{shell}");
    }
    let program = bailiwick();
    let page = program.run(&["man"]);
    assert!(page.code == Some(0) && page.stdout.contains(".TH bailiwick"), "{}", page.stdout);
    let run = program.run(&["man", "--out", "pages"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for name in ["bailiwick.1", "bailiwick-policy.1", "bailiwick-policy-explain.1", "bailiwick-trust.1"] {
        assert!(program.working_folder().join("pages").join(name).is_file(), "{name}: {}", run.stdout);
    }
}

#[test]
fn completions_work_when_the_settings_are_broken() {
    let program = bailiwick().with_home_file(".config/bailiwick/bailiwick.toml", "nonsense");
    assert_eq!(program.run(&["completions", "bash"]).code, Some(0));
    assert_eq!(program.run(&["limits"]).code, Some(2));
}

#[test]
fn there_are_no_colours_without_a_terminal() {
    let run = bailiwick().run(&["policy", "show"]);
    assert!(!run.stdout.contains('\u{1b}'));
    let run = bailiwick().with_variable("CLICOLOR_FORCE", "1").run(&["policy", "show"]);
    assert!(run.stdout.contains("\u{1b}["), "colours can be forced");
    let run = bailiwick().with_variable("NO_COLOR", "1").run(&["policy", "show"]);
    assert!(!run.stdout.contains('\u{1b}'));
}

#[test]
fn quiet_leaves_out_the_hints() {
    let program = bailiwick().with_file("o.yaml", "netwrok: 1\n");
    let run = program.run(&["-q", "policy", "show", "--overrides", "o.yaml"]);
    assert_eq!(run.code, Some(2));
    assert!(!run.stderr.contains("hint"), "{}", run.stderr);
}

#[test]
fn verbose_says_which_layer_set_a_limit() {
    let run = bailiwick().run(&["-v", "policy", "show", "--profile", "strict"]);
    assert!(run.stdout.contains("steps 500000 (profile:strict)"), "{}", run.stdout);
}
