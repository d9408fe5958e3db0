//! A sandbox as its host has it, with the agent and the wall in the hands of a test: slow ones, silent ones, and such as lie.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use bailiwick_sandbox::{Command, Duplex, Limits, Sandbox, SandboxPath, Snapshot};
use bailiwick_types::{ErrorCode, SandboxId, SnapshotId, Tier};
use bailiwick_wire::agent::{Ended, LONGEST, Listed, Stream};
use bailiwick_wire::{Decoder, encode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Notify, Semaphore};

use super::*;
use crate::Handle;
use crate::link::Greeting;

/// A wall that does what a test says, and tells what was asked of it.
#[derive(Debug)]
struct Paper {
    /// How often it was asked for what was counted.
    counted: AtomicU64,
    was_counted: Notify,
    /// One for each time that it may answer.
    may_count: Semaphore,
    /// What it was told to do.
    told: Mutex<Vec<&'static str>>,
    was_told: Notify,
    /// One for each snapshot that it may finish.
    may_keep: Semaphore,
    /// Why it does not let go on what stands still.
    stuck: Mutex<Option<&'static str>>,
}

impl Paper {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            counted: AtomicU64::new(0),
            was_counted: Notify::new(),
            may_count: Semaphore::new(0),
            told: Mutex::default(),
            was_told: Notify::new(),
            may_keep: Semaphore::new(0),
            stuck: Mutex::default(),
        })
    }

    fn is_told(&self, word: &'static str) {
        self.told.lock().unwrap().push(word);
        self.was_told.notify_one();
    }

    /// Waits until it was told something.
    async fn hears(&self, word: &str) {
        while !self.told.lock().unwrap().contains(&word) {
            self.was_told.notified().await;
        }
    }
}

#[derive(Debug)]
struct Wallpaper(Arc<Paper>);

impl Wall for Wallpaper {
    fn backend(&self) -> &'static str {
        "paper"
    }

    fn kill(&self) {
        self.0.is_told("kill");
    }

    async fn ended(&self) {}

    async fn account(&self) -> Account {
        self.0.counted.fetch_add(1, Ordering::SeqCst);
        self.0.was_counted.notify_one();
        self.0.may_count.acquire().await.unwrap().forget();
        Account::default()
    }

    fn forget_peak(&self) {}

    async fn stand(&self, _: &Attended<Self>, how: Stand) -> Result<Stood, String> {
        self.0.is_told(if how == Stand::Still { "still" } else { "going" });
        match *self.0.stuck.lock().unwrap() {
            Some(why) if how == Stand::Going => Err(why.to_owned()),
            _ => Ok(Stood::ByWall),
        }
    }

    async fn connect(&self, attended: &Attended<Self>, _: u16) -> Result<Box<dyn Duplex>, SandboxError> {
        Err(attended.gone())
    }

    fn stays(&self, _: &SandboxSpec) -> Option<String> {
        None
    }

    async fn snapshot(&self, attended: &Attended<Self>) -> Result<Snapshot, SandboxError> {
        let _still = attended.stillness.hold();
        self.0.is_told("keep");
        self.0.may_keep.acquire().await.unwrap().forget();
        Ok(Snapshot { id: SnapshotId::from_parts(1, &[7; 10]), backend: "paper".to_owned(), bytes: 1 })
    }

    fn forget(&self, _: &Snapshot) -> Result<(), SandboxError> {
        self.0.is_told("forget");
        Ok(())
    }

    async fn another(&self, _: SandboxSpec) -> Result<Arc<Attended<Self>>, SandboxError> {
        Err(SandboxError::NoSnapshot("none is made here".to_owned()))
    }
}

/// The other end of a sandbox.
struct Agent {
    stream: DuplexStream,
    decoder: Decoder,
}

impl Agent {
    async fn say(&mut self, message: FromAgent) {
        self.stream.write_all(&encode(&message).unwrap()).await.unwrap();
    }

    async fn hear(&mut self) -> ToAgent {
        let mut room = vec![0; 4096];
        loop {
            if let Some(message) = self.decoder.take().unwrap() {
                return message;
            }
            let read = self.stream.read(&mut room).await.unwrap();
            assert!(read > 0, "the host is gone");
            self.decoder.push(&room[..read]);
        }
    }

    /// Hears what is about an ask, and gives its number.
    async fn begin(&mut self) -> u32 {
        match self.hear().await {
            ToAgent::Start { id, .. } | ToAgent::Read { id, .. } | ToAgent::List { id, .. } => id,
            other => panic!("{other:?}"),
        }
    }
}

