//! A call that goes on in a task of its own, whatever becomes of the request that began it. Dropping it ends the call.

use rmcp::model::CallToolResult;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::audience::Audience;
use crate::line::{Asked, Said};
use crate::offers::Failed;

/// How a call ended.
pub(crate) type Ended = Result<CallToolResult, Broken>;

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Broken {
    Failed(Failed),
    /// A fault of ours ended it.
    Fault,
}

/// A call that goes on.
#[derive(Debug)]
pub(crate) struct Going {
    said: mpsc::UnboundedReceiver<Said>,
    task: Task,
    /// How it ended, while what it said before is still being passed on.
    ended: Option<Ended>,
}

/// What comes next of a call.
pub(crate) enum Next {
    Asks(Asked),
    Ended(Ended),
}

#[derive(Debug)]
struct Task(JoinHandle<Result<CallToolResult, Failed>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Going {
    pub(crate) fn start(
        tasks: &TaskTracker,
        said: mpsc::UnboundedReceiver<Said>,
        call: impl Future<Output = Result<CallToolResult, Failed>> + Send + 'static,
    ) -> Self {
        Self { said, task: Task(tasks.spawn(call)), ended: None }
    }

    /// Passes on what the call says until it asks something or ends.
    pub(crate) async fn next(&mut self, audience: &Audience) -> Next {
        loop {
            if self.ended.is_some() {
                // What it said before is heard before; whoever asked then is gone with the call.
                while let Ok(said) = self.said.try_recv() {
                    tell(audience, said).await;
                }
                return Next::Ended(self.ended.take().unwrap_or(Err(Broken::Fault)));
            }
            tokio::select! {
                biased;
                Some(said) = self.said.recv() => match said {
                    Said::Asks(asked) => return Next::Asks(asked),
                    said => tell(audience, said).await,
                },
                ended = &mut self.task.0 => {
                    self.ended = Some(match ended {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(failed)) => Err(Broken::Failed(failed)),
                        Err(_) => Err(Broken::Fault),
                    });
                }
            }
        }
    }
}

async fn tell(audience: &Audience, said: Said) {
    match said {
        Said::Log { level, text } => audience.log(level, text).await,
        Said::Progress { done, of, message } => audience.progress(done, of, message).await,
        Said::Asks(_) => {}
    }
}
