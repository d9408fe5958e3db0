//! What a program or a machine's console said in trouble: the last of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much is kept.
const KEPT: usize = 4096;

/// The last that was said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said(Arc<Mutex<VecDeque<u8>>>);

impl Said {
    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    /// As text, in one line, without what moves a cursor.
    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        let text = String::from_utf8_lossy(&[front, back].concat()).into_owned();
        let text: String =
            text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { "it said nothing".to_owned() } else { text }
    }

    /// Listens to somebody, to the end.
    pub(crate) async fn listen(self, mut stream: impl AsyncRead + Unpin) {
        let mut room = [0; 1024];
        while let Ok(read @ 1..) = stream.read(&mut room).await {
            self.add(room.get(..read).unwrap_or_default());
        }
    }
}
