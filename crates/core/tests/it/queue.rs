//! The queue of questions: whoever may approve answers, the first answer wins, and what is no yes takes no cell.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_core::{Action, Answer, Approver, Caller, Question};
use bailiwick_types::{ApprovalId, ErrorCode, Scope, Scopes};
use serde_json::json;

use crate::asking::{Called, Served, WRITES, agent, answer, has_run, keyless, other_agent, place};
use crate::stage::{Place, Says, block_on, cli, hearing, refused, yaml};

bailiwick_testkit::tests!(
    a_yes_from_the_queue_runs_the_call,
    a_no_from_the_queue_runs_nothing,
    no_answer_in_time_is_a_no_and_a_late_yes_a_conflict,
    where_nobody_could_answer_nobody_is_waited_for,
    a_process_that_does_not_stay_waits_for_nobody,
    only_the_first_of_two_answers_counts,
    an_answer_to_no_question_is_not_found,
    a_server_that_ends_says_no_to_what_waits,
    what_waited_when_a_server_was_lost_is_not_known_to_the_next,
    a_tool_that_changes_before_the_yes_does_not_run,
    whoever_may_not_approve_answers_nothing,
    an_approver_whose_key_is_gone_answers_nothing,
    a_yes_to_a_caller_whose_key_is_gone_runs_nothing,
    a_caller_that_goes_away_withdraws_its_question,
    an_answer_in_the_queue_withdraws_the_one_at_the_terminal,
    an_answer_at_the_terminal_withdraws_the_one_in_the_queue,
    nobody_at_the_terminal_leaves_it_to_the_queue,
    one_caller_has_only_so_many_questions,
    an_effect_that_asks_stands_in_the_same_queue,
    approvers_see_plain_data,
    a_caller_hears_of_its_own_question_and_not_what_others_were_said_yes_to,
);

#[track_caller]
fn check_failed(called: Result<Called, tokio::task::JoinError>, code: ErrorCode) -> String {
    let report = called.expect("no panic").expect("a report");
    let failure = report.failure().expect("it did not run");
    assert_eq!(failure.code, code, "{failure:?}");
    assert!(report.receipt().walls.is_empty(), "nothing ran, so no wall stood");
    assert!(failure.message.contains("did not run"), "{}", failure.message);
    let hint = failure.hint.as_deref().unwrap_or_default();
    assert!(hint.contains("do not try again") || hint.contains("--yes"), "{hint}");
    failure.message.clone()
}

fn a_yes_from_the_queue_runs_the_call() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 7}));
        let waiting = served.asked().await;
        assert_eq!(served.waiting().await.first().map(|waiting| waiting.id), Some(waiting.id));
        assert_eq!(waiting.question.arguments, json!({"n": 7, "m": 5}));
        assert_eq!(waiting.question.actor.key.as_deref(), Some("agent"));
        assert!(waiting.remaining_ms > 0 && waiting.deadline_at > waiting.asked_at, "{waiting:?}");
        served.nothing_ran().await;
        served.answer(waiting.id, true).await.expect("answered");
        let decision = served.house.tail(3).await;
        let decision = decision.iter().find(|record| record["kind"] == "decision");
        let decision = decision.expect("an answer that was taken is on the record");
        assert_eq!(decision["approval"]["answer"], "yes");
        assert_eq!(decision["approval"]["by"], "anna");
        assert_eq!(decision["approval"]["id"], json!(waiting.id));
        let report = call.await.expect("no panic").expect("a report");
        assert_eq!(report.value(), &json!(7));
        assert!(has_run(&served.place));
        let settled = served.settled().await;
        assert_eq!((settled.answer.as_str(), settled.by.as_deref()), ("yes", Some("anna")));
        assert!(served.waiting().await.is_empty());
    });
}

fn a_no_from_the_queue_runs_nothing() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 7}));
        let waiting = served.asked().await;
        served.answer(waiting.id, false).await.expect("answered");
        check_failed(call.await, ErrorCode::ApprovalDeclined);
        served.nothing_ran().await;
        let records = served.house.tail(2).await;
        assert_eq!(records[0]["approval"]["answer"], "no");
        assert_eq!(records[1]["outcome"]["code"], json!(ErrorCode::ApprovalDeclined));
    });
}

