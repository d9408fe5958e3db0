//! `bailiwick jsrun`: the pure function on stdin. Its shapes are fixed to the byte; it reads no settings, touches no
//! store and leaves no record.

mod batch;
mod request;

use std::io::Read as _;

use bailiwick::{Breadth, Emitted, Runtime};
use bailiwick_types::{ErrorClass, ErrorCode, Failure as Failed};
use serde_json::{Value, json};

use crate::cells::{block_on, builder};
use crate::failure::Failure;
use crate::render::Screen;
use crate::typed;
use request::Request;

/// The longest request.
const LONGEST: u64 = 64 * 1024 * 1024;

/// One answer: what goes out, and what went wrong.
pub(super) struct Answer {
    pub(super) output: Option<String>,
    pub(super) error: Option<(ErrorCode, String)>,
}

/// `bailiwick jsrun [--batch]`
pub(crate) fn jsrun(screen: &mut Screen, what: &typed::Jsrun) -> Result<u8, Failure> {
    if what.batch {
        return batch::batch(screen, what);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes).map_err(Failure::Stdin)?;
    let answer = match Request::read(&bytes) {
        Ok(request) => {
            let answered = block_on(async {
                let runtime = builder(&what.cells, Breadth::Pure, None).build().await?;
                answer(&runtime, request).await
            });
            // A fault of ours has the same shape as any other answer.
            let told = |failure: Failure| Answer {
                output: None,
                error: Some((failure.code(), failure.to_string())),
            };
            answered.unwrap_or_else(told)
        }
        Err(message) => Answer { output: None, error: Some((ErrorCode::InvalidInput, message)) },
    };
    let Answer { output, error } = answer;
    if let Some(output) = output {
        screen.raw(&format!("{}\n", json!({"output": output})));
    }
    let Some((code, message)) = error else { return Ok(0) };
    screen.raw_to_stderr(&format!("{}\n", told(code, &message)));
    Ok(match code.class() {
        ErrorClass::Input => 2,
        ErrorClass::Ours => 5,
        _ => 1,
    })
}

/// An error as one line of JSON.
pub(super) fn told(code: ErrorCode, message: &str) -> Value {
    json!({"code": code, "message": message})
}

/// Runs one request.
pub(super) async fn answer(runtime: &Runtime, request: Request) -> Result<Answer, Failure> {
    let Request { call, wall_ms, output_kb } = request;
    let answer = match runtime.emit(call).await? {
        Emitted::Output(output) => Answer { output: Some(output), error: None },
        Emitted::Cut(output) => Answer {
            output: Some(output),
            error: Some((ErrorCode::OutputLimit, format!("output exceeded {output_kb} KB"))),
        },
        Emitted::Failed(failure) => {
            let Failed { code, message, location, .. } = *failure;
            let error = match code {
                ErrorCode::Timeout => (code, format!("execution exceeded {wall_ms} ms")),
                // Nothing in it can tell these apart for good, and a caller needs one code.
                ErrorCode::SyntaxError
                | ErrorCode::EvalError
                | ErrorCode::MemoryLimit
                | ErrorCode::StackLimit
                | ErrorCode::Validation => {
                    let at = location.map_or_else(String::new, |at| format!(" ({}:{})", at.line, at.column));
                    (ErrorCode::EvalError, format!("{message}{at}"))
                }
                other => (other, message),
            };
            Answer { output: None, error: Some(error) }
        }
    };
    Ok(answer)
}
