//! The tests of a binary that has a `main` of its own: cells are made by starting the program again, so the usual harness
//! cannot be its `main`.

use std::process::ExitCode;

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

/// Runs the tests of all modules, as the usual harness would.
pub fn run_tests(all: &[&[Test]]) -> ExitCode {
    let trials = all.iter().copied().flatten().map(|test| {
        let Test { name, run } = *test;
        let name = name.strip_prefix("it::").unwrap_or(name);
        libtest_mimic::Trial::test(name, move || {
            run();
            Ok(())
        })
    });
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials.collect()).exit_code()
}
