//! A program that forgot the line at the top of `main`, and one that calls from where no tokio is: both are told so.

use std::pin::pin;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use bailiwick::{Runtime, StartError};

use crate::alone::{program, succeeds};
use crate::processes;
use crate::stage::block_on;

bailiwick_testkit::tests!(
    a_program_without_enter_is_told_so_and_starts_no_process,
    outside_a_tokio_runtime_the_answer_is_an_error,
    a_tokio_runtime_without_its_drivers_is_an_error,
);

/// The argument that asks this binary to leave out the line.
const WITHOUT: &str = "--without-enter";

/// Whether this process is to be the program that forgot the line.
pub(crate) fn is_asked_for() -> bool {
    std::env::args().nth(1).is_some_and(|first| first == WITHOUT)
}

/// That program.
pub(crate) fn role() -> ExitCode {
    block_on(async {
        let error = Runtime::builder().build().await.expect_err("it was not entered");
        assert_eq!(error, StartError::NotEntered);
        assert!(
            error.to_string().contains("enter()") && error.hint().contains("first line of `main`"),
            "{error}"
        );
        assert_eq!(processes::nurseries(), [], "a process was started");
    });
    ExitCode::SUCCESS
}

fn a_program_without_enter_is_told_so_and_starts_no_process() {
    succeeds(std::process::Command::new(program()).arg(WITHOUT));
}

fn outside_a_tokio_runtime_the_answer_is_an_error() {
    let mut building = pin!(Runtime::builder().build());
    match building.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Err(error)) => {
            assert_eq!(error, StartError::NoRuntime);
            assert!(error.to_string().contains("tokio"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

fn a_tokio_runtime_without_its_drivers_is_an_error() {
    let tokio = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let error = tokio.block_on(Runtime::builder().build()).expect_err("there are no drivers");
    assert_eq!(error, StartError::NoRuntime);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    let error = tokio.block_on(Runtime::builder().build()).expect_err("there is no clock");
    assert_eq!(error, StartError::NoRuntime);
}
