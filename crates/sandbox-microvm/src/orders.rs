//! Orders to the first process of a machine, one at a time, each with one answer in time.

use std::time::Duration;

use bailiwick_wire::machine::{OBEYED, ORDER, SEED, order};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

/// How long it may take to count.
const COUNTED: Duration = Duration::from_secs(5);
/// How long a kernel may take to start: whoever waits for a machine has a bound of their own.
const UP: Duration = Duration::from_mins(1);
/// How long it may take until every question about files is answered, or until it goes on.
const HUSHED: Duration = Duration::from_secs(30);

/// Who gives orders to one machine. One that did not answer is given none any more.
#[derive(Debug)]
pub(crate) struct Orders(Mutex<Option<UnixStream>>);

impl Orders {
    pub(crate) fn over(stream: UnixStream) -> Self {
        Self(Mutex::new(Some(stream)))
    }

    /// How many processes were killed for want of memory, as its first process says.
    pub(crate) async fn count(&self) -> Option<u64> {
        self.give(order::COUNT, COUNTED).await.ok()
    }

    /// Waits until it is up. Nothing is asked for then, and nothing is under way.
    pub(crate) async fn is_up(&self) -> Result<(), String> {
        self.give(order::HUSH, UP).await.map(|_| ())
    }

    /// Nothing is asked for, and nothing is under way.
    pub(crate) async fn hush(&self) -> Result<(), String> {
        self.give(order::HUSH, HUSHED).await.map(|_| ())
    }

    /// It goes on, with the time of this moment and other random numbers.
    pub(crate) async fn go_on(&self) -> Result<(), String> {
        self.give(order::GO_ON, HUSHED).await.map(|_| ())
    }

    async fn give(&self, kind: u8, within: Duration) -> Result<u64, String> {
        let mut message = [0; ORDER];
        let now = u64::try_from(bailiwick_sys::clock::realtime().as_nanos()).unwrap_or(0);
        let mut seed = [0; SEED];
        bailiwick_sys::clock::random(&mut seed).map_err(|errno| errno.to_string())?;
        for (place, byte) in message.iter_mut().zip([kind].into_iter().chain(now.to_le_bytes()).chain(seed)) {
            *place = byte;
        }
        let mut held = self.0.lock().await;
        // Taken out until it has answered: whoever gives up in the middle leaves a stream that nobody understands.
        let mut stream = held.take().ok_or("its first process did not answer before")?;
        let talk = async {
            stream.write_all(&message).await?;
            let mut answer = [0; OBEYED];
            stream.read_exact(&mut answer).await?;
            Ok::<_, std::io::Error>(u64::from_le_bytes(answer))
        };
        match tokio::time::timeout(within, talk).await {
            Ok(Ok(value)) => {
                *held = Some(stream);
                Ok(value)
            }
            Ok(Err(error)) => Err(format!("its first process is gone: {error}")),
            Err(_) => Err(format!("its first process did not answer within {within:?}")),
        }
    }
}
