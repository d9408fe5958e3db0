//! A command in a sandbox, from its start to its end: its streams, its deadline, and what it used.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_sandbox::{
    Capped, Captured, Chunk, Command, Ended, ExecUsage, Exit, Finished, Input, Running, SandboxError, Stream,
};
use bailiwick_sys::Step as System;
use bailiwick_types::{Denial, ErrorCode};
use bailiwick_wire::agent::{self, CHUNK, FromAgent, Start, ToAgent, WINDOW};
use bytes::{Bytes, BytesMut};
use tokio::sync::{mpsc, oneshot};

use crate::link::Ask;
use crate::{Attended, Wall};

/// How long a command that was killed may take to be seen dead; then its sandbox goes with it.
const LAST: Duration = Duration::from_secs(2);
/// How many pieces of output wait for whoever reads them.
const PIECES: usize = 4;

const ENOENT: i32 = 2;
const EAGAIN: i32 = 11;
const SIGKILL: i32 = 9;

/// Microseconds as milliseconds.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a command's life fit")]
pub(crate) fn milliseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1000.0
}

/// All variables of a command: the usual ones, the image's, those of its way out, the sandbox's, and its own; later ones win.
fn variables<W: Wall>(inner: &Attended<W>, command: &Command) -> Vec<(String, String)> {
    let mut env = inner.places.variables();
    let image = inner.variables.iter().cloned();
    let outlet = inner.outlet.iter().flat_map(|outlet| outlet.variables());
    let given = inner.spec.env.iter().chain(&command.env).map(|(name, value)| (name.clone(), value.clone()));
    for (name, value) in image.chain(outlet).chain(given) {
        env.retain(|(known, _)| *known != name);
        env.push((name, value));
    }
    env
}

/// A command that runs.
struct Drive<'a, W: Wall> {
    inner: &'a Attended<W>,
    ask: Ask,
    /// When it is killed; after that, when its sandbox is.
    deadline: tokio::time::Instant,
    /// For how long the sandbox had stood still when that was set.
    still: Duration,
    /// Whether its agent has nothing more to say of it.
    is_over: bool,
    timed_out: bool,
    killed: bool,
    began: Instant,
    kills: Option<u64>,
    cpu_us: Option<u64>,
    /// How often something was refused to the sandbox before.
    refused: u64,
    /// How much input the agent takes now.
    credit: usize,
}

/// Something about a command.
enum Step {
    Output(Chunk),
    /// There is room for input again.
    Room,
    /// Its deadline has come.
    Late,
    Over(Over),
}

/// How a command is over, as it was heard: what it has used is asked for later, by whoever is not interrupted then.
enum Over {
    Ended(agent::Ended),
    NotStarted {
        step: String,
        errno: i32,
    },
    /// The agent said something that does not belong there.
    Broken,
    /// The sandbox ended under it.
    Lost,
}

impl<'a, W: Wall> Drive<'a, W> {
    async fn start(inner: &'a Attended<W>, command: &Command) -> Result<Self, SandboxError> {
        command.check()?;
        let ask = inner.ask().await?;
        let before = inner.wall.account().await;
        inner.wall.forget_peak();
        let cwd = command.cwd.as_ref().unwrap_or(&inner.spec.workdir);
        let env = variables(inner, command);
        let terminal =
            command.terminal.map(|window| agent::Window { rows: window.rows, columns: window.columns });
        let start = Start {
            argv: command.argv().to_vec(),
            env,
            cwd: inner.places.found(cwd),
            has_input: command.piped || !command.input.is_empty() || terminal.is_some(),
            terminal,
        };
        let timeout = command.deadline(inner.spec.limits.timeout.value);
        let began = Instant::now();
        let message = ToAgent::Start { id: ask.id, start: Box::new(start) };
        let mut drive = Self {
            inner,
            ask,
            deadline: tokio::time::Instant::now() + timeout,
            still: inner.stillness.so_far(),
            is_over: false,
            timed_out: false,
            killed: false,
            began,
            kills: before.kills,
            cpu_us: before.cpu_us,
            refused: inner.outlet.as_ref().map_or(0, |outlet| outlet.refused()),
            credit: WINDOW as usize,
        };
        // One that is gone is heard of by its end.
        let _gone = drive.say(&message).await;
        Ok(drive)
    }

