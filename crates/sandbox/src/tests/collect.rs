//! What is kept of a command's output, how it is fed, and that nobody is left behind who runs for no one.

use std::sync::atomic::Ordering;

use bailiwick_types::{ErrorCode, Tier};
use bytes::Bytes;

use super::fake::Fake;
use crate::{
    Backend, Capped, Chunk, Command, Finished, Sandbox, SandboxError, SandboxSpec, Stream, Taken, run_to_end,
};

async fn sandbox() -> Box<dyn Sandbox> {
    Fake::new("fake", Tier::Process, 1).create(SandboxSpec::default()).await.unwrap()
}

async fn run(command: Command, limit: u64) -> Result<Finished, SandboxError> {
    let running = sandbox().await.spawn(command.clone()).await.unwrap();
    run_to_end(running, &command, limit).await
}

fn command(words: &[&str]) -> Command {
    Command::new(words.iter().copied()).unwrap()
}

#[tokio::test]
async fn the_beginning_of_each_stream_is_kept_and_the_rest_is_read() {
    // Far more than the channel holds: were the rest not read, this would never end.
    let table = [
        (1_000_000, 500, 500_000, 5_000, [false, false]),
        (1500, 500, 1500, 1500, [true, true]),
        (5_000, 500, 5000, 5000, [true, false]),
    ];
    for (limit, times, stdout, stderr, truncated) in table {
        let finished = run(command(&["flood", &times.to_string()]), limit).await.unwrap();
        assert_eq!((finished.stdout.bytes.len(), finished.stderr.bytes.len()), (stdout, stderr), "{limit}");
        assert_eq!([finished.stdout.truncated, finished.stderr.truncated], truncated, "{limit}");
        assert!(finished.stdout.bytes.iter().all(|byte| *byte == b'x'));
        assert!(finished.stderr.bytes.iter().all(|byte| *byte == b'y'));
    }
}

#[tokio::test]
async fn input_of_any_length_is_fed_while_output_is_read() {
    for length in [0, 1, 64 * 1024, 3_000_001] {
        let input: Bytes = (0..length).map(|n: u32| n.to_le_bytes()[0]).collect();
        let finished = run(command(&["cat"]).with_input(input.clone()).unwrap(), 10_000_000).await.unwrap();
        assert_eq!(finished.stdout.bytes, input);
        assert!(!finished.stdout.truncated);
    }
}

#[tokio::test]
async fn a_command_that_reads_nothing_comes_to_its_end() {
    let input = Bytes::from(vec![0; 1_000_000]);
    let finished = run(command(&["echo", "done"]).with_input(input).unwrap(), 100).await.unwrap();
    assert_eq!(finished.stdout.bytes, "done");
}

#[tokio::test]
async fn a_command_whose_end_nobody_tells_is_an_error_and_not_a_wait() {
    assert_eq!(run(command(&["vanish"]), 10).await.unwrap_err().code(), ErrorCode::Internal);
    assert_eq!(run(command(&["break", "x"]), 10).await.unwrap_err().to_string(), "run: x");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_nobody_waits_for_is_ended() {
    let backend = Fake::new("fake", Tier::Process, 1);
    let sandbox = backend.create(SandboxSpec::default()).await.unwrap();
    // It does not read, so its input is full: the word still arrives.
    let command = command(&["hang"]).with_input(Bytes::from(vec![0; 1_000_000])).unwrap();
    let running = sandbox.spawn(command.clone()).await.unwrap();
    let waited =
        tokio::time::timeout(std::time::Duration::from_secs(1), run_to_end(running, &command, 10)).await;
    assert!(waited.is_err());
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
    assert_eq!(backend.world.killed.load(Ordering::SeqCst), 1);
}

#[test]
fn a_cap_tells_once_where_it_cut_each_stream() {
    let chunk = |stream, bytes: &'static [u8]| Chunk { stream, bytes: Bytes::from_static(bytes) };
    let (out, err) = (Stream::Stdout, Stream::Stderr);
    let mut capped = Capped::new(4);
    let table = [
        (chunk(out, b"ab"), Some(chunk(out, b"ab")), false),
        (chunk(err, b"wxyz"), Some(chunk(err, b"wxyz")), false),
        (chunk(out, b""), None, false),
        (chunk(out, b"cde"), Some(chunk(out, b"cd")), true),
        (chunk(out, b"f"), None, false),
        (chunk(err, b"!"), None, true),
        (chunk(err, b"!"), None, false),
    ];
    for (given, kept, cut) in table {
        assert_eq!(capped.take(given.clone()), Taken { chunk: kept, cut }, "{given:?}");
    }
    assert!(capped.is_cut(out) && capped.is_cut(err));
    let mut exact = Capped::new(2);
    assert!(!exact.take(chunk(out, b"ab")).cut);
    assert!(!exact.is_cut(out), "exactly as much as there may be is not cut");
}
