//! The matrix: every case of `specs/commands` on every backend of its rows, as root and where that means something as an ordinary user.
//!
//! A backend is one line of [`rows!`], and its file in `specs/backends`, which names the cases that are not expected to hold
//! there. What holds where there is no backend at all is decided before one is asked: it is run there once for each user, and
//! not again on every backend. `docs/backends.md` is made from the same files.

pub(crate) mod backing;

use std::path::Path;

use backing::Backing;
use bailiwick_testkit::{Hollow, Results, Specs, Verdicts, has, hollow};

use super::commands::area;
use super::egress::world;
use super::egress_of_commands::{Stage, has_programs};
use super::specs::specs;

/// Who runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Root,
    Nobody,
}

/// A backend, and who uses it.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Its name; none for no backend at all.
    backend: Option<&'static str>,
    by: By,
}

/// The areas that are run by starting the program, and how many cases there are at least.
const AREAS: [(&str, usize); 6] =
    [("escape", 60), ("fs", 15), ("egress", 40), ("overlay", 10), ("images", 35), ("limits", 10)];

macro_rules! rows {
    ($($module:ident: $backend:expr, $by:expr;)+) => {$(
        mod $module {
            use super::{By, Row, Stage, world};

            const ROW: Row = Row { backend: $backend, by: $by };

            #[test]
            fn no_command_gets_out_of_its_sandbox() {
                ROW.check("escape");
            }

            #[test]
            fn commands_reach_the_files_that_they_were_given_and_no_others() {
                ROW.check("fs");
            }

            #[test]
            fn nothing_of_an_overlay_lands_where_it_should_not() {
                ROW.check("overlay");
            }

            #[test]
            fn no_image_reaches_out_of_itself() {
                ROW.check("images");
            }

            #[test]
            fn commands_end_at_their_limits_and_the_host_goes_on_answering() {
                ROW.check("limits");
            }

            #[test]
            fn commands_reach_what_they_may_and_nothing_else() {
                if Row::has_a_world() {
                    world().run(|| ROW.check_network(&Stage::new()));
                }
            }
        }
    )+};
}

rows! {
    no_backend: None, By::Root;
    no_backend_by_nobody: None, By::Nobody;
    process: Some("process"), By::Root;
    process_by_nobody: Some("process"), By::Nobody;
    container: Some("container"), By::Root;
    podman: Some("podman"), By::Root;
    gvisor: Some("gvisor"), By::Root;
    wasm: Some("wasm"), By::Root;
    microvm: Some("microvm"), By::Root;
    remote: Some("remote"), By::Root;
}

fn bailiwick() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_bailiwick"))
}

impl Row {
    /// The backend, where this machine has what the row needs. A server that is needed has these settings.
    fn backing(self, settings: &str) -> Option<Backing> {
        let python = has("python3", Path::new("/usr/bin/python3").exists());
        let is_root = rustix::process::geteuid().is_root();
        let nobody = self.by == By::Root || has("root", is_root && Path::new("/usr/bin/setpriv").exists());
        (python && nobody).then(|| Backing::of(bailiwick(), self.backend, settings)).flatten()
    }

    /// Whether a network can be pretended on this machine.
    fn has_a_world() -> bool {
        has("commands", has_programs()) && has("root", hollow::is_possible())
    }

    /// Cases as this row runs them.
    fn cases(self, area: &str, backing: &Backing, cases: Specs) -> Specs {
        let variables = backing.variables.iter();
        let cases = variables.fold(cases, |cases, (name, value)| cases.variable(name, value));
        let cases = match self.backend {
            None => cases,
            Some(backend) => {
                let hollow = Hollow::read(&specs(""));
                let words = Verdicts::read(&specs(""), backend).words.join("|");
                cases.leaving_out(hollow.of(area)).also(&format!("ALSO = \"{words}\"\n"))
            }
        };
        // A machine that is emulated is an order of magnitude slower; and a kernel in user space is slow with many processes.
        let cases = match self.backend {
            Some("microvm") => cases.patient(5),
            Some("gvisor") => cases.patient(3),
            _ => cases,
        };
        match self.by {
            By::Root => cases,
            By::Nobody => cases.by_nobody(),
        }
    }

    /// Whether git of the cases comes to a server: it runs, and has whom to believe by a mount.
    fn speaks_git(self) -> bool {
        self.backend.is_some_and(|backend| !matches!(backend, "wasm" | "remote"))
    }

    /// What is not as the files say.
    fn surprises(self, area: &str, results: &Results) -> Vec<String> {
        match self.backend {
            None => Hollow::read(&specs("")).surprises(area, results),
            Some(backend) => Verdicts::read(&specs(""), backend).surprises(area, results),
        }
    }

    #[track_caller]
    fn check(self, name: &str) {
        let Some(backing) = self.backing("") else { return };
        let cases = self.cases(name, &backing, area(bailiwick(), name));
        // They take all that they can get, and are measured meanwhile.
        let cases = if name == "limits" { cases.one_at_a_time() } else { cases };
        self.judge(name, &cases);
    }

    #[track_caller]
    fn judge(self, name: &str, cases: &Specs) {
        let results = cases.run();
        let surprises = self.surprises(name, &results);
        let told = surprises.join("\n\n");
        assert!(surprises.is_empty(), "{} of {} cases:\n{told}", surprises.len(), results.len());
        let least = AREAS.iter().find(|(area, _)| *area == name).map_or(0, |(_, least)| *least);
        let hollow = Hollow::read(&specs("")).of(name).count();
        let all = results.len() + if self.backend.is_some() { hollow } else { 0 };
        assert!(all >= least, "only {all} cases were found");
    }

    #[track_caller]
    fn check_network(self, stage: &Stage) {
        let Some(backing) = self.backing(&stage.settings()) else { return };
        self.judge("egress", &self.cases("egress", &backing, stage.cases(bailiwick())));
        assert_eq!(stage.leaks(), [""; 0]);
        if self.speaks_git() {
            assert_eq!(stage.unheard(), [""; 0]);
        }
    }
}
