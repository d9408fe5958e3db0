//! An agent that says nothing and is told nothing for a while: so it can be kept as it is, and go on elsewhere or more than once.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use bailiwick_wire::agent::{FromAgent, ToAgent};
use bailiwick_wire::encode;
use tokio::sync::OwnedMutexGuard;

use super::{Greeting, Link, LinkError, Reader, Sending, Shared, hear};

/// An agent that is hushed. Nobody else can tell it anything as long as this is held. When it is dropped, an agent whose stream has
/// ended meanwhile is gone.
pub struct Hushed {
    to: OwnedMutexGuard<Sending>,
    shared: Arc<Shared>,
    reader: Reader,
    /// A number that the agent knows nothing by.
    id: u32,
}

impl std::fmt::Debug for Hushed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hushed").finish_non_exhaustive()
    }
}

impl Link {
    /// Hushes the agent: everything that was said to it it has heard, everything that it said has come, and nobody is within a
    /// message.
    pub async fn hush(&self) -> Result<Hushed, LinkError> {
        let mut to = self.writer.to.clone().lock_owned().await;
        let mut ask = self.open()?;
        let id = ask.id;
        write(&mut to, &ToAgent::Hush { id }).await.map_err(|_| self.why())?;
        match ask.next().await {
            Some(FromAgent::Done { .. }) => {}
            Some(_) => return Err(super::broken("it said something else than that it is hushed")),
            None => return Err(self.why()),
        }
        self.shared.is_kept.store(true, Ordering::SeqCst);
        Ok(Hushed { to, shared: self.shared.clone(), reader: self.reader.clone(), id })
    }
}

impl Hushed {
    /// It goes on, where it is.
    pub async fn go_on(mut self) -> Result<(), LinkError> {
        let said = write(&mut self.to, &ToAgent::Cancel { id: self.id }).await;
        said.map_err(|_| self.shared.why())
    }

    /// Waits until it is heard over another stream: whoever was kept says there that it is hushed.
    pub async fn is_heard_over(&mut self, greeting: &mut Greeting) -> Result<(), LinkError> {
        greeting.say(&ToAgent::Hush { id: self.id }).await?;
        match greeting.next::<FromAgent>().await? {
            FromAgent::Done { id } if id == self.id => Ok(()),
            _ => Err(super::broken("it said something else than that it is hushed")),
        }
    }

    /// It goes on over another stream.
    pub async fn go_on_over(mut self, greeting: Greeting) -> Result<(), LinkError> {
        let Greeting { reader: from, writer: to, decoder } = greeting;
        // Nobody hears two streams: the one before has ended, or what comes of it does not count any more.
        let before = std::mem::replace(&mut *self.reader(), tokio::spawn(async {}));
        before.abort();
        let _ended = before.await;
        self.shared.is_unheard.store(false, Ordering::SeqCst);
        *self.reader() = tokio::spawn(hear(from, decoder, self.shared.clone()));
        *self.to = Sending::new(to);
        self.go_on().await
    }
}

impl Hushed {
    fn reader(&self) -> std::sync::MutexGuard<'_, tokio::task::JoinHandle<()>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write(to: &mut Sending, message: &ToAgent) -> std::io::Result<()> {
    to.send(encode(message).map_err(std::io::Error::other)?).await
}

impl Drop for Hushed {
    fn drop(&mut self) {
        self.shared.is_kept.store(false, Ordering::SeqCst);
        // Whoever heard the end of the stream has not told of it.
        if self.shared.is_unheard.load(Ordering::SeqCst) {
            self.shared.end(LinkError::Ended);
        }
    }
}
