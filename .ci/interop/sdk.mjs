// The two lines of the MCP TypeScript SDK, each as a connect function: it takes a target (see main.mjs) and returns a
// connection with revision, list, call and close.
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SSEv1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HTTPv1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, SSEClientTransport as SSEv2, StreamableHTTPClientTransport as HTTPv2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';

const info = { name: 'interop', version: '1.0.0' };

export function sdkV1(target) {
  return connect(new ClientV1(info), target, { stdio: StdioV1, http: HTTPv1, sse: SSEv1 });
}

// sdkV2 asks for the newest revision and takes an older one where the transport has no newer.
export function sdkV2(target) {
  return connect(new ClientV2(info, { versionNegotiation: { mode: 'auto' } }), target, { stdio: StdioV2, http: HTTPv2, sse: SSEv2 });
}

async function connect(client, target, transports) {
  const Transport = transports[target.transport];
  const transport = target.transport === 'stdio'
    ? new Transport({ command: target.command[0], args: target.command.slice(1), stderr: 'ignore' })
    : new Transport(new URL(target.url), { requestInit: { headers: target.headers } });
  // The first line of the SDK tells its transport the revision, the second can be asked for it.
  let revision;
  const told = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    told?.(version);
  };
  await client.connect(transport);
  return {
    revision: client.getNegotiatedProtocolVersion?.() ?? revision,
    // The SDK keeps the output schemas of what it lists and throws if a later result does not fit.
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}
