//! A thread with an event loop of its own, which ends with the value that stands for it.
//!
//! All fakes serve from such a thread: dropping it drops every task and socket in it, and waits until the thread is gone.

use std::future::Future;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

/// Serves until it is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a thread for what `serve` makes of the value that `open` gave inside of the event loop, and gives what
    /// `open` said about it.
    ///
    /// # Panics
    /// When the thread, its event loop or what it serves cannot be set up.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn start<Opened, Said, Opening, Serving>(
        open: impl FnOnce() -> Opening + Send + 'static,
        serve: impl FnOnce(Opened) -> Serving + Send + 'static,
    ) -> (Self, Said)
    where
        Said: Send + 'static,
        Opening: Future<Output = std::io::Result<(Opened, Said)>>,
        Serving: Future<Output = ()>,
    {
        let (end, ended) = oneshot::channel();
        let (say, said) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("fake".to_owned()).spawn(move || {
            let events = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("an event loop for a fake");
            events.block_on(async move {
                match open().await {
                    Err(fault) => drop(say.send(Err(fault))),
                    Ok((opened, about)) => {
                        if say.send(Ok(about)).is_err() {
                            return;
                        }
                        tokio::select! {
                            // Its sender does nothing but go away.
                            _ = ended => {}
                            () = serve(opened) => {}
                        }
                    }
                }
            });
        });
        let thread = thread.expect("a thread for a fake");
        let said = said.recv().expect("the fake says where it is").expect("the fake can listen");
        (Self { end: Some(end), thread: Some(thread) }, said)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been printed; a second one while dropping would abort the test binary.
            let _ = thread.join();
        }
    }
}
