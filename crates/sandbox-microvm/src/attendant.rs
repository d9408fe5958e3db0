//! The thread that stands by one machine: it starts a monitor, which dies with it, opens the doors that the machine comes to, serves its
//! files, and hears of its end.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Blocking;
use std::process::{Child, ChildStderr, ChildStdout, Command};
use std::sync::{Arc, Mutex};

use bailiwick_agent_host::link::Greeting;
use bailiwick_sys::pidfd;
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use crate::doors::Come;
use crate::monitor::Ends;
use crate::orders::Orders;
use crate::said::Said;
use crate::served::{Server, serve};

/// A machine that was started.
#[derive(Debug)]
pub(crate) struct Started {
    /// Comes when there are streams to it.
    pub(crate) streams: oneshot::Receiver<Result<Streams, String>>,
    pub(crate) handle: OwnedFd,
    pub(crate) number: u32,
    pub(crate) server: Arc<Mutex<Server>>,
    /// What its monitor and the machine's console said.
    pub(crate) said: Said,
    /// Comes when its monitor has ended, and was reaped.
    pub(crate) ended: oneshot::Receiver<()>,
}

/// Streams to a machine.
#[derive(Debug)]
pub(crate) struct Streams {
    agent: Blocking,
    orders: Blocking,
    qmp: Option<Blocking>,
}

/// The same, to be talked over.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) greeting: Greeting,
    pub(crate) orders: Orders,
    /// To the monitor itself, to be begun, where it can be talked to.
    pub(crate) qmp: Option<UnixStream>,
}

impl Streams {
    fn talk(self) -> std::io::Result<Talk> {
        let stream = |end: Blocking| {
            end.set_nonblocking(true)?;
            UnixStream::from_std(end)
        };
        let (from, to) = stream(self.agent)?.into_split();
        Ok(Talk {
            greeting: Greeting::new(Box::new(from), Box::new(to)),
            orders: Orders::over(stream(self.orders)?),
            qmp: self.qmp.map(stream).transpose()?,
        })
    }
}

/// Waits for the streams of a machine.
pub(crate) async fn streams(coming: oneshot::Receiver<Result<Streams, String>>) -> Result<Talk, String> {
    match coming.await {
        Ok(streams) => streams?.talk().map_err(|error| error.to_string()),
        Err(_) => Err("nobody stands by it".to_owned()),
    }
}

/// What the thread tells when a monitor runs.
struct Runs {
    handle: OwnedFd,
    number: u32,
    output: Option<ChildStdout>,
    trouble: Option<ChildStderr>,
}

/// Starts a machine, and a thread that stands by it.
pub(crate) async fn start(command: Command, ends: Ends, server: Server) -> Result<Started, String> {
    let text = |error: &dyn std::fmt::Display| format!("it cannot be started: {error}");
    let server = Arc::new(Mutex::new(server));
    let (tell, told) = oneshot::channel();
    let (come, streams) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    let again = server.clone();
    let stand_by = move || stand_by(command, ends, &again, Tells { tell, come, end });
    std::thread::Builder::new().name("machine".to_owned()).spawn(stand_by).map_err(|error| text(&error))?;
    let runs = told.await.map_err(|error| text(&error))?.map_err(|error| text(&error))?;
    let mut said = Said::default();
    if let Some(output) = runs.output {
        said.listen(tokio::process::ChildStdout::from_std(output).map_err(|error| text(&error))?);
    }
    if let Some(trouble) = runs.trouble {
        said.listen(tokio::process::ChildStderr::from_std(trouble).map_err(|error| text(&error))?);
    }
    Ok(Started { streams, handle: runs.handle, number: runs.number, server, said, ended })
}

/// Whom the thread tells what.
struct Tells {
    tell: oneshot::Sender<std::io::Result<Runs>>,
    come: oneshot::Sender<Result<Streams, String>>,
    end: oneshot::Sender<()>,
}

fn stand_by(mut command: Command, ends: Ends, server: &Mutex<Server>, tells: Tells) {
    let Tells { tell, come, end } = tells;
    let started = command.spawn().and_then(look);
    // Its ends of the streams are held by what started it: as long as they are open here, nobody hears of its end.
    drop(command);
    let (mut child, runs) = match started {
        Ok(started) => started,
        Err(error) => {
            let _nobody_waits = tell.send(Err(error));
            return;
        }
    };
    let number = runs.number;
    let handle = runs.handle.try_clone();
    if tell.send(Ok(runs)).is_ok() {
        match handle.and_then(|handle| open(ends, &handle, number)) {
            Ok((streams, files)) => {
                if come.send(Ok(streams)).is_ok()
                    && let Err(error) = serve(&files, server)
                {
                    tracing::debug!(%error, "a machine is served no files any more");
                }
            }
            Err(error) => {
                let _nobody_waits = come.send(Err(error.to_string()));
            }
        }
    }
    // One that asked for what cannot be is not served on, and has no way to go on.
    let _ended_already = child.kill();
    if let Err(error) = child.wait() {
        tracing::debug!(%error, "the end of a machine was not heard");
    }
    let _nobody_waits = end.send(());
}

/// The streams of a machine, and the one over which its kernel asks for files.
fn open(ends: Ends, monitor: &OwnedFd, number: u32) -> std::io::Result<(Streams, Blocking)> {
    Ok(match ends {
        Ends::Held { agent, files, orders, qmp } => {
            let streams = Streams { agent: agent.into(), orders: orders.into(), qmp: Some(qmp.into()) };
            (streams, files.into())
        }
        Ends::Doors(doors) => {
            let Come { agent, files, orders } = doors.wait(monitor, number)?;
            (Streams { agent, orders, qmp: None }, files)
        }
    })
}

fn look(mut child: Child) -> std::io::Result<(Child, Runs)> {
    let number = child.id();
    let handle = match pidfd::of_child(number) {
        Ok(handle) => handle,
        Err(failed) => {
            child.kill()?;
            child.wait()?;
            return Err(std::io::Error::other(failed.to_string()));
        }
    };
    let (output, trouble) = (child.stdout.take(), child.stderr.take());
    Ok((child, Runs { handle, number, output, trouble }))
}
