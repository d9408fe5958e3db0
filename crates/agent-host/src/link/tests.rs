//! What an agent that breaks the rules can make a host hold.

use super::*;

/// Says something again and again that nobody takes, and gives how many bytes of it were held when that was refused.
#[track_caller]
fn check(message: &FromAgent) {
    let shared = Arc::new(Shared::default());
    let (to, _answers) = mpsc::unbounded_channel();
    shared.lock().insert(1, Route { to, waiting: Arc::default(), most: MOST_WAITING });
    let bytes = encode(message).expect("a message").len() as u64;
    let most = MOST_WAITING / bytes + 1;
    let refused = (0..=most).any(|_| route(&shared, message.clone()).is_err());
    assert!(refused, "{most} messages of {bytes} bytes wait");
}

#[test]
fn whatever_an_agent_says_and_nobody_takes_is_bounded() {
    let long = || "x".repeat(100_000);
    let entry = || bailiwick_wire::agent::Listed { name: long(), kind: 'f', bytes: 0, mode: 0 };
    check(&FromAgent::Failed { id: 1, step: long(), errno: 1 });
    check(&FromAgent::NotStarted { id: 1, step: long(), errno: 1 });
    check(&FromAgent::Reset { id: 1, left: vec![long(), long()] });
    check(&FromAgent::Listed { id: 1, entries: vec![entry(), entry()] });
    check(&FromAgent::Data { id: 1, bytes: vec![0; 100_000] });
}

/// An agent that answers every `Hush` and `Count`, behind its stream.
fn quiet_agent() -> (From, To, JoinHandle<()>) {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (from, to) = tokio::io::split(ours);
    let agent = tokio::spawn(async move {
        let (mut stream, mut decoder) = (theirs, Decoder::new(LONGEST));
        let mut room = [0; 1024];
        while let Ok(read @ 1..) = stream.read(&mut room).await {
            decoder.push(&room[..read]);
            while let Ok(Some(message)) = decoder.take::<ToAgent>() {
                let answer = match &message {
                    ToAgent::Hush { id } => Some(FromAgent::Done { id: *id }),
                    ToAgent::Count { id } => Some(FromAgent::Counted { id: *id, processes: 7 }),
                    _ => None,
                };
                if let Some(answer) = answer {
                    let frame = encode(&answer).expect("a message");
                    stream.write_all(&frame).await.expect("the host listens");
                }
            }
        }
    });
    (Box::new(from), Box::new(to), agent)
}

/// Ends an agent, and with it its stream.
async fn end(agent: JoinHandle<()>) {
    agent.abort();
    let _aborted = agent.await;
}

#[tokio::test]
async fn an_agent_that_was_kept_goes_on_over_another_stream() {
    let (from, to, first) = quiet_agent();
    let link = Greeting::new(from, to).link();
    let mut hushed = link.hush().await.expect("it is hushed");
    end(first).await;
    let (from, to, second) = quiet_agent();
    assert!(!link.is_gone(), "an agent that is kept is not gone");
    let mut greeting = Greeting::new(from, to);
    hushed.is_heard_over(&mut greeting).await.expect("it is hushed there");
    hushed.go_on_over(greeting).await.expect("it goes on");
    let mut ask = link.open().expect("it can be asked");
    link.say(&ToAgent::Count { id: ask.id }).await.expect("it is told");
    assert_eq!(ask.next().await, Some(FromAgent::Counted { id: ask.id, processes: 7 }));
    end(second).await;
}

#[tokio::test]
async fn an_agent_whose_stream_ended_while_it_was_kept_is_gone_when_nobody_keeps_it() {
    let (from, to, first) = quiet_agent();
    let link = Greeting::new(from, to).link();
    let hushed = link.hush().await.expect("it is hushed");
    end(first).await;
    drop(hushed);
    let mut ask = match link.open() {
        Ok(ask) => ask,
        Err(why) => return assert_eq!(why, LinkError::Ended),
    };
    assert_eq!(ask.next().await, None, "whoever asks hears the end");
    assert_eq!(link.why(), LinkError::Ended);
}

#[tokio::test]
async fn whoever_gives_up_within_a_message_leaves_the_next_one_whole() {
    let (ours, mut theirs) = tokio::io::duplex(64);
    let (from, to) = tokio::io::split(ours);
    let link = Greeting::new(Box::new(from), Box::new(to)).link();
    let long = ToAgent::Input { id: 1, bytes: vec![7; 1000] };
    let given_up = tokio::time::timeout(std::time::Duration::from_millis(10), link.say(&long)).await;
    assert!(given_up.is_err(), "nobody takes it");
    let next = ToAgent::Count { id: 2 };
    let writer = link.writer();
    let said = next.clone();
    let saying = tokio::spawn(async move { writer.say(&said).await });
    let mut decoder = Decoder::new(LONGEST);
    let mut heard = Vec::new();
    while heard.len() < 2 {
        let mut room = [0; 64];
        let read = theirs.read(&mut room).await.expect("it speaks");
        decoder.push(&room[..read]);
        while let Some(message) = decoder.take::<ToAgent>().expect("whole messages") {
            heard.push(message);
        }
    }
    assert_eq!(heard, [long, next]);
    saying.await.expect("it lived").expect("said");
}