fn no_answer_in_time_is_a_no_and_a_late_yes_a_conflict() {
    block_on(async {
        let mut served = Served::at(place().set("approvals.deadline=50ms")).await;
        let call = served.call(agent(), json!({"n": 7}));
        let waiting = served.asked().await;
        check_failed(call.await, ErrorCode::ApprovalTimeout);
        assert_eq!(served.settled().await.answer, "nothing");
        let (code, message) = refused(served.answer(waiting.id, true).await);
        assert_eq!(code, ErrorCode::Conflict);
        assert!(message.contains("deadline"), "{message}");
        served.nothing_ran().await;
    });
}

fn where_nobody_could_answer_nobody_is_waited_for() {
    block_on(async {
        let mut served = Served::new().await;
        served.lose_approver().await;
        let call = served.call(agent(), json!({"n": 7}));
        check_failed(call.await, ErrorCode::ApprovalUnavailable);
        assert!(served.nobody_was_asked());
        served.nothing_ran().await;
    });
}

fn a_process_that_does_not_stay_waits_for_nobody() {
    block_on(async {
        let mut served = Served::at(Place::new()).await;
        let call = served.call(agent(), json!({"n": 7}));
        check_failed(call.await, ErrorCode::ApprovalUnavailable);
        assert!(served.nobody_was_asked());
        served.nothing_ran().await;
    });
}

fn only_the_first_of_two_answers_counts() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 7}));
        let waiting = served.asked().await;
        served.answer(waiting.id, false).await.expect("answered");
        let (code, message) = refused(served.answer(waiting.id, true).await);
        assert_eq!(code, ErrorCode::Conflict);
        assert!(message.contains("`anna` said no"), "{message}");
        check_failed(call.await, ErrorCode::ApprovalDeclined);
        served.nothing_ran().await;
        // Many at once, too: exactly one of them is taken.
        let call = served.call(agent(), json!({"n": 7}));
        let id = served.asked().await.id;
        let mut answers = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (asked, anna) = (served.house.core.clone(), served.anna());
            answers.spawn(async move { answer(&asked, anna, id, true, None).await });
        }
        let results = answers.join_all().await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        assert!(
            results.into_iter().filter_map(Result::err).all(|refusal| refusal.code == ErrorCode::Conflict)
        );
        assert!(call.await.expect("no panic").expect("a report").is_ok());
        let intents = served.house.tail(1000).await;
        assert_eq!(intents.iter().filter(|record| record["kind"] == "intent").count(), 1);
    });
}

fn an_answer_to_no_question_is_not_found() {
    block_on(async {
        let served = Served::new().await;
        let id = ApprovalId::from_parts(1, &[1; 10]);
        assert_eq!(refused(served.answer(id, true).await).0, ErrorCode::NotFound);
    });
}

fn a_server_that_ends_says_no_to_what_waits() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 7}));
        let waiting = served.asked().await;
        let served = served.reopened(&[]).await;
        let message = check_failed(call.await, ErrorCode::ApprovalUnavailable);
        assert!(message.contains("the server is ending"), "{message}");
        let records = served.house.tail(2).await;
        assert_eq!(records[0]["approval"]["answer"], "nobody");
        assert_eq!(records[0]["approval"]["because"], "the server is ending");
        assert_eq!(records[1]["outcome"]["code"], json!(ErrorCode::ApprovalUnavailable));
        assert!(served.waiting().await.is_empty());
        assert_eq!(refused(served.answer(waiting.id, true).await).0, ErrorCode::NotFound);
        served.nothing_ran().await;
        assert!(served.house.verify().await.ok);
    });
}

