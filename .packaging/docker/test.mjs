// The Dockerfile, carried out without Docker: started as its user, on a root that cannot be written to but for the volume,
// where there is nothing else but what the image has. It needs root, for chroot and mounts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { validate } from 'dockerfile-utils';

import { Program } from '../program.mjs';
import { build, dockerfile } from './image.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'kitebase-image-'));
let image, kitebase;

before(async () => {
  chmodSync(scratch, 0o755);
  image = build(scratch);
  kitebase = new Program([join(image.root, 'kitebase-mcp'), 'fake', '--addr', '127.0.0.1:0'], {});
  [, kitebase.url] = await kitebase.line(/fake Kitebase at (\S+)/);
});
after(async () => {
  await kitebase?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

// inside is a command in a container. Each step execs the next, so that signals reach the program.
function inside(command) {
  const { root, user, volume } = image;
  const mounts = `mount --bind "$1" "$1" && mount --bind "$1$2" "$1$2" && mount -o remount,bind,ro "$1" &&
    root=$1 && shift 2 && exec setpriv --no-new-privs chroot --userspec=${user} --groups= "$root" "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mounts, 'sh', root, volume, ...command];
}

function run(command, env = {}) {
  const [program, ...args] = inside(command);
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000,
    env: { PATH: process.env.PATH, ...image.env, ...env } });
  return { status, stdout, stderr };
}

const start = (command, env) => new Program(inside(command), { PATH: process.env.PATH, ...image.env, ...env });

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

test('the linter finds nothing', () => assert.deepEqual(validate(dockerfile), []));

test('the image is the program, certificates and an empty state folder of its user', () => {
  assert.equal(image.base, 'scratch');
  const files = readdirSync(image.root, { recursive: true }).filter((name) => !statSync(join(image.root, name)).isDirectory());
  assert.deepEqual(files.sort(), ['etc/ssl/certs/ca-certificates.crt', 'kitebase-mcp']);
  const state = statSync(join(image.root, image.volume));
  assert.equal(`${state.uid}:${state.gid}`, image.user);
  assert.equal(statSync(join(image.root, 'var/lib')).uid, 0);
  assert.doesNotMatch(image.user, /^0/);
});

test('it starts without a dynamic linker and knows its version', () => {
  const { status, stdout, stderr } = run([...image.entrypoint, 'version']);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^kitebase-mcp v0\.0\.1-check$/m);
});

test('by default it serves HTTP to other machines, and not without a token', () => {
  const { status, stderr } = run([...image.entrypoint, ...image.cmd]);
  assert.equal(status, 2);
  assert.match(stderr, /^kitebase-mcp: --addr 0\.0\.0\.0:8090 .*--http-token.*\n$/);
});

test('it serves, is healthy, and remembers in the volume what it sent', async () => {
  const env = { KITEBASE_URL: kitebase.url, KITEBASE_HTTP_TOKEN: 'tok-http', KITEBASE_ADDR: `127.0.0.1:${await freePort()}` };
  assert.equal(run(image.health, env).status, 1);
  for (const repeated of [undefined, true]) {
    const server = start([...image.entrypoint, ...image.cmd], env);
    await server.logged(/serving MCP over HTTP/);
    assert.deepEqual(run(image.health, env), { status: 0, stdout: 'ok\n', stderr: '' });
    const reply = await call(env, 'reply_to_customer', { ticket_id: 'KITE-142', message: 'Please try again now.' });
    assert.equal(reply.structuredContent?.already_sent, repeated, JSON.stringify(reply));
    assert.equal(await server.stop(), 0);
    assert.doesNotMatch(server.stderr, /ledger/);
  }
  const { emails } = await (await fetch(`${kitebase.url}/_outbox`)).json();
  assert.equal(emails.length, 1);
  assert.equal(statSync(join(image.root, image.volume, 'ledger.db')).uid, 65532);
});

async function call({ KITEBASE_ADDR, KITEBASE_HTTP_TOKEN }, name, args) {
  const post = (headers) => fetch(`http://${KITEBASE_ADDR}/mcp`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }) });
  assert.equal((await post({})).status, 401);
  return (await (await post({ Authorization: `Bearer ${KITEBASE_HTTP_TOKEN}` })).json()).result;
}

test('on stdio, as the registry entry has it started', async () => {
  const entry = JSON.parse(readFileSync(new URL('../registry/server.json', import.meta.url), 'utf8'));
  const { packageArguments, runtimeArguments } = entry.packages.find((each) => each.registryType === 'oci');
  assert.match(runtimeArguments[0].value, new RegExp(`dst=${image.volume}$`));
  const host = start([...image.entrypoint, ...packageArguments.map((argument) => argument.value)], { KITEBASE_URL: kitebase.url });
  assert.equal((await host.ask('tools/list', {})).tools.length, 5);
  assert.equal(await host.end(), 0);
});
