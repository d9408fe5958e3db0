//! What a command says is told whole, as text wherever it is text, and waits for its reader.

use std::time::Duration;

use bailiwick_core::Chunk;
use bailiwick_core::sandboxes::Stream;

use super::{PIECE, PIECES, spoken};

/// What is told of these chunks of standard output, as text or as how many bytes.
#[track_caller]
fn check(chunks: &[&[u8]], told: &[Result<&str, usize>]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let heard = runtime.block_on(async {
        let (talk, mut said) = spoken();
        for chunk in chunks {
            talk.output(Chunk { stream: Stream::Stdout, bytes: chunk.to_vec().into() }).await;
        }
        drop(talk);
        let mut heard = Vec::new();
        while let Some(output) = said.next().await {
            heard.push(output);
        }
        heard
    });
    let heard: Vec<Result<String, usize>> =
        heard.into_iter().map(|output| output.text.clone().ok_or(output.into_bytes().len())).collect();
    let told: Vec<Result<String, usize>> = told.iter().map(|one| one.map(str::to_owned)).collect();
    assert_eq!(heard, told, "{chunks:?}");
}

#[test]
fn text_stays_text_wherever_it_is_cut() {
    check(&[], &[]);
    check(&[b""], &[]);
    check(&[b"a", b"b"], &[Ok("a"), Ok("b")]);
    check(&["aé".as_bytes().split_at(2).0, "aé".as_bytes().split_at(2).1], &[Ok("a"), Ok("é")]);
    let four = "🦀".as_bytes();
    check(&[four.split_at(1).0, four.split_at(1).1], &[Ok("🦀")]);
    check(&[b"a\xff"], &[Err(2)]);
    check(&[b"\xff", b"text"], &[Err(1), Ok("text")]);
    check(&[b"a\xf0\x9f"], &[Ok("a"), Err(2)]);
    check(&[b"\xc3", b"\xc3"], &[Err(2)]);
}

#[tokio::test(start_paused = true)]
async fn whoever_speaks_waits_for_whoever_reads() {
    let (talk, mut said) = spoken();
    let all = PIECE * PIECES * 4;
    let speaking = tokio::spawn(async move {
        talk.output(Chunk { stream: Stream::Stderr, bytes: vec![b'x'; all].into() }).await;
    });
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(!speaking.is_finished());
    assert_eq!(said.pieces.len(), PIECES);
    let mut heard = 0;
    while let Some(output) = said.next().await {
        assert_eq!(output.stream, Stream::Stderr);
        heard += output.into_bytes().len();
    }
    assert_eq!(heard, all);
    speaking.await.unwrap();
}

#[tokio::test]
async fn nobody_speaks_to_whoever_is_gone() {
    let (talk, said) = spoken();
    drop(said);
    talk.output(Chunk { stream: Stream::Stdout, bytes: vec![b'x'; PIECE * PIECES * 4].into() }).await;
}