fn what_waited_when_a_server_was_lost_is_not_known_to_the_next() {
    let (place, anna, id) = block_on(async {
        let mut served = Served::new().await;
        drop(served.call(agent(), json!({"n": 7})));
        let waiting = served.asked().await;
        assert_eq!(served.waiting().await.len(), 1, "it waits");
        served.nothing_ran().await;
        // Everything is dropped as it stands.
        let anna = served.anna();
        (served.place, anna, waiting.id)
    });
    block_on(async {
        let house = place.open().await;
        let (code, _) = refused(answer(&house.core, anna, id, true, None).await);
        assert_eq!(code, ErrorCode::NotFound);
        let records = house.tail(1000).await;
        assert!(records.iter().all(|record| record["kind"] != "intent"), "{records:#?}");
        assert!(!has_run(&place));
        assert!(house.verify().await.ok);
    });
}

fn a_tool_that_changes_before_the_yes_does_not_run() {
    block_on(async {
        for changed in [
            WRITES.replace("return n;", "return n + 1;"),
            WRITES.replace("if a person agrees", "whatever anybody says"),
            WRITES.replace("approval:", "limits: {wall: 7s}\napproval:"),
        ] {
            let mut served = Served::new().await;
            let call = served.call(agent(), json!({"n": 7}));
            let waiting = served.asked().await;
            served.house.offer(&yaml("writes", &changed)).await;
            served.answer(waiting.id, true).await.expect("answered");
            let (code, message) = refused(call.await.expect("no panic"));
            assert_eq!(code, ErrorCode::Conflict, "{message}");
            served.nothing_ran().await;
        }
    });
}

fn whoever_may_not_approve_answers_nothing() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 7}));
        let id = served.asked().await.id;
        let all_but = [Scope::Call, Scope::Author, Scope::Operate];
        let who = Caller { scopes: Scopes::of(all_but), ..agent() };
        let core = &served.house.core;
        for who in [who, agent(), keyless("curl"), keyless("anna")] {
            assert_eq!(refused(answer(core, who.clone(), id, true, None).await).0, ErrorCode::Forbidden);
            for action in [Action::ApprovalList, Action::ApprovalRemembered, Action::ApprovalForget { id }] {
                assert_eq!(refused(core.perform(who.clone(), action).await).0, ErrorCode::Forbidden);
            }
        }
        assert_eq!(served.waiting().await.len(), 1, "it still waits");
        served.nothing_ran().await;
        served.answer(id, false).await.expect("answered");
        check_failed(call.await, ErrorCode::ApprovalDeclined);
        served.nothing_ran().await;
    });
}

fn an_approver_whose_key_is_gone_answers_nothing() {
    block_on(async {
        let mut served = Served::at(place().set("approvals.deadline=500ms")).await;
        let call = served.call(agent(), json!({"n": 7}));
        let id = served.asked().await.id;
        served.lose_approver().await;
        assert_eq!(refused(served.answer(id, true).await).0, ErrorCode::Unauthorized);
        check_failed(call.await, ErrorCode::ApprovalTimeout);
        served.nothing_ran().await;
    });
}

fn a_yes_to_a_caller_whose_key_is_gone_runs_nothing() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 7}));
        let id = served.asked().await.id;
        served.house.act(Action::KeyRevoke { key: "agent".to_owned() }).await.expect("revoked");
        answer(&served.house.core, served.anna(), id, true, None).await.expect("an answer");
        let (code, _) = refused(call.await.expect("no panic"));
        assert_eq!(code, ErrorCode::Unauthorized);
        served.nothing_ran().await;
    });
}

fn a_caller_that_goes_away_withdraws_its_question() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 7}));
        let waiting = served.asked().await;
        call.abort();
        assert_eq!(served.settled().await.answer, "withdrawn");
        let (code, message) = refused(served.answer(waiting.id, true).await);
        assert_eq!(code, ErrorCode::Conflict);
        assert!(message.contains("went away"), "{message}");
        let served = served.reopened(&[]).await;
        let outcome = served.house.tail(1).await.remove(0);
        assert_eq!(outcome["action"], "tool.call", "{outcome}");
        assert_eq!(outcome["outcome"]["code"], json!(ErrorCode::Cancelled));
        served.nothing_ran().await;
    });
}

/// Somebody at a terminal who never answers, and whether the question was taken back.
#[derive(Default)]
struct Terminal {
    asked: AtomicBool,
    withdrawn: Arc<AtomicBool>,
}

