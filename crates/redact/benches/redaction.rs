//! How fast text is redacted with a hundred secrets, and what learning them costs.
//!
//! The secrets are what people store: tokens of 20 to 40 characters, half of them with the
//! characters that make disguises differ. The text is what programs log. Both come from a fixed seed.

#![expect(clippy::expect_used, reason = "a benchmark that cannot build its subject has nothing to measure")]

use std::fmt::Write;

use bailiwick_redact::{Redactor, Secret};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

const SECRETS: usize = 100;
const TEXT: usize = 1 << 20;
const CHUNK: usize = 4096;

fn main() {
    divan::main();
}

#[divan::bench]
fn clean_text_in_one_shot(bencher: Bencher<'_, '_>) {
    let text = log(&[], usize::MAX);
    let redactor = redactor();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(black_box(&text)).len());
}

#[divan::bench]
fn text_with_a_hit_each_hundred_lines(bencher: Bencher<'_, '_>) {
    let text = log(&tokens(), 100);
    let redactor = redactor();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(black_box(&text)).len());
}

#[divan::bench]
fn text_with_a_hit_each_line(bencher: Bencher<'_, '_>) {
    let text = log(&tokens(), 1);
    let redactor = redactor();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(black_box(&text)).len());
}

#[divan::bench]
fn stream_in_chunks_of_4_kib(bencher: Bencher<'_, '_>) {
    let text = log(&tokens(), 100);
    let redactor = redactor();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut stream = redactor.stream();
        let mut out = Vec::with_capacity(text.len());
        for chunk in black_box(&text).as_bytes().chunks(CHUNK) {
            stream.push(chunk, &mut out);
        }
        stream.finish(&mut out);
        out.len()
    });
}

/// Three private keys are too much for a table, so this is the compact automaton.
#[divan::bench]
fn clean_text_with_three_private_keys(bencher: Bencher<'_, '_>) {
    let text = log(&[], usize::MAX);
    let tokens = tokens();
    let keys = tokens.chunks(SECRETS / 3).map(|lines| Secret::new(lines.join("\n")));
    let redactor = Redactor::new(&keys.collect::<Vec<_>>()).expect("the secrets are ordinary");
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(black_box(&text)).len());
}

/// JSON within JSON: an escape each few bytes, as a tool's result often is.
#[divan::bench]
fn clean_json_within_json(bencher: Bencher<'_, '_>) {
    let text = log(&[], usize::MAX).replace('"', "\\\"").replace('\n', "\\n").replace('/', "\\/");
    let redactor = redactor();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(black_box(&text)).len());
}

/// Made to be slow: nothing but what escapes begin with.
#[divan::bench(args = [
    "\\", "\\u005c", "\\\\u005c", "&", "&#", "&amp;", "%", "%25", "%2525", "=", "=3D", "+",
])]
fn hostile_text(bencher: Bencher<'_, '_>, piece: &str) {
    let text = piece.repeat(TEXT / piece.len());
    let redactor = redactor();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(black_box(&text)).len());
}

/// The same at random: what escapes begin with, and what they consist of.
#[divan::bench(args = ["\\&%=+", "\\u05c&%2=3D+amp;#"])]
fn hostile_mix(bencher: Bencher<'_, '_>, letters: &str) {
    let mut dice = Dice(0xbad);
    let text: String = (0..TEXT).map(|_| char::from(dice.pick(letters.as_bytes()))).collect();
    let redactor = redactor();
    bencher.counter(BytesCount::of_str(&text)).bench(|| redactor.redact(black_box(&text)).len());
}

#[divan::bench]
fn learning_a_hundred_secrets(bencher: Bencher<'_, '_>) {
    let secrets = secrets();
    bencher.bench(|| Redactor::new(black_box(&secrets)).expect("the secrets are ordinary"));
}

fn redactor() -> Redactor {
    Redactor::new(&secrets()).expect("the secrets are ordinary")
}

fn secrets() -> Vec<Secret> {
    tokens().into_iter().map(Secret::new).collect()
}

fn tokens() -> Vec<String> {
    const PLAIN: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const NASTY: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=!$%&";
    const PREFIXES: [&str; 5] = ["ghp_", "sk-", "xoxb-", "AKIA", ""];
    let mut dice = Dice(0x5eed);
    (0..SECRETS)
        .map(|index| {
            let alphabet = if index % 2 == 1 { NASTY } else { PLAIN };
            let length = 20 + dice.below(21);
            let prefix = PREFIXES.into_iter().cycle().nth(index).unwrap_or_default();
            let random = std::iter::repeat_with(|| char::from(dice.pick(alphabet)));
            prefix.chars().chain(random).take(length).collect()
        })
        .collect()
}

/// Log lines, with a token in the first of each `every` lines.
fn log(tokens: &[String], every: usize) -> String {
    const LEVELS: [&str; 4] = ["INFO", "DEBUG", "WARN", "ERROR"];
    const EVENTS: [&str; 6] = [
        "GET /api/v2/repositories/bailiwick/issues?state=open&page=3 -> 200",
        "connection to upstream closed after 3 retries, backing off",
        "tool call finished: {\"ok\":true,\"rows\":128,\"cursor\":\"eyJvZmZzZXQiOjEyOH0\"}",
        "cache miss for key user:profile:settings, loading from the database",
        "wrote 8192 bytes to /var/lib/service/workspace/report.csv",
        "the quick brown fox jumps over the lazy dog; nothing to see here",
    ];
    let mut dice = Dice(0xcafe);
    let mut text = String::with_capacity(TEXT + 512);
    let mut line = 0_usize;
    while text.len() < TEXT {
        let token = match tokens.get(dice.below(tokens.len().max(1))) {
            Some(token) if line.is_multiple_of(every) => token.as_str(),
            _ => "-",
        };
        let (level, event) = (dice.pick(&LEVELS), dice.pick(&EVENTS));
        let (millis, request, took) = (dice.below(1000), dice.next(), dice.below(5000));
        let second = line % 60;
        writeln!(
            text,
            "2031-05-17T08:14:{second:02}.{millis:03}Z {level} request={request:016x} {event} auth={token} {took}us"
        )
        .expect("a string takes all that is written");
        line += 1;
    }
    text
}

/// A small generator of numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 27)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or_default() % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let index = self.below(from.len());
        *from.get(index).expect("the index is below the length")
    }
}
