//! The tests of a binary that has a `main` of its own: cells are made by starting the program again, so the usual harness
//! cannot be its `main`.

use std::process::ExitCode;

pub use libtest_mimic::Trial;

/// One test.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    /// Its module and a sentence.
    pub name: &'static str,
    /// Panics when it fails.
    pub run: fn(),
}

/// Names the tests of a module by their functions, as its `TESTS`.
#[macro_export]
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        /// The tests of this module.
        pub(crate) const TESTS: &[$crate::Test] =
            &[$($crate::Test { name: concat!(module_path!(), "::", stringify!($test)), run: $test }),+];
    };
}

/// A test that is made while the program runs, such as that of a suite for one of its subjects. It panics when it fails.
pub fn trial(name: impl Into<String>, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

/// Runs the tests of all modules, as the usual harness would.
pub fn run_tests(all: &[&[Test]]) -> ExitCode {
    run_tests_and(all, Vec::new())
}

/// Runs the tests of all modules, and these.
pub fn run_tests_and(all: &[&[Test]], mut trials: Vec<Trial>) -> ExitCode {
    trials.extend(all.iter().copied().flatten().map(|test| {
        let Test { name, run } = *test;
        trial(name.strip_prefix("it::").unwrap_or(name), run)
    }));
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code()
}