    /// Says something to the agent, which has to take it before the deadline: a guest may have made it stand still. What was
    /// said in part cannot be taken back, so its sandbox is ended then.
    async fn say(&mut self, message: &ToAgent) -> Result<(), SandboxError> {
        tokio::select! {
            biased;
            said = self.inner.tell(message) => return said,
            () = self.inner.stillness.past(self.deadline, self.still) => {}
        }
        self.timed_out = true;
        self.killed = true;
        self.inner.cut();
        Err(self.inner.gone())
    }

    /// Waits for the next thing about it. Whoever stops waiting loses nothing: nothing is awaited once something was heard.
    async fn next(&mut self) -> Step {
        let answer = tokio::select! {
            biased;
            answer = self.ask.next() => answer,
            () = self.inner.stillness.past(self.deadline, self.still) => return Step::Late,
        };
        let over = match answer {
            Some(FromAgent::Output { stream, bytes, .. }) => {
                let stream = match stream {
                    agent::Stream::Stdout => Stream::Stdout,
                    agent::Stream::Stderr => Stream::Stderr,
                };
                return Step::Output(Chunk { stream, bytes: bytes.into() });
            }
            Some(FromAgent::Credit { bytes, .. }) => {
                // More than everything is not believed.
                self.credit = self.credit.saturating_add(bytes as usize).min(WINDOW as usize);
                return Step::Room;
            }
            Some(FromAgent::Ended { ended, .. }) => Over::Ended(ended),
            Some(FromAgent::NotStarted { step, errno, .. }) => Over::NotStarted { step, errno },
            Some(_) => Over::Broken,
            None => Over::Lost,
        };
        self.is_over = true;
        Step::Over(over)
    }

    /// How it ended, with what it used.
    async fn told(&self, over: Over) -> Result<Ended, SandboxError> {
        match over {
            Over::Ended(ended) => Ok(self.ended(ended).await),
            Over::NotStarted { step, errno } => self.not_started(&step, errno).await,
            Over::Broken => Err(self.inner.broken()),
            Over::Lost => self.lost().await,
        }
    }

    /// The deadline has come: the command goes, and if that does not end it, its sandbox.
    async fn late(&mut self) {
        if self.killed {
            self.inner.cut();
            self.wait_on();
            return;
        }
        self.timed_out = true;
        self.kill().await;
    }

    /// Sets the last deadline.
    fn wait_on(&mut self) {
        self.deadline = tokio::time::Instant::now() + LAST;
        self.still = self.inner.stillness.so_far();
    }

    async fn kill(&mut self) {
        self.killed = true;
        self.wait_on();
        // One that is gone already is dead.
        let _gone = self.say(&ToAgent::Kill { id: self.ask.id }).await;
    }

    /// So much of a stream was taken.
    async fn took(&mut self, stream: Stream, bytes: usize) {
        let stream = match stream {
            Stream::Stdout => agent::Stream::Stdout,
            Stream::Stderr => agent::Stream::Stderr,
        };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        // One that is gone is heard of by its end.
        let _gone = self.say(&ToAgent::Credit { id: self.ask.id, stream, bytes }).await;
    }

    /// Hands over as much input as there is credit for; gives what is left.
    async fn put(&mut self, mut input: Bytes) -> Bytes {
        while !input.is_empty() && self.credit > 0 {
            let bytes = input.split_to(input.len().min(self.credit).min(CHUNK));
            self.credit -= bytes.len();
            if self.say(&ToAgent::Input { id: self.ask.id, bytes: bytes.to_vec() }).await.is_err() {
                return Bytes::new();
            }
        }
        input
    }

    async fn end_input(&mut self) {
        let _gone = self.say(&ToAgent::InputEnd { id: self.ask.id }).await;
    }

