//! The engine: where its socket is, whether it answers, and every request to it with a deadline.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_sandbox::SandboxError;
use bailiwick_sys::privileges;
use bollard::errors::Error;
use bollard::{ClientVersion, Docker};

use crate::ID;

/// How long an engine may take to take a connection.
const CONNECT: Duration = Duration::from_secs(1);
/// How long it may take to say that it is there, and what it is: Podman starts programs to find that out, on a machine that may be busy.
const PING: Duration = Duration::from_secs(7);
/// How long it may take for anything else.
const PATIENCE: Duration = Duration::from_secs(30);
/// Versions of the interface that are tried, newest first: an engine refuses those that it does not know, and those that it has
/// forgotten.
const VERSIONS: [usize; 5] = [47, 44, 43, 41, 40];

/// Which engine it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Docker,
    Podman,
}

/// An engine that was seen to answer.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) docker: Docker,
    pub(crate) kind: Kind,
    /// What it calls itself.
    pub(crate) version: String,
    pub(crate) socket: PathBuf,
    /// Whether it sees what is mounted here: it runs in the same mount namespace.
    pub(crate) sees_our_mounts: bool,
    /// Why the runtime that it is told to use started nothing, and when.
    unusable: Mutex<Option<(SandboxError, Instant)>>,
}

/// For how long a runtime that started nothing is not tried again: Docker leaves what a start that failed has made of gVisor's, so
/// each try has its price.
const REMEMBERED: Duration = Duration::from_mins(1);

/// A request that came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    /// The engine said no.
    #[error("{step}: {message}")]
    Refused { step: String, status: u16, message: String },
    /// The engine did not answer.
    #[error("the engine did not answer: {step}: {why}")]
    Gone { step: String, why: String },
}

/// Why there is no engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoEngine {
    pub(crate) reason: String,
    pub(crate) fix: String,
}

impl From<NoEngine> for SandboxError {
    fn from(NoEngine { reason, fix }: NoEngine) -> Self {
        Self::Unavailable { backend: ID.to_owned(), reason, fix: Some(fix) }
    }
}

impl From<EngineError> for SandboxError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Refused { step, message, .. } => Self::Failed { step, reason: message },
            EngineError::Gone { .. } => Self::Unavailable {
                backend: ID.to_owned(),
                reason: error.to_string(),
                fix: Some("look whether it runs, and start it again".to_owned()),
            },
        }
    }
}

impl EngineError {
    pub(crate) fn of(step: &str, error: &Error) -> Self {
        let step = step.to_owned();
        match error {
            Error::DockerResponseServerError { status_code, message } => {
                Self::Refused { step, status: *status_code, message: message.clone() }
            }
            Error::DockerStreamError { error } => Self::Refused { step, status: 500, message: error.clone() },
            Error::RequestTimeoutError => Self::Gone { step, why: "its time was up".to_owned() },
            other => Self::Gone { step, why: deepest(other) },
        }
    }

    /// Whether what was asked about is not there.
    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}

