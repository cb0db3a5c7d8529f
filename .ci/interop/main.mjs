// Every client on every transport, then the conformance suite.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { cases, checkOneEmail, checkTools } from './cases.mjs';
import { conformance } from './conformance.mjs';
import { inspector } from './inspector.mjs';
import { serve } from './process.mjs';
import { Report } from './report.mjs';
import { sdkV1, sdkV2 } from './sdk.mjs';

const limit = 30_000; // of one check, in milliseconds
const token = 'interop-token';
const scratch = mkdtempSync(join(tmpdir(), 'interop-'));
const binary = join(scratch, 'kitebase-mcp');
const ledger = ['--ledger', join(scratch, 'ledger.db')]; // one for all, as on a user's machine
const report = new Report();

process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1)); // or no exit handler would run

// clients: name, connect function, and the revision or era that each transport must bring about.
const clients = [
  ['TypeScript SDK 1', sdkV1, { stdio: '2025-11-25', http: '2025-11-25', sse: '2025-11-25' }],
  ['TypeScript SDK 2', sdkV2, { stdio: '2026-07-28', http: '2026-07-28', sse: '2026-07-28' }],
  ['Inspector', inspector('legacy', scratch), { stdio: 'legacy', http: 'legacy', sse: 'legacy' }],
  ['Inspector', inspector('modern', scratch), { stdio: 'modern', http: 'modern' }],
];

let lastMissing = 9000; // above all tickets of the fake

async function checkClient(name, connect, target, revision, kitebase) {
  const title = `${name}, ${revision}, ${target.transport}`;
  const connection = await report.check(`${title}: connects`, limit, async () => {
    const connection = await connect(target);
    assert.equal(connection.revision, revision);
    return connection;
  });
  if (!connection) return;
  await report.check(`${title}: lists the five tools`, limit, async () => checkTools(await connection.list()));
  const message = `Sent by ${title}.`;
  const missing = `KITE-${++lastMissing}`;
  for (const { name, tool, args, judge } of cases({ message, missing })) {
    await report.check(`${title}: ${name}`, limit, async () => judge(await connection.call(tool, args)));
  }
  await report.check(`${title}: one email`, limit, () => checkOneEmail(kitebase, message));
  await report.check(`${title}: closes`, limit, () => connection.close());
}

async function main() {
  execFileSync('go', ['build', '-o', binary, './cmd/kitebase-mcp'],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), stdio: ['ignore', 'ignore', 'inherit'] });
  const serveHTTP = (...more) => serve([binary, '--transport', 'http', '--addr', '127.0.0.1:0', ...ledger, ...more],
    { stream: 'stderr', ready: /"streamable":"([^"]+)\/mcp"/ });
  const kitebase = await serve([binary, 'fake', '--addr', '127.0.0.1:0'], { stream: 'stdout', ready: /fake Kitebase at (\S+)/ });
  const web = await serveHTTP('--url', kitebase.match, '--http-token', token);
  const open = await serveHTTP('--url', kitebase.match); // the conformance suite can send no token

  const headers = { Authorization: `Bearer ${token}` };
  const targets = {
    stdio: { transport: 'stdio', command: [binary, '--url', kitebase.match, ...ledger] },
    http: { transport: 'http', url: `${web.match}/mcp`, headers },
    sse: { transport: 'sse', url: `${web.match}/sse`, headers },
  };
  for (const [name, connect, revisions] of clients) {
    for (const [transport, revision] of Object.entries(revisions)) {
      await checkClient(name, connect, targets[transport], revision, kitebase.match);
    }
  }
  await conformance(report, `${open.match}/mcp`, scratch);
  for (const [name, server] of Object.entries({ 'server for clients': web, 'server for conformance': open, fake: kitebase })) {
    await report.check(`the ${name} ends with 0`, limit, async () => assert.equal(await server.stop(), 0));
  }
}

try {
  await main();
} catch (error) {
  await report.check('the checks could be run', limit, () => Promise.reject(error));
}
process.exit(report.end() ? 0 : 1);