    async fn usage(&self, told: Option<&agent::Ended>) -> (ExecUsage, bool) {
        let now = self.inner.wall.account().await;
        let counted = now.cpu_us.zip(self.cpu_us).map(|(now, before)| now.saturating_sub(before));
        let told_peak = told.map_or(0, |told| told.memory_peak);
        let usage = ExecUsage {
            wall_ms: self.began.elapsed().as_secs_f64() * 1000.0,
            cpu_ms: milliseconds(counted.or(told.map(|told| told.cpu_us)).unwrap_or(0)),
            memory_peak: now.memory_peak.unwrap_or(told_peak),
            processes: told.map_or(1, |told| u64::from(told.processes)),
        };
        (usage, now.kills > self.kills)
    }

    /// What was refused to the sandbox since it began.
    fn denials(&self) -> Vec<Denial> {
        self.inner.outlet.as_ref().map_or_else(Vec::new, |outlet| outlet.denials(self.refused))
    }

    async fn ended(&self, told: agent::Ended) -> Ended {
        let (usage, oom) = self.usage(Some(&told)).await;
        let exit = match (told.code, told.signal) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(SIGKILL)),
        };
        Ended { exit, timed_out: self.timed_out, oom, usage, denials: self.denials() }
    }

    async fn not_started(&self, step: &str, errno: i32) -> Result<Ended, SandboxError> {
        let system = std::io::Error::from_raw_os_error(errno);
        let exit = match (step, errno) {
            (step, ENOENT) if step == System::Execute.says() => Exit::NotFound,
            (step, _) if step == System::Execute.says() => Exit::NotExecutable,
            (step, _) if step == System::EnterFolder.says() => {
                let code = if errno == ENOENT { ErrorCode::NotFound } else { ErrorCode::FsFailed };
                return Err(SandboxError::File {
                    path: "the folder where the command begins".to_owned(),
                    why: system.to_string(),
                    code,
                });
            }
            (_, EAGAIN) => {
                let most = self.inner.spec.limits.processes.value;
                return Err(SandboxError::Busy(format!(
                    "the sandbox has as many processes as it may have ({most}), so no other can be started"
                )));
            }
            _ => return Err(SandboxError::Failed { step: step.to_owned(), reason: system.to_string() }),
        };
        let (usage, oom) = self.usage(None).await;
        Ok(Ended { exit, timed_out: self.timed_out, oom, usage, denials: self.denials() })
    }

    /// The sandbox ended under the command: for want of memory, by its deadline, or because somebody ended it.
    async fn lost(&self) -> Result<Ended, SandboxError> {
        let (usage, oom) = self.usage(None).await;
        if oom || self.timed_out {
            let exit = Exit::Signal(SIGKILL);
            return Ok(Ended { exit, timed_out: self.timed_out, oom, usage, denials: self.denials() });
        }
        Err(self.inner.gone())
    }
}

impl<W: Wall> Drop for Drive<'_, W> {
    /// A command that nobody waits for any more has no deadline either, so it ends now.
    fn drop(&mut self) {
        if !self.is_over {
            self.inner.tell_later(ToAgent::Kill { id: self.ask.id });
        }
    }
}

/// Runs a command to its end. Where nobody waits any more, it is ended.
pub(crate) async fn run<W: Wall>(inner: &Attended<W>, command: Command) -> Result<Finished, SandboxError> {
    let mut drive = Drive::start(inner, &command).await?;
    let has_input = !command.input.is_empty();
    let mut input = drive.put(command.input).await;
    let mut is_ended = input.is_empty();
    if has_input && is_ended {
        drive.end_input().await;
    }
    let mut capped = Capped::new(inner.spec.limits.output.value);
    let (mut stdout, mut stderr) = (BytesMut::new(), BytesMut::new());
    let ended = loop {
        match drive.next().await {
            Step::Output(chunk) => {
                let (stream, length) = (chunk.stream, chunk.bytes.len());
                if let Some(chunk) = capped.take(chunk).chunk {
                    match stream {
                        Stream::Stdout => stdout.extend_from_slice(&chunk.bytes),
                        Stream::Stderr => stderr.extend_from_slice(&chunk.bytes),
                    }
                }
                drive.took(stream, length).await;
            }
            Step::Room => {
                input = drive.put(input).await;
                if input.is_empty() && !is_ended {
                    is_ended = true;
                    drive.end_input().await;
                }
            }
            Step::Late => drive.late().await,
            Step::Over(over) => break drive.told(over).await?,
        }
    };
    let captured =
        |bytes: BytesMut, stream| Captured { bytes: bytes.freeze(), truncated: capped.is_cut(stream) };
    Ok(Finished { ended, stdout: captured(stdout, Stream::Stdout), stderr: captured(stderr, Stream::Stderr) })
}

