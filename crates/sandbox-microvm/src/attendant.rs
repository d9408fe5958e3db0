//! The thread that stands by one machine: it starts QEMU, which dies with it, serves its files, and hears of its end.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Blocking;
use std::process::{Child, ChildStderr, ChildStdout, Command};
use std::sync::{Arc, Mutex};

use bailiwick_agent_host::link::Greeting;
use bailiwick_sys::pidfd;
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use crate::orders::Orders;
use crate::qemu::Ends;
use crate::said::Said;
use crate::served::{Server, serve};

/// A machine that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) greeting: Greeting,
    pub(crate) orders: Orders,
    /// The stream to QEMU, to be begun.
    pub(crate) qmp: UnixStream,
    pub(crate) handle: OwnedFd,
    pub(crate) number: u32,
    pub(crate) server: Arc<Mutex<Server>>,
    /// What QEMU and the machine's console said.
    pub(crate) said: Said,
    /// Comes when QEMU has ended, and was reaped.
    pub(crate) ended: oneshot::Receiver<()>,
}

/// What the thread tells when QEMU runs.
struct Runs {
    handle: OwnedFd,
    number: u32,
    output: Option<ChildStdout>,
    trouble: Option<ChildStderr>,
}

/// Starts a machine, and a thread that stands by it.
pub(crate) async fn start(command: Command, ends: Ends, server: Server) -> Result<Started, String> {
    let text = |error: &dyn std::fmt::Display| format!("QEMU cannot be started: {error}");
    let Ends { agent, files, orders, qmp } = ends;
    let files = Blocking::from(files);
    let server = Arc::new(Mutex::new(server));
    let (tell, told) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    let again = server.clone();
    let stand_by = move || stand_by(command, &files, &again, tell, end);
    std::thread::Builder::new().name("machine".to_owned()).spawn(stand_by).map_err(|error| text(&error))?;
    let runs = told.await.map_err(|error| text(&error))?.map_err(|error| text(&error))?;
    let stream = |end: OwnedFd| {
        let end = Blocking::from(end);
        end.set_nonblocking(true)?;
        UnixStream::from_std(end)
    };
    let (from, to) = stream(agent).map_err(|error| text(&error))?.into_split();
    let said = Said::default();
    if let Some(output) = runs.output {
        let output = tokio::process::ChildStdout::from_std(output).map_err(|error| text(&error))?;
        tokio::spawn(said.clone().listen(output));
    }
    if let Some(trouble) = runs.trouble {
        let trouble = tokio::process::ChildStderr::from_std(trouble).map_err(|error| text(&error))?;
        tokio::spawn(said.clone().listen(trouble));
    }
    Ok(Started {
        greeting: Greeting::new(Box::new(from), Box::new(to)),
        orders: Orders::over(stream(orders).map_err(|error| text(&error))?),
        qmp: stream(qmp).map_err(|error| text(&error))?,
        handle: runs.handle,
        number: runs.number,
        server,
        said,
        ended,
    })
}

fn stand_by(
    mut command: Command,
    files: &Blocking,
    server: &Mutex<Server>,
    tell: oneshot::Sender<std::io::Result<Runs>>,
    end: oneshot::Sender<()>,
) {
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
    if tell.send(Ok(runs)).is_ok()
        && let Err(error) = serve(files, server)
    {
        tracing::debug!(%error, "a machine is served no files any more");
    }
    // One that asked for what cannot be is not served on, and has no way to go on.
    let _ended_already = child.kill();
    if let Err(error) = child.wait() {
        tracing::debug!(%error, "the end of a machine was not heard");
    }
    let _nobody_waits = end.send(());
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
