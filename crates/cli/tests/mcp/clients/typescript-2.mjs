// The TypeScript client of the second generation, in the era that the test names.

import { follow, load } from "./steps.mjs";

const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");

/** Where a request says from which level on it wants to hear the console. */
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

let client;
let meta = {};

await follow({
  async connect(setup, hears) {
    const capabilities = setup.elicitation ? { elicitation: { form: {} } } : {};
    const mode = setup.era === "stateless" ? "auto" : "legacy";
    client = new Client(
      { name: "typescript-2", version: "2" },
      {
        capabilities,
        versionNegotiation: { mode },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => hears.changed() } },
      },
    );
    if (setup.elicitation) {
      client.setRequestHandler("elicitation/create", async ({ params }) => hears.asked(params));
    }
    client.setNotificationHandler("notifications/message", async ({ params }) => hears.logged(params));
    const transport = setup.url
      ? new StreamableHTTPClientTransport(new URL(setup.url), { requestInit: { headers: setup.headers } })
      : new StdioClientTransport({ ...setup.server, stderr: "inherit" });
    await client.connect(transport);
    if (setup.logs && setup.era === "stateless") meta = { [LOG_LEVEL]: setup.logs };
    else if (setup.logs) await client.setLoggingLevel(setup.logs);
    return { version: client.getNegotiatedProtocolVersion(), server: client.getServerVersion() };
  },
  list: async () => (await client.listTools()).tools,
  call: (params, options) => client.callTool({ ...params, _meta: meta }, options),
  close: () => client.close(),
});
