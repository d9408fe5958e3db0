//! Waiting without calls behind it: what is told meanwhile, what the queue has room for, and how it ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_config::{Environment, FolderFile, Request, load};
use bailiwick_runtime::Runtime;
use bailiwick_secrets::Fallback;
use bailiwick_types::{ApprovalId, CallId, CorrelationId, ErrorCode, Risk, RiskLevel};
use serde_json::json;
use tokio::time::Instant;

use super::queue::{Entering, MOST, MOST_OF_ONE, NoPlace, Queue};
use super::who::Who;
use super::{Ended, Subject, put};
use crate::{
    Actor, Answer, Approver, Caller, Core, Event, Listener, Opening, Presence, Question, Remember,
    RememberedFor,
};

fn question(deadline: Duration) -> Question {
    Question {
        tool: "careful".to_owned(),
        hash: None,
        policy_hash: "0".repeat(64),
        call_id: CallId::from_parts(1, &[7; 10]),
        prompt: None,
        risk: Risk { level: RiskLevel::L4, credited: None, reasons: Vec::new() },
        code: None,
        workspace: None,
        arguments: json!({"n": 1}),
        actor: caller("agent").actor,
        correlation_id: CorrelationId::parse("together").unwrap(),
        effect: None,
        deadline_ms: u64::try_from(deadline.as_millis()).unwrap(),
    }
}

fn caller(client: &str) -> Caller {
    Caller::alone(Actor { key: None, client: client.to_owned() })
}

async fn core(folder: &tempfile::TempDir) -> Core {
    core_as(folder, Presence::Serving).await
}

async fn core_as(folder: &tempfile::TempDir, presence: Presence) -> Core {
    let home = folder.path().join("home");
    let environment = Environment {
        working_folder: home.clone(),
        system_folder: home.join("etc"),
        home: Some(home.clone()),
        config_home: None,
        data_home: None,
        data: None,
        config: None,
        variables: std::collections::BTreeMap::new(),
    };
    let data = folder.path().join("data");
    let request =
        Request { config: None, data: Some(data.clone()), set: Vec::new(), folder_file: FolderFile::Skip };
    let opening = Opening {
        data,
        config: home.join("config"),
        settings: load(&environment, &request).unwrap().settings,
        fallback: Fallback::none(),
        cells: Runtime::builder(),
        backends: crate::Backends::default(),
        presence,
    };
    Core::open(opening).await.unwrap()
}

/// Notes when it heard what.
#[derive(Default)]
struct Hears(Mutex<Vec<(u64, Event)>>, std::sync::OnceLock<Instant>);

impl Listener for Hears {
    fn hear(&self, event: Event) {
        let begun = *self.1.get_or_init(Instant::now);
        self.0.lock().unwrap().push((begun.elapsed().as_secs(), event));
    }
}

/// Somebody who thinks for a while.
struct Thinks(Duration, Answer);

impl Approver for Thinks {
    fn ask(&self, _question: Question) -> std::pin::Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        Box::pin(async {
            if !self.0.is_zero() {
                tokio::time::sleep(self.0).await;
            }
            self.1.clone()
        })
    }
}

