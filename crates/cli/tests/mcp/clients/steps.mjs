// What the test asks a client to do: one JSON object a line on stdin, one answer a line on stdout.
//
// A client is an object with `connect(setup, hears)`, `list()`, `call(params, options)` and `close()`. Everything that
// the server says by itself comes in through `hears`. It must never hide a failure: what a client throws is what the
// test reads.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const setup = JSON.parse(process.argv[2]);

/** Loads a package from the folder that the programs are installed in. */
export const load = createRequire(`${setup.programs}/package.json`);

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const told = (error) => ({ failed: { name: error.name, code: error.code, message: error.message, data: error.data } });

/** Something that is heard again and again, and waited for. */
class Heard {
  all = [];
  #waits = [];

  hear(one) {
    this.all.push(one);
    for (const wake of this.#waits.splice(0)) wake();
  }

  async next() {
    while (this.all.length === 0) await new Promise((wake) => this.#waits.push(wake));
    return this.all.shift();
  }
}

export async function follow(client) {
  const progress = new Heard();
  const changes = new Heard();
  const logs = new Heard();
  const asked = [];
  let answer = { action: "cancel" };
  let begun = null;

  const hears = {
    progress: (one) => progress.hear(one),
    changed: () => changes.hear(true),
    logged: (one) => logs.hear(one),
    asked: (question) => {
      asked.push(question);
      return answer;
    },
  };

  const begin = ({ name, arguments: given }) => {
    const abort = new AbortController();
    const options = { signal: abort.signal, onprogress: hears.progress, resetTimeoutOnProgress: true };
    const ends = client.call({ name, arguments: given }, options).then((called) => ({ called }), told);
    return { abort, ends };
  };

  const steps = {
    list: async () => ({ listed: await client.list() }),
    call: async (step) => begin(step).ends,
    begin: async (step) => {
      begun = begin(step);
      return { began: step.name };
    },
    finish: async () => begun.ends,
    cancel: async () => {
      begun.abort.abort("the test wants no more of it");
      return { cancelled: await begun.ends };
    },
    progress: async () => ({ progress: await progress.next() }),
    changed: async () => ({ changed: await changes.next() }),
    answer: async ({ with: next }) => {
      answer = next;
      return { answers: next.action };
    },
    asked: async () => ({ asked: asked.splice(0) }),
    logged: async () => ({ logged: await logs.next() }),
  };

  try {
    say({ connected: await client.connect(setup, hears) });
  } catch (error) {
    say(told(error));
    process.exit(1);
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const step = JSON.parse(line);
    try {
      say(await steps[step.do](step));
    } catch (error) {
      say(told(error));
    }
  }
  await client.close();
}
