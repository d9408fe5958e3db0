use super::{LIMITS, read, written};

/// A tree of specs with two backends, one case for each direction, and these lines for every limit.
#[expect(clippy::disallowed_methods, reason = "files of a test's own")]
fn tree(lines: &str, more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for area in ["escape", "fs", "egress", "overlay", "images", "limits", "pool"] {
        for case in ["nearly", "too-much"] {
            write(&format!("commands/{area}/{case}/case.toml"), "");
        }
    }
    write("wasm/limits/memory/case.toml", "");
    write("backends/none.toml", "cases = []");
    write("backends/wasm.toml", "tier = \"USER_KERNEL\"\nabout = \"An engine.\"\n");
    let except = "[[except]]\ncases = [\"limits/too-much\"]\nverdict = \"does not hold\"\nwhy = \"so\"\n";
    write("backends/weak.toml", &format!("tier = \"PROCESS\"\nabout = \"A fence.\"\n{except}"));
    let limits: String = LIMITS.map(|limit| format!("[{limit}]\n{lines}\n")).concat();
    write("limits.toml", &format!("{limits}{more}"));
    folder
}

const LINES: &str = "bounds = \"Much.\"\nby = { weak = \"a fence\", wasm = \"an engine\" }\nwithin = [\"limits/nearly\"]\n\
                     beyond = [\"limits/too-much\"]\nwasmWithin = [\"limits/memory\"]\nwasmBeyond = [\"limits/memory\"]";

#[test]
fn every_limit_has_a_table_with_the_verdict_of_each_backend() {
    let (matrix, limits) = read(tree(LINES, "").path()).unwrap();
    let page = written(&matrix, &limits);
    for limit in LIMITS {
        assert!(page.contains(&format!("## `--{limit}`\n\nMuch.\n")), "{limit} is not in {page}");
    }
    for line in [
        "| `weak` | a fence | `limits/nearly` yes | `limits/too-much` does not hold: so |",
        "| `wasm` | an engine | `limits/memory` yes | `limits/memory` yes |",
    ] {
        assert_eq!(page.matches(line).count(), LIMITS.len(), "{line} in {page}");
    }
}

#[track_caller]
fn check_refused(lines: &str, more: &str, why: &str) {
    let told = read(tree(lines, more).path()).unwrap_err().to_string();
    assert!(told.contains(why) && told.contains("specs/limits.toml"), "{told}");
}

#[test]
fn a_gap_in_the_file_is_refused() {
    check_refused(&LINES.replace("weak =", "strong ="), "", "there is no backend `strong`");
    check_refused(&LINES.replace("weak = \"a fence\", ", ""), "", "it lacks `weak`");
    check_refused(&LINES.replace("limits/nearly", "limits/nothing"), "", "there is no case `limits/nothing`");
    check_refused(
        &LINES.replace("within = [\"limits/nearly\"]", "within = []"),
        "",
        "it has no attack in `within`",
    );
    check_refused(&LINES.replace("limits/memory", "limits/none"), "", "there is no case `limits/none`");
    check_refused(LINES, "[colour]\n", "`colour` is not a limit");
}