struct Withdraws(Arc<AtomicBool>);

impl Drop for Withdraws {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Approver for Terminal {
    fn ask(&self, _question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        self.asked.store(true, Ordering::SeqCst);
        let withdraws = Withdraws(Arc::clone(&self.withdrawn));
        Box::pin(async move {
            let _withdraws = withdraws;
            std::future::pending().await
        })
    }
}

fn an_answer_in_the_queue_withdraws_the_one_at_the_terminal() {
    block_on(async {
        for yes in [true, false] {
            let mut served = Served::new().await;
            let terminal = Arc::new(Terminal::default());
            let call = served.call(Caller { approver: terminal.clone(), ..agent() }, json!({"n": 7}));
            let waiting = served.asked().await;
            assert!(terminal.asked.load(Ordering::SeqCst));
            assert!(!terminal.withdrawn.load(Ordering::SeqCst));
            served.answer(waiting.id, yes).await.expect("answered");
            assert!(terminal.withdrawn.load(Ordering::SeqCst));
            assert_eq!(call.await.expect("no panic").expect("a report").is_ok(), yes);
            assert_eq!(has_run(&served.place), yes);
        }
    });
}

/// Somebody at a terminal who answers when they are told to.
struct Slowly(tokio::sync::watch::Receiver<Option<Answer>>);

impl Approver for Slowly {
    fn ask(&self, _question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        let mut told = self.0.clone();
        Box::pin(async move {
            let answer = told.wait_for(Option::is_some).await.expect("an answer").clone();
            answer.unwrap_or(Answer::Nobody)
        })
    }
}

fn an_answer_at_the_terminal_withdraws_the_one_in_the_queue() {
    block_on(async {
        let mut served = Served::new().await;
        let (tell, told) = tokio::sync::watch::channel(None);
        let call = served.call(Caller { approver: Arc::new(Slowly(told)), ..agent() }, json!({"n": 7}));
        let waiting = served.asked().await;
        tell.send(Some(Answer::No { by: "terminal".to_owned() })).expect("somebody asks");
        check_failed(call.await, ErrorCode::ApprovalDeclined);
        let settled = served.settled().await;
        assert_eq!((settled.answer.as_str(), settled.by.as_deref()), ("no", Some("terminal")));
        let (code, message) = refused(served.answer(waiting.id, true).await);
        assert_eq!(code, ErrorCode::Conflict, "{message}");
        served.nothing_ran().await;
    });
}

fn nobody_at_the_terminal_leaves_it_to_the_queue() {
    block_on(async {
        let mut served = Served::new().await;
        let (tell, told) = tokio::sync::watch::channel(None);
        let call = served.call(Caller { approver: Arc::new(Slowly(told)), ..agent() }, json!({"n": 7}));
        let waiting = served.asked().await;
        tell.send(Some(Answer::Nobody)).expect("somebody asks");
        served.answer(waiting.id, true).await.expect("it still waits");
        assert!(call.await.expect("no panic").expect("a report").is_ok());
        // Where nobody watches a queue it is the end.
        served.lose_approver().await;
        let (tell, told) = tokio::sync::watch::channel(None);
        let call = served.call(Caller { approver: Arc::new(Slowly(told)), ..agent() }, json!({"n": 7}));
        served.asked().await;
        tell.send(Some(Answer::Nobody)).expect("somebody asks");
        check_failed(call.await, ErrorCode::ApprovalUnavailable);
    });
}

fn one_caller_has_only_so_many_questions() {
    block_on(async {
        let mut served = Served::new().await;
        let mut calls: Vec<_> = (0..64).map(|n| served.call(agent(), json!({"n": n}))).collect();
        for _ in 0..64 {
            served.asked().await;
        }
        let (code, message) = refused(served.call(agent(), json!({"n": 64})).await.expect("no panic"));
        assert_eq!(code, ErrorCode::Busy, "{message}");
        assert_eq!(served.house.tail(1).await.remove(0)["outcome"]["code"], json!(ErrorCode::Busy));
        // Another caller is not the worse for it.
        calls.push(served.call(other_agent(), json!({"n": 65})));
        served.asked().await;
        for waiting in served.waiting().await {
            served.answer(waiting.id, false).await.expect("answered");
        }
        for call in calls {
            check_failed(call.await, ErrorCode::ApprovalDeclined);
        }
        served.nothing_ran().await;
    });
}

fn an_effect_that_asks_stands_in_the_same_queue() {
    block_on(async {
        let mut served = Served::new().await;
        let tool = "
name: notes
description: Reads a file back that it wrote, if a person agrees.
overrides: {fileWrite: true, fileRead: true, ask: {fs: first}}
approval: {mode: DISABLED}
tests:
  - {name: reads, input: {}, files: {notes.txt: hello}, equals: hello}
code: return safety.fs.readText('notes.txt')
";
        served.house.offer(&yaml("notes", tool)).await;
        for yes in [false, true] {
            let call = served.call_of("notes", agent(), json!({}));
            let waiting = served.asked().await;
            assert_eq!(
                waiting.question.effect.as_ref().map(|effect| effect.capability.as_str()),
                Some("fs.read")
            );
            let wish =
                bailiwick_core::Remember { what: bailiwick_core::RememberedFor::Arguments, minutes: 5 };
            let (code, message) = refused(served.remember(waiting.id, wish).await);
            assert_eq!(code, ErrorCode::InvalidInput, "{message}");
            served.answer(waiting.id, yes).await.expect("answered");
            let report = call.await.expect("no panic").expect("a report");
            let code = report.failure().map(|failure| failure.code);
            // There is no such file; with a yes the call gets as far as to find that out.
            assert_eq!(code == Some(ErrorCode::FsDenied), !yes, "{report:?}");
            let records = served.house.tail(2).await;
            assert_eq!(records[0]["approval"]["answer"], if yes { "yes" } else { "no" });
            assert_eq!(records[0]["approval"]["by"], "anna");
        }
    });
}

fn approvers_see_plain_data() {
    block_on(async {
        let mut served = Served::new().await;
        let tool = WRITES
            .replace("name: writes", "name: shouts")
            .replace("{name: n, type: INTEGER", "{name: n, type: STRING")
            .replace("testValue: 1", "testValue: one");
        served.house.offer(&yaml("shouts", &tool)).await;
        let hostile = "\u{1b}[2J\u{202e}yes\r\nby: anna\u{0}";
        let call = served.call_of("shouts", agent(), json!({"n": hostile}));
        let waiting = served.asked().await;
        assert_eq!(waiting.question.arguments["n"], hostile, "it is data, as it was given");
        let text = serde_json::to_string(&waiting).expect("JSON");
        assert!(!text.chars().any(char::is_control), "{text}");
        served.answer(waiting.id, false).await.expect("answered");
        check_failed(call.await, ErrorCode::ApprovalDeclined);
    });
}

fn a_caller_hears_of_its_own_question_and_not_what_others_were_said_yes_to() {
    block_on(async {
        let mut served = Served::new().await;
        let call = served.call(agent(), json!({"n": 77}));
        let waiting = served.asked().await;
        served.answer(waiting.id, true).await.expect("answered");
        assert!(call.await.expect("no panic").expect("a report").is_ok());
        for (who, sees_last) in [(keyless("curl"), false), (other_agent(), false), (cli(), true)] {
            let (listening, ears) = hearing();
            let caller = Caller { approver: Says::nothing(), listener: listening.listener, ..who };
            let call = served.call(caller, json!({"n": 1}));
            let waiting = served.asked().await;
            assert!(waiting.last.is_some(), "approvers see it");
            let heard = ears.0.lock().expect("not poisoned").clone();
            let [bailiwick_core::Event::Waiting(told)] = &heard[..] else { panic!("{heard:?}") };
            assert_eq!(told.id, waiting.id);
            assert_eq!(told.last.is_some(), sees_last);
            served.answer(waiting.id, false).await.expect("answered");
            check_failed(call.await, ErrorCode::ApprovalDeclined);
        }
    });
}