#[tokio::test]
async fn whoever_waits_is_told_every_ten_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let core = core(&folder).await;
    // From here on nothing but the question is waited for, so the clock can jump.
    tokio::time::pause();
    let hears = Arc::new(Hears::default());
    let never = Thinks(Duration::from_hours(1), Answer::Nobody);
    let caller = Caller { approver: Arc::new(never), listener: hears.clone(), ..caller("agent") };
    let subject = Subject { caller: &caller, tool: None, bound: None };
    let ended = put(&core, &subject, question(Duration::from_secs(35))).await.unwrap();
    assert_eq!(ended.ended, Ended::Nothing);
    assert_eq!(ended.decision["answer"], "nothing");
    // A timer of tokio's is late by up to a millisecond.
    let seconds = |ms: u64| ms.div_ceil(10) / 100;
    assert_eq!(ended.decision["waitedMs"].as_u64().map(seconds), Some(35));
    let told = hears.0.lock().unwrap();
    let [(0, Event::Waiting(first)), rest @ ..] = &told[..] else { panic!("{told:?}") };
    assert_eq!(first.remaining_ms, 35_000);
    let still = rest.iter().map(|(at, event)| match event {
        Event::StillWaiting { id, waited_ms, remaining_ms } if *id == first.id => {
            (*at, seconds(*waited_ms), seconds(*remaining_ms))
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(still.collect::<Vec<_>>(), [(10, 10, 25), (20, 20, 15), (30, 30, 5)]);
}

#[tokio::test]
async fn an_answer_counts_until_the_deadline_and_not_after() {
    let folder = tempfile::tempdir().unwrap();
    let core = core(&folder).await;
    tokio::time::pause();
    for (thinks, ended) in [(19, Ended::Yes { by: "me".to_owned() }), (21, Ended::Nothing)] {
        let says = Thinks(Duration::from_secs(thinks), Answer::Yes { by: "me".to_owned() });
        let caller = Caller { approver: Arc::new(says), ..caller("agent") };
        let subject = Subject { caller: &caller, tool: None, bound: None };
        let heard = put(&core, &subject, question(Duration::from_secs(20))).await.unwrap();
        assert_eq!(heard.ended, ended);
    }
}

#[tokio::test]
async fn what_comes_while_the_server_ends_is_a_no_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let core = core(&folder).await;
    core.end_questions();
    // Also to whoever says yes before they are waited for.
    for thinks in [Duration::from_hours(1), Duration::ZERO] {
        let says = Thinks(thinks, Answer::Yes { by: "me".to_owned() });
        let caller = Caller { approver: Arc::new(says), ..caller("agent") };
        let subject = Subject { caller: &caller, tool: None, bound: None };
        let heard = put(&core, &subject, question(Duration::from_hours(1))).await.unwrap();
        assert_eq!(heard.ended, Ended::Ending);
        assert_eq!(heard.decision["answer"], "nobody");
    }
}

#[tokio::test]
async fn only_a_process_that_stays_ends_questions_when_it_is_about_to_close() {
    for (presence, lets_in) in [(Presence::Serving, false), (Presence::Brief, true)] {
        let folder = tempfile::tempdir().unwrap();
        let core = core_as(&folder, presence).await;
        core.end_questions_of_server();
        assert_eq!(core.inner.approvals.queue.enter(entering(0, "agent")).is_ok(), lets_in, "{presence:?}");
    }
}

fn entering(number: u64, name: &str) -> Entering {
    let actor = Actor { key: Some(name.to_owned()), client: "http".to_owned() };
    entering_as(number, &Caller::alone(actor))
}

fn entering_as(number: u64, caller: &Caller) -> Entering {
    Entering {
        id: ApprovalId::from_parts(number, &[5; 10]),
        question: question(Duration::from_mins(2)),
        who: Who::of(caller),
        can_be_remembered: true,
        asked_ms: number,
        deadline: Instant::now() + Duration::from_mins(2),
        last: None,
    }
}

#[track_caller]
fn check_full(queue: &Queue, entering: Entering, wanted: &str) {
    match queue.enter(entering) {
        Err(NoPlace::Full(refusal)) => {
            assert_eq!(refusal.code, ErrorCode::Busy);
            assert!(refusal.message.contains(wanted), "{refusal:?}");
        }
        Err(NoPlace::Ending) | Ok(_) => panic!("it was let in, or the server ends"),
    }
}

#[tokio::test]
async fn the_queue_has_room_for_so_many() {
    let queue = Queue::default();
    let mut kept = Vec::new();
    for number in 0..MOST as u64 {
        let client = format!("agent-{}", number / MOST_OF_ONE as u64);
        kept.push(queue.enter(entering(number, &client)).ok().expect("room"));
    }
    check_full(&queue, entering(5000, "agent-0"), "64 questions of this caller");
    check_full(&queue, entering(5000, "somebody else"), "1000 questions wait");
    let listed: Vec<_> = queue.list().iter().map(|waiting| waiting.id).collect();
    assert_eq!(listed, kept.iter().map(|(waiting, _)| waiting.id).collect::<Vec<_>>(), "the oldest first");
    queue.settle(kept[7].0.id, &Ended::Withdrawn).expect("it waited");
    assert!(queue.enter(entering(5000, "agent-0")).is_ok(), "there is room again");
}

#[tokio::test]
async fn by_many_names_of_programs_one_caller_is_still_one() {
    let queue = Queue::default();
    let mut kept = Vec::new();
    for number in 0..MOST_OF_ONE as u64 {
        let caller = caller(&format!("mcp/agent-{number}"));
        kept.push(queue.enter(entering_as(number, &caller)).ok().expect("room"));
    }
    check_full(&queue, entering_as(5000, &caller("mcp/one-more")), "64 questions of this caller");
    assert!(queue.enter(entering(5000, "somebody else")).is_ok(), "others have their own share");
}

#[tokio::test]
async fn the_queue_has_room_for_so_many_bytes() {
    let queue = Queue::default();
    let long = |number: u64| {
        let mut entering = entering(number, &format!("agent {number}"));
        entering.question.arguments = json!({"text": "x".repeat(20 << 20)});
        entering
    };
    let kept: Vec<_> = (0..3).map(|number| queue.enter(long(number)).ok().expect("room")).collect();
    check_full(&queue, long(3), "bytes of questions");
    queue.settle(kept[0].0.id, &Ended::Nothing).expect("it waited");
    assert!(queue.enter(long(3)).is_ok());
}

#[tokio::test]
async fn one_caller_has_a_quarter_of_those_bytes_and_code_counts() {
    let queue = Queue::default();
    let with_code = |number: u64, who: &str| {
        let mut entering = entering(number, who);
        entering.question.code = Some("x".repeat(6 << 20));
        entering
    };
    let _kept: Vec<_> =
        (0..2).map(|number| queue.enter(with_code(number, "agent")).ok().expect("room")).collect();
    check_full(&queue, with_code(2, "agent"), "bytes of this caller's questions");
    assert!(queue.enter(with_code(3, "somebody else")).is_ok(), "others have their own share");
}

#[tokio::test]
async fn the_last_ends_are_known_and_older_ones_are_not() {
    let queue = Queue::default();
    let id = |number: u64| ApprovalId::from_parts(number, &[5; 10]);
    let late = |number: u64| queue.answer(id(number), "anna".to_owned(), true, None).expect_err("too late");
    for number in 0..600 {
        let _entered = queue.enter(entering(number, "agent")).ok().expect("room");
        queue.settle(id(number), &Ended::No { by: "otto".to_owned() }).expect("it waited");
    }
    assert_eq!(late(0).code, ErrorCode::NotFound);
    assert_eq!(late(599).code, ErrorCode::Conflict);
    assert!(late(599).message.contains("`otto` said no"), "{:?}", late(599));
}

#[tokio::test]
async fn a_yes_to_code_that_is_no_tool_is_not_remembered() {
    let queue = Queue::default();
    let entering = Entering { can_be_remembered: false, ..entering(1, "agent") };
    let id = entering.id;
    let _entered = queue.enter(entering).ok().expect("room");
    let wish = Remember { what: RememberedFor::Arguments, minutes: 5 };
    let refusal = queue.answer(id, "anna".to_owned(), true, Some(wish)).expect_err("it cannot be");
    assert_eq!(refusal.code, ErrorCode::InvalidInput);
    queue.answer(id, "anna".to_owned(), true, None).expect("it still waits");
}
