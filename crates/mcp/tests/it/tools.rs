//! The tools that the tests publish.

/// Adds two numbers.
pub(crate) const ADD: &str = "
name: add
title: Add
description: Adds two whole numbers and gives their sum.
params:
  - {name: a, type: INTEGER, required: true, description: The first number, testValue: 40}
  - {name: b, type: INTEGER, required: true, description: The second number, testValue: 2}
output: {type: integer}
code: return a + b;
";

/// Gives an object.
pub(crate) const GREET: &str = "
name: greet
description: Greets somebody by their name.
params:
  - {name: who, type: STRING, required: true, description: Whom to greet, testValue: Ada}
output: {type: object, required: [hello], properties: {hello: {type: string}}}
code: 'return {hello: who};'
";

/// Leaves a file of its own behind each time it runs, so that it can be counted; a person has to agree.
pub(crate) const WRITES: &str = "
name: writes
description: Writes a number into a file, if a person agrees.
params:
  - {name: n, type: INTEGER, required: true, description: A number, testValue: 1}
  - {name: m, type: INTEGER, default: 5, description: Another number}
overrides: {fileWrite: true}
approval: {mode: REQUIRED}
code: |
  safety.fs.writeText(`ran-${Math.random()}.txt`, `${n} ${m}`);
  return n;
";

/// Takes a while.
pub(crate) const WAIT: &str = "
name: wait
description: Waits for a while.
params:
  - {name: ms, type: INTEGER, required: true, description: How long, testValue: 1}
overrides: {addAllow: [timers], removeDeny: [timers]}
limits: {wall: 25s}
code: |
  console.log('begun');
  await new Promise((done) => setTimeout(done, ms));
  return 'done';
";

/// Says something at every level.
pub(crate) const TALKS: &str = "
name: talks
description: Says a line at every level of the console.
code: |
  console.debug('a debug line');
  console.log('a plain line');
  console.info('an info line');
  console.warn('a warning');
  console.error('an error');
  return 'said';
";

/// Fails in the way that it is told.
pub(crate) const FAILS: &str = "
name: fails
description: Fails as it is told.
params:
  - {name: how, type: STRING, required: true, description: How to fail, testValue: not}
code: |
  if (how === 'throw') throw new Error('it went wrong');
  if (how === 'loop') for (;;) {}
  return how;
";

/// Reaches whatever host it is told; one of them is declared.
pub(crate) const FETCHES: &str = "
name: fetches
description: Fetches from a host by its name.
params:
  - {name: host, type: STRING, required: true, description: The host, testValue: api.example.com}
overrides: {network: allowlist, hosts: [api.example.com]}
approval: {mode: DISABLED}
tests:
  - name: fetches
    input: {host: api.example.com}
    http: [{request: {url: 'https://api.example.com/'}, response: {json: 7}}]
    equals: 7
code: 'return (await fetch(`https://${host}/`)).json();'
";

/// Asks while it runs.
pub(crate) const NOTES: &str = "
name: notes
description: Reads a file back that it wrote, if a person agrees.
overrides: {fileWrite: true, fileRead: true, ask: {fs: first}}
approval: {mode: DISABLED}
tests:
  - {name: reads, input: {}, files: {notes.txt: hello}, equals: hello}
code: return safety.fs.readText('notes.txt')
";
