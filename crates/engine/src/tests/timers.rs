//! Timers, and waiting for what never comes.

use bailiwick_wire::{Entry, TroubleKind};

use super::{fails, gives, job, trouble, trouble_of};

#[test]
fn timers_fire_in_the_order_of_their_time() {
    gives(
        "const seen = []; await new Promise(done => {
           setTimeout(() => { seen.push('c'); done() }, 30); setTimeout(() => seen.push('b'), 20);
           setTimeout(() => seen.push('a1'), 10); setTimeout(() => seen.push('a2'), 10); setTimeout((...x) => seen.push(x), 0, 1, 2) });
         return seen",
        r#"[[1,2],"a1","a2","b","c"]"#,
    );
    gives("return await new Promise(done => setTimeout(done, 5, 'given'))", r#""given""#);
    gives(
        "let n = 0; await new Promise(done => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); done() } }, 10) }); return n",
        "3",
    );
    gives(
        "const id = setTimeout(() => { throw 1 }, 1); clearTimeout(id); clearTimeout(id); clearTimeout(); clearTimeout('x'); await new Promise(d => setTimeout(d, 10)); return typeof id",
        r#""number""#,
    );
    gives(
        "const s = []; setTimeout(() => s.push('timer'), 0); Promise.resolve().then(() => s.push('job')); await new Promise(d => setTimeout(d, 5)); return s",
        r#"["job","timer"]"#,
    );
}

#[test]
fn timers_pass_time() {
    gives(
        "const ids = []; for (let i = 0; i < 100; i++) ids.push(setTimeout(() => {}, 100 - i)); await new Promise(d => setTimeout(d, 200)); return ids.length",
        "100",
    );
    gives("setTimeout(() => { throw new Error('after the end') }, 1000); return 'done'", r#""done""#);
    gives("setInterval(() => {}, 1); return 1", "1");
}

#[test]
fn an_error_in_a_timer_ends_the_call() {
    let told = trouble("setTimeout(() => { throw new Error('boom') }, 1); await new Promise(() => {})");
    assert_eq!((told.kind, told.message.as_str()), (TroubleKind::Threw, "Error: boom"));
    assert_eq!(
        trouble("setTimeout('code', 1)").message,
        "TypeError: The \"callback\" argument must be of type function."
    );
}

#[test]
fn waiting_ends_at_the_wall_clock_limit() {
    let mut body = job(Entry::Body, "await new Promise(d => setTimeout(d, 1e6))");
    body.limits.wall_ms = 2_000;
    assert_eq!(trouble_of(body).kind, TroubleKind::Wall);
    let mut body = job(Entry::Body, "setInterval(() => {}, 100); await new Promise(() => {})");
    body.limits.wall_ms = 2_000;
    assert_eq!(trouble_of(body).kind, TroubleKind::Wall);
}

#[test]
fn a_promise_that_nothing_can_settle_is_a_deadlock() {
    fails("await new Promise(() => {})", TroubleKind::Deadlock);
    fails("await { then() {} }", TroubleKind::Deadlock);
    fails("return new Promise(() => {})", TroubleKind::Deadlock);
    fails(
        "const id = setTimeout(() => {}, 5); clearTimeout(id); await new Promise(() => {})",
        TroubleKind::Deadlock,
    );
    assert_eq!(
        trouble("await new Promise(() => {})").message,
        "the code waits for a promise that nothing can ever settle"
    );
}

#[test]
fn a_rejection_that_nobody_awaits_is_ignored() {
    gives("Promise.reject(new Error('unseen')); (async () => { throw 1 })(); return 'fine'", r#""fine""#);
}