/// Starts a command and gives its streams.
pub(crate) fn spawn<W: Wall>(inner: Arc<Attended<W>>, command: Command) -> Result<Running, SandboxError> {
    let (input, inputs) = mpsc::channel(PIECES);
    let (urgent, urgents) = mpsc::channel(PIECES);
    let (outputs, output) = mpsc::channel(PIECES);
    let (ends, ended) = oneshot::channel();
    // What is wrong with the command is told at once.
    command.check()?;
    tokio::spawn(async move {
        let told = carry(&inner, &command, inputs, urgents, outputs).await;
        // Whoever started it may be gone.
        let _nobody = ends.send(told);
    });
    Ok(Running { input, urgent, output, ended })
}

/// Carries the streams of a command until it has ended.
async fn carry<W: Wall>(
    inner: &Attended<W>,
    command: &Command,
    mut inputs: mpsc::Receiver<Input>,
    mut urgents: mpsc::Receiver<Input>,
    outputs: mpsc::Sender<Chunk>,
) -> Result<Ended, SandboxError> {
    let mut drive = Drive::start(inner, command).await?;
    let mut rest = Bytes::new();
    let (mut is_open, mut is_urgent, mut has_reader) = (true, true, true);
    // Output that its reader has no room for yet: until it has, no more is asked for.
    let mut waiting: std::collections::VecDeque<Chunk> = std::collections::VecDeque::new();
    loop {
        tokio::select! {
            biased;
            said = urgents.recv(), if is_urgent => match said {
                Some(said) => tell(&mut drive, said, &mut rest).await,
                None => is_urgent = false,
            },
            room = outputs.reserve(), if has_reader && !waiting.is_empty() => {
                if let Ok(room) = room
                    && let Some(chunk) = waiting.pop_front()
                {
                    let (stream, length) = (chunk.stream, chunk.bytes.len());
                    room.send(chunk);
                    drive.took(stream, length).await;
                } else {
                    // Nobody reads any more: the command goes on as if somebody did.
                    has_reader = false;
                    for chunk in std::mem::take(&mut waiting) {
                        drive.took(chunk.stream, chunk.bytes.len()).await;
                    }
                }
            },
            step = drive.next() => match step {
                Step::Output(chunk) if has_reader => waiting.push_back(chunk),
                // Nobody reads: the command goes on as if somebody did.
                Step::Output(chunk) => drive.took(chunk.stream, chunk.bytes.len()).await,
                Step::Room => rest = drive.put(std::mem::take(&mut rest)).await,
                Step::Late => drive.late().await,
                Step::Over(over) => {
                    let ended = drive.told(over).await;
                    for chunk in waiting {
                        if outputs.send(chunk).await.is_err() {
                            break;
                        }
                    }
                    return ended;
                }
            },
            said = inputs.recv(), if is_open && rest.is_empty() => {
                if let Some(said) = said {
                    tell(&mut drive, said, &mut rest).await;
                } else {
                    // Whoever had something to say is gone: there is no more input.
                    is_open = false;
                    drive.end_input().await;
                }
            },
        }
    }
}

async fn tell<W: Wall>(drive: &mut Drive<'_, W>, said: Input, rest: &mut Bytes) {
    let id = drive.ask.id;
    let message = match said {
        Input::Bytes(bytes) => {
            *rest = drive.put(bytes).await;
            return;
        }
        Input::End => return drive.end_input().await,
        Input::Kill => return drive.kill().await,
        Input::Resize(window) => {
            let window = agent::Window { rows: window.rows, columns: window.columns };
            ToAgent::Resize { id, window }
        }
        Input::Signal(signal) => ToAgent::Signal { id, signal },
    };
    // One that is gone is heard of by its end.
    let _gone = drive.say(&message).await;
}
