//! What a test that runs again can see, and how it fails; and that nothing is left of fakes that are gone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{run, told};
use crate::authority::Authority;
use crate::client::{connect, exchange, get, get_of};
use crate::dns::{FakeDns, Script};
use crate::proxy::{Proxy, Setup};
use crate::routes::Routes;
use crate::upstream::{Answer, Request, Upstream};

/// Runs a test again, in a process like this one.
#[track_caller]
fn alone(inside: impl FnOnce()) {
    if told().is_some() {
        return inside();
    }
    run(&inside, "alone", plain);
}

#[expect(clippy::disallowed_methods, reason = "the tests' own binary")]
fn plain(program: &Path) -> Command {
    Command::new(program)
}

#[test]
fn a_test_runs_again_and_is_told_why() {
    let first = std::process::id();
    alone(|| {
        assert_eq!(told().as_deref(), Some("alone"));
        assert_eq!(first, std::process::id(), "all of the test runs again, also what comes before");
    });
}

#[test]
fn a_failure_of_the_second_process_is_one_of_the_first() {
    if told().is_some() {
        return alone(|| panic!("on purpose"));
    }
    let failed = catch_unwind(AssertUnwindSafe(|| alone(|| panic!("on purpose"))));
    let message = *failed.expect_err("a failure").downcast::<String>().expect("a text");
    assert!(message.contains("on purpose"), "{message}");
}

/// The closure is of a function that is no test: nothing runs, and nothing passes.
#[test]
fn a_test_that_is_not_found_fails() {
    fn elsewhere() {
        alone(|| {});
    }
    let failed = catch_unwind(elsewhere);
    let message = *failed.expect_err("a failure").downcast::<String>().expect("a text");
    assert!(message.contains("elsewhere") && message.contains("0 passed"), "{message}");
}

fn count(folder: &str) -> usize {
    std::fs::read_dir(folder).expect("the kernel's files").count()
}

/// Threads and descriptors of this process.
fn held() -> (usize, usize) {
    (count("/proc/self/task"), count("/proc/self/fd"))
}

/// Starts one of each, talks to it, leaves a connection open, and drops it.
fn use_fakes() {
    let authority = Authority::new();
    let upstream = Upstream::http(|_: &Request| Answer::echo());
    let sealed = Upstream::http2(|_: &Request| Answer::silent(), &authority.issue(&["upstream.test"]));
    let dns = FakeDns::new(Script::new());
    let proxy = Proxy::start(Setup::new(Routes::new()).authority("upstream.test:80", upstream.address()));
    get(upstream.address(), "/");
    let request = format!("CONNECT upstream.test:80 HTTP/1.1\r\n\r\n{}", get_of("/"));
    exchange(connect(proxy.address()), request.as_bytes()).1.expect("an answer");
    let left_open = [upstream.address(), sealed.address(), dns.address(), proxy.address()].map(connect);
    assert!(upstream.wait_for_connections(3) && sealed.wait_for_connections(1));
    drop((upstream, sealed, dns, proxy));
    drop(left_open);
}

#[test]
fn no_thread_and_no_descriptor_is_left_of_fakes_that_are_gone() {
    alone(|| {
        // The first runtime of a process keeps a pair of descriptors for signals, where that feature is built in.
        drop(tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"));
        let before = held();
        for _ in 0..5 {
            use_fakes();
        }
        // The kernel lists a thread for a moment more after it was waited for.
        let until = Instant::now() + Duration::from_secs(20);
        while held() != before && Instant::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(held(), before);
    });
}
