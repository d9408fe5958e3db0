use super::*;

/// Hears one order.
async fn hear(machine: &mut UnixStream) -> u8 {
    let mut order = [0; ORDER];
    machine.read_exact(&mut order).await.expect("an order");
    order[0]
}

async fn answer(machine: &mut UnixStream, value: u64) {
    machine.write_all(&value.to_le_bytes()).await.expect("it is heard");
}

#[tokio::test]
async fn whoever_stops_waiting_for_an_answer_leaves_orders_that_work() {
    let (ours, mut machine) = UnixStream::pair().expect("a pair");
    let orders = Orders::over(ours);
    tokio::select! {
        biased;
        _ = orders.count() => panic!("nobody has answered"),
        order = hear(&mut machine) => assert_eq!(order, order::COUNT),
    }
    let next = async {
        answer(&mut machine, 1).await;
        assert_eq!(hear(&mut machine).await, order::COUNT);
        answer(&mut machine, 2).await;
    };
    assert_eq!(tokio::join!(orders.count(), next).0, Some(2));
}

#[tokio::test(start_paused = true)]
async fn one_that_answers_late_is_given_orders_again_then_and_its_stream_stays() {
    let (ours, mut machine) = UnixStream::pair().expect("a pair");
    let orders = Orders::over(ours);
    assert_eq!(orders.count().await, None);
    assert_eq!(hear(&mut machine).await, order::COUNT);
    // Nothing is asked before that was answered.
    assert_eq!(orders.hush().await.expect_err("refused"), "its first process did not answer before");
    answer(&mut machine, 1).await;
    while orders.0.owed.load(Ordering::Acquire) > 0 {
        tokio::task::yield_now().await;
    }
    let (counted, ()) = tokio::join!(orders.count(), async {
        assert_eq!(hear(&mut machine).await, order::COUNT);
        answer(&mut machine, 2).await;
    });
    assert_eq!(counted, Some(2));
}
