// The MCP server unguarded on the TypeScript SDK: stdio, five tools, node:http with kept connections, which is faster than
// fetch. It takes Kitebase from KITEBASE_URL and KITEBASE_TOKEN. It is there to be compared with.
import http from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const base = new URL(process.env.KITEBASE_URL);
const token = process.env.KITEBASE_TOKEN ?? '';
const agent = new http.Agent({ keepAlive: true });

function request(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` };
    const content = body && JSON.stringify(body);
    if (content) Object.assign(headers, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) });
    const sent = http.request({ hostname: base.hostname, port: base.port, method, path, agent, headers, timeout: 10_000 }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode >= 300) reject(new Error(`Kitebase answered ${response.statusCode}: ${text}`));
        else resolve(JSON.parse(text));
      });
    });
    sent.on('timeout', () => sent.destroy(new Error('no response after 10 s')));
    sent.on('error', reject);
    sent.end(content);
  });
}

const server = new McpServer({ name: 'typescript', version: '1' });

// tool registers one tool; what it returns is shown as text and as structured content, as by the servers in Go.
function tool(name, description, inputSchema, annotations, call) {
  server.registerTool(name, { description, inputSchema, annotations }, async (input) => {
    const answer = await call(input);
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
  });
}

const read = { readOnlyHint: true };
const id = z.string().describe('Ticket id, such as KITE-142');
const query = z.string().describe('Words to search for');
const at = (ticket) => `/v1/tickets/${encodeURIComponent(ticket)}`;

tool('search_help', 'Search the help center', { query }, read,
  (input) => request('GET', `/v1/help/search?${new URLSearchParams(input)}`));
tool('get_ticket', 'Get a ticket with its messages', { ticket_id: id }, read,
  (input) => request('GET', at(input.ticket_id)));
tool('search_tickets', 'Search tickets', { query, status: z.string().optional().describe('Only tickets of this status') }, read,
  (input) => request('GET', `/v1/tickets?${new URLSearchParams(input)}`));
tool('assign_ticket', 'Assign a ticket to an agent', { ticket_id: id, assignee: z.string().describe('Name of the agent') }, {},
  (input) => request('PUT', `${at(input.ticket_id)}/assignee`, { assignee: input.assignee }));
tool('reply_to_customer', 'Send a reply to the customer of a ticket', { ticket_id: id, message: z.string().describe('Text of the reply') }, {},
  (input) => request('POST', `${at(input.ticket_id)}/replies`, { message: input.message }));

await server.connect(new StdioServerTransport());
