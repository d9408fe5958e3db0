//! Connections that are carried over the stream to an agent, as streams of their own; and the way out of a sandbox over them, for
//! walls through which no socket can be handed.
//!
//! What an agent says of a connection is bounded by the credit that it was given; what does not fit ends its sandbox. An outlet
//! decides about each connection: here bytes are carried.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::outlet::{NAMES, PROXY};
use bailiwick_sandbox::{Duplex, Outlet, SandboxError};
use bailiwick_wire::agent::{CARRIED_WINDOW, CHUNK, FromAgent, Stream, ToAgent};
use bailiwick_wire::jail::Listens;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::link::{Arrival, Ask, LinkError, Writer};
use crate::{Attended, Link, Parts, Wall};

/// How long a connection about names may stand still.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest message about names.
const LONGEST_QUERY: usize = bailiwick_wire::agent::LONGEST_QUERY;

/// Where an agent has to listen for this outlet.
pub fn listens(outlet: &dyn Outlet) -> Listens {
    Listens { proxy: PROXY, names: NAMES, ports: outlet.ports() }
}

/// Has an agent listen for an outlet, before anything of a guest runs, and serves what comes. The task ends with the sandbox.
pub async fn serve<W: Wall>(attended: &Attended<W>, outlet: Arc<dyn Outlet>) -> Result<(), SandboxError> {
    let arrivals = attended.link.arrivals();
    let ask = attended.ask().await?;
    let id = ask.id;
    attended.done(ask, &ToAgent::Listen { id, listens: listens(outlet.as_ref()) }).await?;
    serve_arrivals(&attended.link, outlet, arrivals);
    Ok(())
}

/// Serves what comes to an agent that listens already. The task ends with the sandbox.
pub fn serve_arrivals(link: &Link, outlet: Arc<dyn Outlet>, arrivals: mpsc::Receiver<Arrival>) {
    tokio::spawn(take(link.writer(), outlet, arrivals));
}

/// Puts a sandbox together and serves its way out, or ends it. The agent of one that was kept listens already.
pub async fn begin<W: Wall>(parts: Parts<W>, is_kept: bool) -> Result<Arc<Attended<W>>, SandboxError> {
    let outlet = parts.outlet.clone();
    let sandbox = Attended::new(parts);
    let served = match outlet {
        Some(outlet) if is_kept => {
            serve_arrivals(&sandbox.link, outlet, sandbox.link.arrivals());
            Ok(())
        }
        Some(outlet) => serve(&sandbox, outlet).await,
        None => Ok(()),
    };
    match served {
        Ok(()) => Ok(sandbox),
        Err(error) => {
            sandbox.end().await;
            Err(error)
        }
    }
}

async fn take(writer: Arc<Writer>, outlet: Arc<dyn Outlet>, mut arrivals: mpsc::Receiver<Arrival>) {
    let mut connections = JoinSet::new();
    while let Some(arrival) = arrivals.recv().await {
        while connections.try_join_next().is_some() {}
        match arrival {
            Arrival::Connection { ask, at } => {
                let (stream, far) = tokio::io::duplex(CARRIED_WINDOW as usize);
                let stream: Box<dyn Duplex> = Box::new(stream);
                connections.spawn(carry(writer.clone(), ask, far));
                if at == PROXY {
                    connections.spawn(outlet.proxied(stream));
                } else if at == NAMES {
                    let outlet = outlet.clone();
                    connections.spawn(async move {
                        if let Err(error) = names(stream, outlet.as_ref()).await {
                            tracing::debug!(%error, "a connection about names broke");
                        }
                    });
                } else {
                    connections.spawn(outlet.direct(stream, at));
                }
            }
            Arrival::Question { id, bytes } => {
                if let Some(bytes) = outlet.answer(&bytes) {
                    // One that is gone needs no answer.
                    let _gone = writer.say(&ToAgent::Answer { id, bytes }).await;
                }
            }
        }
    }
}

/// Answers questions about names that come by a connection.
pub async fn names(mut stream: Box<dyn Duplex>, outlet: &dyn Outlet) -> std::io::Result<()> {
    loop {
        let query = tokio::time::timeout(PATIENCE, async {
            let length = usize::from(stream.read_u16().await?);
            if length > LONGEST_QUERY {
                return Err(std::io::Error::other("a question about names that is none"));
            }
            let mut query = vec![0; length];
            stream.read_exact(&mut query).await?;
            Ok::<_, std::io::Error>(query)
        });
        let query = query.await.map_err(std::io::Error::other)??;
        let Some(answer) = outlet.answer(&query) else { return Ok(()) };
        let length = u16::try_from(answer.len()).map_err(std::io::Error::other)?;
        stream.write_all(&[&length.to_be_bytes(), answer.as_slice()].concat()).await?;
    }
}

