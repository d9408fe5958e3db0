//! What a program or a machine's console said in trouble: the last of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::JoinHandle;

/// How much is kept.
const KEPT: usize = 4096;

/// How long it is waited for the last of what somebody said who has ended.
const LAST: Duration = Duration::from_millis(500);

/// The last that was said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    kept: Kept,
    /// Whoever listens goes on when this is dropped: somebody who is not heard would be held up.
    listening: Vec<JoinHandle<()>>,
}

#[derive(Debug, Clone, Default)]
struct Kept(Arc<Mutex<VecDeque<u8>>>);

impl Kept {
    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    async fn listen(self, mut stream: impl AsyncRead + Unpin) {
        let mut room = [0; 1024];
        while let Ok(read @ 1..) = stream.read(&mut room).await {
            self.add(room.get(..read).unwrap_or_default());
        }
    }
}

impl Said {
    /// As text, in one line, without what moves a cursor. What was said before an end is waited for, a moment.
    pub(crate) async fn text(&mut self) -> String {
        let last = async {
            for one in &mut self.listening {
                let _ended = one.await;
            }
            self.listening.clear();
        };
        // Somebody who was started by whoever ended may go on, and is not waited for.
        let _goes_on = tokio::time::timeout(LAST, last).await;
        let kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        let text = String::from_utf8_lossy(&[front, back].concat()).into_owned();
        let text: String =
            text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { "it said nothing".to_owned() } else { text }
    }

    /// Listens to somebody, to the end.
    pub(crate) fn listen(&mut self, stream: impl AsyncRead + Unpin + Send + 'static) {
        self.listening.push(tokio::spawn(self.kept.clone().listen(stream)));
    }
}
