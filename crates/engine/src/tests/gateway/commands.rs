//! `sandbox.exec`: what is asked of the world, and what comes back.

use bailiwick_types::{Answer, ErrorCode, ExecRequest};
use bailiwick_wire::{Given, Reply};

use super::{granted, refused, rows, world};
use crate::tests::run_in;

/// Says what was asked, as a command that ended well would.
pub(super) fn answer(request: &ExecRequest) -> Reply {
    let ExecRequest { argv, stdin, env, timeout_ms } = request;
    if argv.first().is_some_and(|program| program == "refuse") {
        return refused(ErrorCode::Unenforceable, "unenforceable");
    }
    let said = format!("{argv:?} {:?} {env:?} {timeout_ms:?}", String::from_utf8_lossy(&stdin.0));
    let said = said.replace('\\', "/").replace('"', "'");
    Reply::Given(Answer::Executed(format!("{{\"exitCode\":0,\"stdout\":\"{said}\"}}")))
}

#[test]
fn a_command_asks_for_what_it_was_given() {
    rows(
        "const run = async (...given) => (await sandbox.exec(...given)).stdout",
        &[
            ("(await sandbox.exec(['ls'])).exitCode", "0"),
            ("run(['ls', '-l', 'a b'])", r#""['ls', '-l', 'a b'] '' [] None""#),
            ("run(['cat'], { stdin: 'é' })", r#""['cat'] 'é' [] None""#),
            ("run(['x', '\\ud800'])", r#""['x', '�'] '' [] None""#),
            (
                "run(['x'], { env: { A: '1', B: '' }, timeoutMs: 7 })",
                r#""['x'] '' [('A', '1'), ('B', '')] Some(7)""#,
            ),
            ("run(['x'], { env: null, stdin: undefined })", r#""['x'] '' [] None""#),
            ("sandbox.exec('ls -l')", "!TypeError: sandbox.exec: the command must be an array of strings"),
            ("sandbox.exec([])", "!RangeError: sandbox.exec: a command has from 1"),
            ("sandbox.exec(['ls', 7])", "!TypeError: sandbox.exec: each word must be a string"),
            ("sandbox.exec(['ls'], 7)", "!TypeError: sandbox.exec: the options must be an object"),
            ("sandbox.exec(['ls'], { stdin: 7 })", "!TypeError: sandbox.exec: stdin must be a string"),
            ("sandbox.exec(['ls'], { env: { A: 7 } })", "!TypeError: sandbox.exec: each value of env"),
            ("sandbox.exec(['ls'], { timeoutMs: 0 })", "!RangeError: sandbox.exec: timeoutMs"),
            ("sandbox.exec(new Array(9000))", "!RangeError: sandbox.exec: a command has from 1"),
            ("sandbox.exec(['refuse'])", "!Error: "),
            (
                "(async () => { try { await sandbox.exec(['refuse']) } catch (e) { return [e.code, e.reason] } })()",
                r#"["UNENFORCEABLE","unenforceable"]"#,
            ),
            ("[sandbox.exec.name, sandbox.exec.length, Object.keys(sandbox)]", r#"["exec",1,["exec"]]"#),
            ("(() => { try { new sandbox.exec([]) } catch (e) { return e.name } })()", r#""TypeError""#),
        ],
    );
}

#[test]
fn what_is_not_granted_is_not_there() {
    let report = run_in(granted("return typeof sandbox", &[]), &world());
    assert!(matches!(&report.given, Given::Value(value) if value.contains("undefined")), "{report:?}");
    let report = run_in(granted("return typeof sandbox.exec", &["sandbox.exec"]), &world());
    assert!(matches!(&report.given, Given::Value(value) if value.contains("function")), "{report:?}");
}

#[test]
fn a_guest_that_patches_everything_hands_over_what_it_said() {
    rows(
        "Array.prototype[Symbol.iterator] = () => { throw 1 };
         Object.defineProperty(Object.prototype, 'stdin', { get: () => 'slipped in', configurable: true });
         Array.isArray = () => true; Promise.prototype.then_ = 1;
         const run = async (given, options) => (await sandbox.exec(given, options)).stdout",
        &[
            ("run(['a'])", r#""['a'] '' [] None""#),
            ("run(['a'], { __proto__: null, timeoutMs: 3 })", r#""['a'] '' [] Some(3)""#),
        ],
    );
}
