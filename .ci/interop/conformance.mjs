// The official conformance suite against streamable HTTP, at every revision that it knows.
//
// It was made for reference servers, which offer dozens of test tools, prompts and resources. What only such a server can
// pass is in expected-failures.yml, one check a line, so that all other checks of the same scenario still count. The suite
// itself fails on a failure that is not listed and on a listed one that passes; here a listed one that no longer occurs
// at any revision fails too.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const suite = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const expected = fileURLToPath(new URL('expected-failures.yml', import.meta.url));

// mustPass are scenarios that a server of this kind must pass; they are named so that a suite which no longer runs them
// does not look like success.
const mustPass = {
  '2025-03-26': ['server-session-lifecycle'],
  '2025-06-18': ['server-initialize', 'ping', 'tools-list'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-sse-multiple-streams'],
  '2026-07-28': ['tools-list', 'dns-rebinding-protection', 'server-sse-multiple-streams', 'http-header-validation', 'input-required-result-unsupported-methods'],
};

export async function conformance(report, url, results) {
  const occurred = new Set();
  for (const revision of Object.keys(mustPass)) {
    const output = await report.check(`conformance ${revision}: nothing unexpected`, 90_000, () => run(revision, url, results));
    for (const [, id] of (output ?? '').matchAll(/^ {2}~ (\S+)$/gm)) occurred.add(id);
    if (output === undefined) continue;
    for (const scenario of mustPass[revision]) {
      await report.check(`conformance ${revision}: ${scenario}`, 1000, async () => {
        assert.match(output, new RegExp(`^✓ ${scenario}: [1-9]\\d* passed, 0 failed$`, 'm'));
      });
    }
  }
  await report.check('conformance: every expected failure still occurs', 1000, async () => {
    const { server } = require('yaml').parse(await readFile(expected, 'utf8'));
    assert.deepEqual(server.filter((entry) => !occurred.has(entry)), []);
  });
}

async function run(revision, url, results) {
  const args = ['server', '--url', url, '--suite', 'all', '--spec-version', revision, '--expected-failures', expected, '-o', `${results}/${revision}`];
  const child = spawn(process.execPath, [suite, ...args], { env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 80_000 });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { output += data; });
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  output = output.replaceAll(/\x1b\[[\d;]*m/g, '');
  const verdict = Math.max(0, output.search(/^(Stale baseline entries|Unexpected failures) \(/m));
  assert.equal(code, 0, output.slice(verdict));
  return output;
}
