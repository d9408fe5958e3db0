//! Events: what is told of a sandbox, to whom, and that telling changes nothing.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_redact::{Redactor, Secret};
use bailiwick_types::{CorrelationId, Tier};
use bytes::Bytes;
use serde_json::json;

use super::fake::{Fake, USAGE};
use crate::{
    Backend, Command, Event, EventKind, Events, Listener, Network, Observed, Sandbox, SandboxError,
    SandboxPath, SandboxSpec, feed, run_to_end,
};

const TOKEN: &str = "ghp_16C7e42F292c6912E7";

#[derive(Default)]
struct Heard(Mutex<Vec<Event>>);

impl Listener for Heard {
    fn hear(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Heard {
    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Each as its kind and detail.
    fn told(&self) -> Vec<(EventKind, Option<String>)> {
        self.take().into_iter().map(|event| (event.kind, event.detail)).collect()
    }
}

/// Kinds and details of events.
type Told<'a> = &'a [(EventKind, Option<&'a str>)];

struct Panics;

impl Listener for Panics {
    fn hear(&self, _: &Event) {
        panic!("a listener that panics");
    }
}

fn redactor() -> Redactor {
    Redactor::new([&Secret::new(TOKEN.to_owned())]).unwrap()
}

fn observed(fake: Fake) -> (Observed, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let events = Events::to([heard.clone() as Arc<dyn Listener>]);
    (Observed::new(Arc::new(fake), events, redactor()), heard)
}

async fn sandbox() -> (Box<dyn Sandbox>, Arc<Heard>) {
    let (backend, heard) = observed(Fake::new("fake", Tier::Process, 1));
    let sandbox = backend.create(SandboxSpec::default()).await.unwrap();
    heard.take();
    (sandbox, heard)
}

fn command(words: &[&str]) -> Command {
    Command::new(words.iter().copied()).unwrap()
}

#[tokio::test]
async fn an_event_has_its_golden_shape() {
    let (backend, heard) = observed(Fake::new("fake", Tier::Container, 1));
    let spec = SandboxSpec {
        image: crate::Image::Named("debian:13".to_owned()),
        network: Network::Git,
        correlation: Some(CorrelationId::parse("req-7").unwrap()),
        ..SandboxSpec::default()
    };
    let sandbox = backend.create(spec).await.unwrap();
    sandbox.exec(command(&["echo", "hello"])).await.unwrap();
    let [create, exec]: [Event; 2] = heard.take().try_into().unwrap();
    let shape = json!({
        "kind": "exec", "sandboxId": sandbox.id().to_string(), "backend": "fake", "tier": "CONTAINER",
        "image": "debian:13", "argv": ["echo", "hello"], "shell": false, "exit": 0, "timedOut": false, "oom": false,
        "usage": serde_json::to_value(USAGE).unwrap(), "network": "git", "detail": null, "correlationId": "req-7",
    });
    assert_eq!(serde_json::to_value(&exec).unwrap(), shape);
    assert_eq!(serde_json::from_value::<Event>(shape).unwrap(), exec);
    assert_eq!((create.kind, create.argv.len(), create.exit), (EventKind::Create, 0, None));
}

#[tokio::test]
async fn every_end_of_a_command_is_told_with_what_was_refused_and_which_limits_were_reached() {
    let table: [(&[&str], Option<i32>, Told<'_>); 6] = [
        (&["echo", "x"], Some(0), &[(EventKind::Exec, None)]),
        (&["nothing-of-that-name"], Some(127), &[(EventKind::Exec, None)]),
        (
            &["deny", "connect evil.test"],
            Some(1),
            &[(EventKind::Exec, None), (EventKind::Deny, Some("NET_DENIED: connect evil.test"))],
        ),
        (&["late"], Some(124), &[(EventKind::Exec, None), (EventKind::Limit, Some("timeout"))]),
        (&["oom"], Some(137), &[(EventKind::Exec, None), (EventKind::Limit, Some("memory"))]),
        (&["break", "it fell"], None, &[(EventKind::Exec, Some("run: it fell"))]),
    ];
    for (words, exit, told) in table {
        let told: Vec<(EventKind, Option<String>)> =
            told.iter().map(|(kind, detail)| (*kind, detail.map(str::to_owned))).collect();
        let (sandbox, heard) = sandbox().await;
        drop(sandbox.exec(command(words)).await);
        let events = heard.take();
        assert_eq!(events[0].exit, exit, "{words:?}");
        let by_exec: Vec<_> = events.into_iter().map(|event| (event.kind, event.detail)).collect();
        assert_eq!(by_exec, told, "{words:?}");
        // The same by its streams, whoever waits.
        let running = sandbox.spawn(command(words)).await.unwrap();
        drop(run_to_end(running, &command(words), 100).await);
        assert_eq!(heard.told(), told, "{words:?} by its streams");
    }
}

#[tokio::test]
async fn output_above_its_limit_is_a_breach() {
    let (backend, heard) = observed(Fake::new("fake", Tier::Process, 1));
    let mut spec = SandboxSpec::default();
    spec.limits.output.value = 10;
    let sandbox = backend.create(spec).await.unwrap();
    heard.take();
    sandbox.exec(command(&["flood", "3"])).await.unwrap();
    assert_eq!(heard.told(), [(EventKind::Exec, None), (EventKind::Limit, Some("output".to_owned()))]);
}

#[tokio::test]
async fn the_life_of_a_sandbox_is_told_from_its_making_to_its_end() {
    let (backend, heard) = observed(Fake::new("fake", Tier::Process, 1));
    let mut spec = SandboxSpec::default();
    spec.limits.disk.value = 3;
    let sandbox = backend.create(spec).await.unwrap();
    let path = SandboxPath::new("/work/a").unwrap();
    sandbox.write_file(&path, Bytes::from_static(b"abc"), false).await.unwrap();
    sandbox.write_file(&path, Bytes::from_static(b"abcd"), false).await.unwrap_err();
    let snapshot = sandbox.snapshot().await.unwrap();
    sandbox.hibernate().await.unwrap();
    sandbox.resume().await.unwrap();
    let id = sandbox.id();
    let child = sandbox.fork().await.unwrap();
    let child_id = child.id();
    sandbox.terminate().await.unwrap();
    sandbox.terminate().await.unwrap();
    drop(sandbox);
    drop(child);
    let told: Vec<_> =
        heard.take().into_iter().map(|event| (event.sandbox_id, event.kind, event.detail)).collect();
    let expected = [
        (id, EventKind::Create, None),
        (id, EventKind::Limit, Some("disk".to_owned())),
        (id, EventKind::Snapshot, Some(snapshot.id.to_string())),
        (id, EventKind::Hibernate, None),
        (id, EventKind::Resume, None),
        (child_id, EventKind::Create, Some(format!("from {id}"))),
        (id, EventKind::Close, None),
        (child_id, EventKind::Close, None),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn no_secret_is_told() {
    let (sandbox, heard) = sandbox().await;
    let long = format!("{}{TOKEN}", "x".repeat(1015));
    let commands = [
        command(&["echo", &format!("--token={TOKEN}")]),
        Command::shell(&format!("curl -H 'x: {TOKEN}'")).unwrap(),
        command(&["deny", &format!("GET https://evil.test/?{TOKEN}")]),
        command(&["break", TOKEN]),
        command(&["echo", &long]),
    ];
    for command in commands {
        let is_shell = command.is_shell();
        drop(sandbox.exec(command).await);
        for event in heard.take() {
            let told = serde_json::to_string(&event).unwrap();
            assert!(told.contains("***"), "{told}");
            assert!(!told.contains("ghp_"), "not even the half that a cut would leave: {told}");
            assert_eq!(event.shell, is_shell);
        }
    }
}

#[tokio::test]
async fn a_command_of_many_long_words_is_told_in_short() {
    let (sandbox, heard) = sandbox().await;
    let words: Vec<String> =
        std::iter::once("echo".to_owned()).chain((0..100).map(|_| "ü".repeat(5000))).collect();
    sandbox.exec(Command::new(words).unwrap()).await.unwrap();
    let argv = heard.take().remove(0).argv;
    assert_eq!((argv.len(), argv[1].chars().count(), argv[64].as_str()), (65, 1025, "… 37 more"));
}

#[tokio::test]
async fn a_listener_that_panics_is_counted_and_breaks_nothing() {
    let heard = Arc::new(Heard::default());
    let events = Events::to([Arc::new(Panics) as Arc<dyn Listener>, heard.clone(), Arc::new(Panics)]);
    let backend = Observed::new(Arc::new(Fake::new("fake", Tier::Process, 1)), events.clone(), redactor());
    let sandbox = backend.create(SandboxSpec::default()).await.unwrap();
    assert_eq!(sandbox.exec(command(&["echo", "x"])).await.unwrap().stdout.bytes, "x");
    drop(sandbox);
    assert_eq!(heard.take().len(), 3, "who listens behind it hears everything");
    assert_eq!(events.failures(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_nobody_waits_for_is_told() {
    let (sandbox, heard) = sandbox().await;
    let waited = tokio::time::timeout(Duration::from_secs(1), sandbox.exec(command(&["hang"]))).await;
    assert!(waited.is_err());
    assert_eq!(heard.told(), [(EventKind::Exec, Some("nobody waited for its end".to_owned()))]);
}

#[tokio::test]
async fn a_command_that_does_not_begin_is_told() {
    let (sandbox, heard) = sandbox().await;
    assert!(matches!(sandbox.spawn(command(&["unspawnable"])).await, Err(SandboxError::Busy(_))));
    assert_eq!(heard.told(), [(EventKind::Exec, Some("there is no room".to_owned()))]);
}

#[tokio::test]
async fn streams_pass_through_unchanged() {
    let (sandbox, _heard) = sandbox().await;
    let running = sandbox.spawn(command(&["cat"])).await.unwrap();
    let mut output = running.output;
    tokio::spawn(feed(running.input, Bytes::from_static(b"through"), true));
    assert_eq!(output.recv().await.unwrap().bytes, "through");
    assert!(running.ended.await.unwrap().is_ok());
}
