// The TypeScript client of the first generation. It speaks with sessions only.

import { follow, load } from "./steps.mjs";

const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
const {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} = load("@modelcontextprotocol/sdk/types.js");

let client;
let transport;

await follow({
  async connect(setup, hears) {
    const capabilities = setup.elicitation ? { elicitation: { form: {} } } : {};
    client = new Client({ name: "typescript-1", version: "1" }, { capabilities });
    if (setup.elicitation) {
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => hears.asked(params));
    }
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => hears.changed());
    client.setNotificationHandler(LoggingMessageNotificationSchema, async ({ params }) => hears.logged(params));
    transport = setup.url
      ? new StreamableHTTPClientTransport(new URL(setup.url), { requestInit: { headers: setup.headers } })
      : new StdioClientTransport({ ...setup.server, stderr: "inherit" });
    await client.connect(transport);
    if (setup.logs) await client.setLoggingLevel(setup.logs);
    // Over a pipe the class does not keep what was agreed on; the server's own word is asked for there.
    return { version: transport.protocolVersion ?? null, server: client.getServerVersion() };
  },
  list: async () => (await client.listTools()).tools,
  call: (params, options) => client.callTool(params, undefined, options),
  async close() {
    // A server that keeps sessions is told that this one is over.
    if (transport.terminateSession) await transport.terminateSession();
    await client.close();
  },
});