fn made() -> (Handle<Wallpaper>, Arc<Paper>, Agent) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(ours);
    let link = Greeting::new(Box::new(reader), Box::new(writer)).link();
    let paper = Paper::new();
    let spec = SandboxSpec::new(Limits::default());
    let attended = Attended::new(Parts {
        id: SandboxId::from_parts(1, &[1; 10]),
        places: Places::rooted(&spec),
        receipt: bailiwick_sandbox::receipt(Tier::Process, &spec, &[]),
        spec,
        link,
        wall: Wallpaper(paper.clone()),
        warnings: Vec::new(),
        variables: Vec::new(),
        outlet: None,
        patience: Duration::from_mins(1),
    });
    (Handle::new(attended), paper, Agent { stream: theirs, decoder: Decoder::new(LONGEST) })
}

fn command() -> Command {
    Command::new(["sh"]).unwrap()
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).unwrap()
}

/// So many pieces of output that some wait for their reader.
const MANY: usize = 8;

#[tokio::test]
async fn the_end_of_a_command_is_not_lost_while_what_it_used_is_counted() {
    let (sandbox, paper, mut agent) = made();
    paper.may_count.add_permits(1);
    let mut running = sandbox.spawn(command()).await.unwrap();
    let id = agent.begin().await;
    for _ in 0..MANY {
        agent.say(FromAgent::Output { id, stream: Stream::Stdout, bytes: b"x".to_vec() }).await;
    }
    let ended = Ended { code: Some(7), signal: None, cpu_us: 0, memory_peak: 0, processes: 1 };
    agent.say(FromAgent::Ended { id, ended }).await;
    while paper.counted.load(Ordering::SeqCst) < 2 {
        paper.was_counted.notified().await;
    }
    // While it is counted, its reader makes room, and somebody says something.
    for _ in 0..2 {
        running.output.recv().await.unwrap();
    }
    running.urgent.send(bailiwick_sandbox::Input::Signal(15)).await.unwrap();
    tokio::task::yield_now().await;
    paper.may_count.add_permits(1);
    let rest = async { while running.output.recv().await.is_some() {} };
    let (told, ()) = tokio::join!(running.ended, rest);
    assert_eq!(told.unwrap().unwrap().exit, bailiwick_sandbox::Exit::Code(7));
}

#[tokio::test]
async fn whoever_stops_waiting_for_a_command_ends_it() {
    let (sandbox, paper, mut agent) = made();
    paper.may_count.add_permits(1);
    tokio::select! {
        biased;
        _ = sandbox.exec(command()) => panic!("it runs on"),
        _ = agent.begin() => {}
    }
    assert!(matches!(agent.hear().await, ToAgent::Kill { id: 1 }));
}