/// The innermost of what went wrong: the outer ones only say that something did.
fn deepest(error: &Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Where engines listen, if the operator names no socket: Docker first, then what needs no root.
pub(crate) fn usual_places() -> Vec<PathBuf> {
    let user = privileges::identity().0;
    let own = PathBuf::from(format!("/run/user/{user}"));
    let mut places = vec![PathBuf::from("/var/run/docker.sock")];
    if user != 0 {
        places.extend([own.join("docker.sock"), own.join("podman/podman.sock")]);
    }
    places.push(PathBuf::from("/run/podman/podman.sock"));
    places
}

/// Connects to the first engine that answers.
pub(crate) async fn find(named: Option<&Path>) -> Result<Engine, NoEngine> {
    let places = named.map_or_else(usual_places, |named| vec![named.to_owned()]);
    let mut found = None;
    for place in &places {
        match Engine::connect(place).await {
            Ok(engine) => return Ok(engine),
            // One that is there and does not answer says more than one that is not there.
            Err(Some(why)) => found = found.or(Some(why)),
            Err(None) => {}
        }
    }
    Err(found.unwrap_or_else(|| {
        let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        NoEngine {
            reason: format!("no engine is there: nothing is at {}", looked.join(", ")),
            fix: "install Docker or Podman and start it (`systemctl start docker`, `systemctl start podman.socket`), \
                  or name its socket in sandbox.container.socket"
                .to_owned(),
        }
    }))
}

/// Whether the process that listens at the other end is in our mount namespace. One that cannot be looked at is not.
fn is_in_our_mount_namespace(stream: &tokio::net::UnixStream) -> bool {
    let of = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let engine = stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(|pid| of(&pid.to_string()));
    engine.is_some() && engine == of("self")
}

impl Engine {
    /// Connects; nothing is told where nothing is there.
    async fn connect(socket: &Path) -> Result<Self, Option<NoEngine>> {
        if std::fs::symlink_metadata(socket).is_err() {
            return Err(None);
        }
        let at = socket.display();
        let refused = |reason: String, fix: &str| Some(NoEngine { reason, fix: fix.to_owned() });
        let sees_our_mounts = match tokio::time::timeout(CONNECT, tokio::net::UnixStream::connect(socket))
            .await
        {
            Ok(Ok(stream)) => is_in_our_mount_namespace(&stream),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(refused(
                    format!("this user may not talk to the engine at {at}"),
                    "add this user to the group of the socket (`usermod -aG docker USER`; whoever is in it is as good as \
                     root here), or run an engine without root: `systemctl --user start podman.socket`",
                ));
            }
            Ok(Err(error)) => {
                return Err(refused(
                    format!("the engine at {at} does not answer: {error}"),
                    "start it: `systemctl start docker`, or `systemctl start podman.socket`",
                ));
            }
            Err(_) => {
                return Err(refused(format!("the engine at {at} takes no connection"), "start it again"));
            }
        };
        Self::negotiate(socket, sees_our_mounts).await.map_err(|why| {
            refused(
                format!("what is at {at} does not answer as an engine: {why}"),
                "look whether it runs: `docker version`, `podman version`",
            )
        })
    }

    async fn negotiate(socket: &Path, sees_our_mounts: bool) -> Result<Self, String> {
        let text = socket.to_str().ok_or("the path of its socket is not UTF-8")?;
        let mut why = String::new();
        for minor in VERSIONS {
            let version = ClientVersion { major_version: 1, minor_version: minor };
            let docker = Docker::connect_with_unix(text, PATIENCE.as_secs(), &version)
                .map_err(|error| error.to_string())?;
            match tokio::time::timeout(PING, docker.version()).await {
                Ok(Ok(told)) => {
                    let components = told.components.unwrap_or_default();
                    let is_podman = components.iter().any(|one| one.name.contains("Podman"));
                    let kind = if is_podman { Kind::Podman } else { Kind::Docker };
                    let name = if is_podman { "Podman" } else { "Docker" };
                    let version = format!("{name} {}", told.version.unwrap_or_default());
                    let (socket, unusable) = (socket.to_owned(), Mutex::default());
                    return Ok(Self { docker, kind, version, socket, sees_our_mounts, unusable });
                }
                Ok(Err(error)) => {
                    let error = EngineError::of("ask for its version", &error);
                    why = error.to_string();
                    if !matches!(error, EngineError::Refused { .. }) {
                        break;
                    }
                }
                Err(_) => return Err("its time was up".to_owned()),
            }
        }
        Err(why)
    }

    /// Why its runtime started nothing a moment ago.
    pub(crate) fn unusable(&self) -> Option<SandboxError> {
        let known = self.unusable.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(_, when)| when.elapsed() < REMEMBERED).map(|(why, _)| why.clone())
    }

    /// Its runtime started nothing.
    pub(crate) fn is_unusable(&self, why: &SandboxError) {
        *self.unusable.lock().unwrap_or_else(PoisonError::into_inner) = Some((why.clone(), Instant::now()));
    }

    /// Waits for an answer, and not for ever.
    pub(crate) async fn ask<T>(
        &self,
        step: &str,
        asking: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, EngineError> {
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(answer) => answer.map_err(|error| EngineError::of(step, &error)),
            Err(_) => Err(EngineError::Gone { step: step.to_owned(), why: "its time was up".to_owned() }),
        }
    }

    /// Why it does not answer any more, if it does not.
    pub(crate) async fn silence(&self) -> Option<String> {
        let why = match tokio::time::timeout(PING, self.docker.ping()).await {
            Ok(Ok(_)) => return None,
            Ok(Err(error)) => EngineError::of("look whether it is there", &error).to_string(),
            Err(_) => "its time was up".to_owned(),
        };
        Some(format!("the engine at {} is gone ({why})", self.socket.display()))
    }
}
