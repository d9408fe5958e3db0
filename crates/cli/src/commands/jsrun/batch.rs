//! `jsrun --batch`: one request a line, one answer a line, in order. A few run at the same time; a line that is no
//! request is answered as such and the next one goes on.

use std::collections::VecDeque;
use std::io::{BufRead as _, Read as _};

use bailiwick::Breadth;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;

use super::{Answer, LONGEST, Request, answer, told};
use crate::cells::{block_on, builder};
use crate::failure::Failure;
use crate::render::Screen;
use crate::typed;
use bailiwick_types::ErrorCode;

/// Requests that are under way at the same time.
const AT_ONCE: usize = 4;

/// Reads requests until stdin ends.
pub(super) fn batch(screen: &mut Screen, what: &typed::Jsrun) -> Result<u8, Failure> {
    block_on(async {
        let runtime = builder(&what.cells, Breadth::Pure, None).parked(AT_ONCE).build().await?;
        let mut under_way: VecDeque<JoinHandle<Result<Answer, Failure>>> = VecDeque::new();
        let mut stdin = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let length =
                (&mut stdin).take(LONGEST + 1).read_until(b'\n', &mut line).map_err(Failure::Stdin)?;
            if length == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if under_way.len() >= AT_ONCE
                && let Some(first) = under_way.pop_front()
            {
                tell(screen, first).await?;
            }
            let runtime = runtime.clone();
            under_way.push_back(tokio::spawn(async move {
                match Request::read(&line) {
                    Ok(request) => answer(&runtime, request).await,
                    Err(message) => {
                        Ok(Answer { output: None, error: Some((ErrorCode::InvalidInput, message)) })
                    }
                }
            }));
        }
        while let Some(first) = under_way.pop_front() {
            tell(screen, first).await?;
        }
        Ok(0)
    })
}

async fn tell(screen: &mut Screen, job: JoinHandle<Result<Answer, Failure>>) -> Result<(), Failure> {
    let answer = job.await.map_err(|error| Failure::Tokio(std::io::Error::other(error)))??;
    let Answer { output, error } = answer;
    let mut line = Map::new();
    if let Some(output) = output {
        line.insert("output".to_owned(), Value::String(output));
    }
    if let Some((code, message)) = error {
        line.insert("error".to_owned(), told(code, &message));
    }
    screen.raw_now(&format!("{}\n", Value::Object(line)));
    Ok(())
}