/// Connects to a port inside: at the fourth version of the protocol, then at the sixth.
pub async fn connect<W: Wall>(attended: &Attended<W>, port: u16) -> Result<Box<dyn Duplex>, SandboxError> {
    let mut refused = attended.gone();
    for is_six in [false, true] {
        let mut ask = attended.ask().await?;
        attended.say(&ToAgent::Dial { id: ask.id, port, is_six }).await?;
        match attended.answer(&mut ask).await? {
            FromAgent::Joined { .. } => {
                let (ours, theirs) = tokio::io::duplex(CARRIED_WINDOW as usize);
                tokio::spawn(carry(attended.link.writer(), ask, theirs));
                return Ok(Box::new(ours));
            }
            FromAgent::Failed { errno, .. } => {
                refused = SandboxError::Failed {
                    step: format!("connect to the port {port} inside"),
                    reason: std::io::Error::from_raw_os_error(errno).to_string(),
                };
            }
            _ => return Err(attended.broken()),
        }
    }
    Err(refused)
}

/// Carries a connection both ways until it is over.
async fn carry(writer: Arc<Writer>, ask: Ask, stream: DuplexStream) {
    let id = ask.id;
    let (from, to) = tokio::io::split(stream);
    let credit = Semaphore::new(CARRIED_WINDOW as usize);
    let inwards = inwards(&writer, id, from, &credit);
    let outwards = outwards(&writer, ask, to, &credit);
    tokio::pin!(inwards, outwards);
    let ended = tokio::select! {
        ended = &mut outwards => ended,
        said = &mut inwards => match said {
            // What the sandbox says may still come.
            Ok(()) => outwards.await,
            Err(error) => Err(error),
        },
    };
    // What is over needs no end; an agent that is gone hears nothing.
    if ended == Ok(Over::ForUs) {
        let _gone = writer.say(&ToAgent::Part { id }).await;
    }
}

/// Who has no more to do with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// Nobody on this side wants it.
    ForUs,
    /// The agent has let go of it.
    ForAgent,
}

/// What comes from the sandbox.
async fn outwards(
    writer: &Writer,
    mut ask: Ask,
    mut to: WriteHalf<DuplexStream>,
    credit: &Semaphore,
) -> Result<Over, LinkError> {
    let id = ask.id;
    loop {
        match ask.next().await {
            Some(FromAgent::Output { bytes, .. }) => {
                if to.write_all(&bytes).await.is_err() {
                    return Ok(Over::ForUs);
                }
                let bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                writer.say(&ToAgent::Credit { id, stream: Stream::Stdout, bytes }).await?;
            }
            Some(FromAgent::Credit { bytes, .. }) => {
                // More than everything is not believed.
                let missing = (CARRIED_WINDOW as usize).saturating_sub(credit.available_permits());
                credit.add_permits(missing.min(bytes as usize));
            }
            Some(FromAgent::OutputEnd { .. }) => {
                // Whoever reads it may be gone: that is seen when there is something to say.
                let _gone = to.shutdown().await;
            }
            Some(FromAgent::Parted { .. }) | None => return Ok(Over::ForAgent),
            Some(_) => return Ok(Over::ForUs),
        }
    }
}

/// What goes into the sandbox.
async fn inwards(
    writer: &Writer,
    id: u32,
    mut from: ReadHalf<DuplexStream>,
    credit: &Semaphore,
) -> Result<(), LinkError> {
    let mut room = vec![0; CHUNK.min(CARRIED_WINDOW as usize)];
    loop {
        // At least one byte may go; then as many as may.
        let Ok(first) = credit.acquire().await else { return Ok(()) };
        let most = credit.available_permits().saturating_add(1).min(room.len());
        let Ok(read) = from.read(room.get_mut(..most).unwrap_or_default()).await else { return Ok(()) };
        if read == 0 {
            return writer.say(&ToAgent::InputEnd { id }).await;
        }
        first.forget();
        credit.forget_permits(read - 1);
        let bytes = room.get(..read).unwrap_or_default().to_vec();
        writer.say(&ToAgent::Input { id, bytes }).await?;
    }
}

#[cfg(test)]
mod tests;