#[tokio::test]
async fn a_sandbox_that_is_ended_while_it_sleeps_lets_go_of_its_commands() {
    let (sandbox, paper, mut agent) = made();
    paper.may_count.add_permits(2);
    let running = sandbox.spawn(command()).await.unwrap();
    agent.begin().await;
    sandbox.hibernate().await.unwrap();
    sandbox.terminate().await.unwrap();
    assert_eq!(running.ended.await.unwrap().unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test(start_paused = true)]
async fn time_asleep_is_no_time_of_a_command() {
    let (sandbox, paper, mut agent) = made();
    paper.may_count.add_permits(2);
    let mut timed = command();
    timed.timeout = Some(Duration::from_secs(30));
    let running = sandbox.spawn(timed).await.unwrap();
    let id = agent.begin().await;
    let began = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(10)).await;
    sandbox.hibernate().await.unwrap();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(*paper.told.lock().unwrap(), ["still"]);
    sandbox.resume().await.unwrap();
    // What was left of its time it has.
    assert!(matches!(agent.hear().await, ToAgent::Kill { id: about } if about == id));
    assert_eq!(began.elapsed().as_secs(), 3600 + 30);
    let ended = Ended { code: None, signal: Some(9), cpu_us: 0, memory_peak: 0, processes: 1 };
    agent.say(FromAgent::Ended { id, ended }).await;
    assert!(running.ended.await.unwrap().unwrap().timed_out);
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_for_as_it_falls_asleep_wakes_it() {
    let (sandbox, paper, mut agent) = made();
    let file = path("/work/file");
    let asks = sandbox.read_file(&file, 100);
    let sleeps = async {
        let id = agent.begin().await;
        sandbox.hibernate().await.unwrap();
        paper.hears("going").await;
        agent.say(FromAgent::Data { id, bytes: b"all".to_vec() }).await;
        agent.say(FromAgent::Done { id }).await;
    };
    let began = tokio::time::Instant::now();
    assert_eq!(tokio::join!(asks, sleeps).0.unwrap(), "all");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn why_it_does_not_wake_is_told_to_whoever_asked_before_it_slept() {
    let (sandbox, paper, mut agent) = made();
    *paper.stuck.lock().unwrap() = Some("its memory is gone");
    let file = path("/work/file");
    let sleeps = async {
        agent.begin().await;
        sandbox.hibernate().await.unwrap();
    };
    let refused = tokio::join!(sandbox.read_file(&file, 100), sleeps).0.unwrap_err();
    assert!(refused.to_string().contains("its memory is gone"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_answer_is_waited_for_once_and_its_sandbox_ended() {
    let (sandbox, paper, mut agent) = made();
    let file = path("/work/file");
    let (read, _) = tokio::join!(sandbox.read_file(&file, 100), agent.begin());
    assert_eq!(read.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(*paper.told.lock().unwrap(), ["kill"]);
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_cancelled() {
    let (sandbox, _paper, mut agent) = made();
    let file = path("/work/file");
    let id = tokio::select! {
        biased;
        _ = sandbox.read_file(&file, 100) => panic!("it was read"),
        id = agent.begin() => id,
    };
    assert!(matches!(agent.hear().await, ToAgent::Cancel { id: about } if about == id));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_that_takes_long_ends_nobody() {
    let (sandbox, paper, mut agent) = made();
    let file = path("/work/file");
    let keeps = async {
        let id = agent.begin().await;
        let released = async {
            paper.hears("keep").await;
            // Longer than an agent may stand still.
            tokio::time::sleep(Duration::from_mins(5)).await;
            paper.may_keep.add_permits(1);
        };
        tokio::join!(sandbox.snapshot(), released).0.unwrap();
        agent.say(FromAgent::Done { id }).await;
    };
    assert_eq!(tokio::join!(sandbox.read_file(&file, 100), keeps).0.unwrap(), "");
    assert_eq!(*paper.told.lock().unwrap(), ["keep"]);
}

#[tokio::test]
async fn a_snapshot_that_nobody_waits_for_is_forgotten() {
    let (sandbox, paper, _agent) = made();
    tokio::select! {
        biased;
        _ = sandbox.snapshot() => panic!("it was kept"),
        () = paper.hears("keep") => {}
    }
    paper.may_keep.add_permits(1);
    paper.hears("forget").await;
}

/// Lists a folder of which the agent says this, again and again; gives what came of it, whether the sandbox was ended, and how often
/// it was said.
async fn listed(entry: Listed, many: usize) -> (SandboxError, bool, usize) {
    let (sandbox, paper, mut agent) = made();
    let folder = path("/work");
    let mut said = 0;
    let lies = async {
        let id = agent.begin().await;
        loop {
            said += 1;
            let message = FromAgent::Listed { id, entries: vec![entry.clone(); many] };
            if agent.stream.write_all(&encode(&message).unwrap()).await.is_err() {
                return;
            }
            // What was said is heard and taken before more is said.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        }
    };
    let refused = tokio::select! {
        refused = sandbox.list(&folder) => refused.unwrap_err(),
        () = lies => panic!("the host is gone"),
    };
    let is_ended = paper.told.lock().unwrap().contains(&"kill");
    (refused, is_ended, said)
}

#[tokio::test]
async fn what_an_agent_lists_is_bounded_and_leads_nowhere() {
    let entry = |name: &str| Listed { name: name.to_owned(), kind: 'f', bytes: 0, mode: 0 };
    for name in ["", ".", "..", "a/b", "/etc/passwd", "a\0b", &"x".repeat(766)] {
        let (refused, is_ended, _) = listed(entry(name), 1).await;
        assert_eq!((refused.code(), is_ended), (ErrorCode::NotFound, true), "{name:?}: {refused}");
    }
    // Too many entries, and too many bytes of names, which are fewer entries.
    for (length, most) in [(1, 101), (765, 45)] {
        let (refused, is_ended, said) = listed(entry(&"x".repeat(length)), 1000).await;
        assert_eq!((refused.code(), is_ended), (ErrorCode::OutputLimit, false), "{refused}");
        assert!(said <= most, "{said}");
    }
    // Nothing, without end.
    let (refused, is_ended, _) = listed(entry("x"), 0).await;
    assert_eq!((refused.code(), is_ended), (ErrorCode::NotFound, true), "{refused}");
}
