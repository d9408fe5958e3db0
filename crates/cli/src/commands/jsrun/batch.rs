//! `jsrun --batch`: one request a line, one answer a line, in order. A few run at the same time; a line that is no
//! request is answered as such and the next one goes on.

use std::collections::VecDeque;
use std::io::{BufRead as _, Read as _};

use bailiwick::{Breadth, Runtime};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Answer, LONGEST, Request, answer, told};
use crate::cells::{block_on, builder};
use crate::failure::Failure;
use crate::render::Screen;
use crate::typed;
use bailiwick_types::ErrorCode;

/// Requests that are under way at the same time.
const AT_ONCE: usize = 4;

/// Answers requests until stdin ends, each as soon as it and all before it are done.
pub(super) fn batch(screen: &mut Screen, what: &typed::Jsrun) -> Result<u8, Failure> {
    let mut lines = lines()?;
    block_on(async {
        let runtime = builder(&what.cells, Breadth::Pure, None).parked(AT_ONCE).build().await?;
        let mut under_way: VecDeque<JoinHandle<Answer>> = VecDeque::new();
        let mut is_open = true;
        while is_open || !under_way.is_empty() {
            let has_room = is_open && under_way.len() < AT_ONCE;
            tokio::select! {
                line = lines.recv(), if has_room => match line {
                    Some(line) => under_way.push_back(tokio::spawn(one(runtime.clone(), line?))),
                    None => is_open = false,
                },
                answer = first(&mut under_way), if !under_way.is_empty() => {
                    under_way.pop_front();
                    tell(screen, answer);
                }
            }
        }
        Ok(0)
    })
}

/// Lines of stdin, read by a thread of their own: a request is answered while the next one is waited for.
fn lines() -> Result<mpsc::Receiver<Result<Vec<u8>, Failure>>, Failure> {
    let (sender, receiver) = mpsc::channel(AT_ONCE);
    let read = move || {
        let mut stdin = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = (&mut stdin).take(LONGEST + 1).read_until(b'\n', &mut line).map_err(Failure::Stdin);
            let next = match read {
                Ok(0) => return,
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => Ok(line),
                Err(failure) => Err(failure),
            };
            // Nobody is left to answer.
            if sender.blocking_send(next).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("requests".to_owned()).spawn(read).map_err(Failure::Tokio)?;
    Ok(receiver)
}

/// One request; whatever happens to it is its own answer and nobody else's.
async fn one(runtime: Runtime, line: Vec<u8>) -> Answer {
    let failed = |code, message| Answer { output: None, error: Some((code, message)) };
    match Request::read(&line) {
        Err(message) => failed(ErrorCode::InvalidInput, message),
        Ok(request) => match answer(&runtime, request).await {
            Ok(answer) => answer,
            Err(failure) => failed(failure.code(), failure.to_string()),
        },
    }
}

/// The answer of the request that came first.
async fn first(under_way: &mut VecDeque<JoinHandle<Answer>>) -> Answer {
    let gone =
        || Answer { output: None, error: Some((ErrorCode::Internal, "the request was lost".to_owned())) };
    match under_way.front_mut() {
        Some(job) => job.await.unwrap_or_else(|_| gone()),
        None => gone(),
    }
}

fn tell(screen: &mut Screen, answer: Answer) {
    let Answer { output, error } = answer;
    let mut line = Map::new();
    if let Some(output) = output {
        line.insert("output".to_owned(), Value::String(output));
    }
    if let Some((code, message)) = error {
        line.insert("error".to_owned(), told(code, &message));
    }
    screen.raw_now(&format!("{}\n", Value::Object(line)));
}
