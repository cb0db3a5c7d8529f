// Installs the bundle that the variable BUNDLE names, as a host does, and speaks to what it starts. Settings are put in by the
// code of the official library, against a fake Kitebase that asks for a token.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { getMcpConfigForManifest, unpackExtension, validateManifest } from '@anthropic-ai/mcpb';

import { Program } from '../program.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'kitebase mcpb ')); // hosts have spaces in their paths
const extension = join(scratch, 'Claude Extensions', 'kitebase-mcp');
const server = join(extension, 'server');
const here = join(server, `kitebase-mcp-linux-${{ x64: 'amd64', arm64: 'arm64' }[process.arch]}`);
let manifest;

before(async () => {
  assert.ok(await unpackExtension({ mcpbPath: process.env.BUNDLE, outputDir: extension, silent: true }));
  manifest = JSON.parse(readFileSync(join(extension, 'manifest.json'), 'utf8'));
});
after(() => rmSync(scratch, { recursive: true, force: true }));

// install returns the command by which a host starts the server. systemDirs are those of the specification.
async function install(userConfig) {
  const config = await getMcpConfigForManifest({
    manifest, extensionPath: extension, systemDirs: { HOME: scratch }, userConfig, pathSeparator: '/',
  });
  return { command: [config.command, ...config.args], env: { PATH: process.env.PATH, HOME: scratch, ...config.env } };
}

async function startFake(...args) {
  const fake = new Program([here, 'fake', '--addr', '127.0.0.1:0', ...args], { PATH: process.env.PATH });
  const [, url] = await fake.line(/fake Kitebase at (\S+)/);
  return { url, stop: () => fake.stop() };
}

test('the manifest is valid', () => assert.ok(validateManifest(join(extension, 'manifest.json'))));

test('the bundle has what the manifest names, for every system', () => {
  assert.deepEqual(readdirSync(server).sort(), ['kitebase-mcp-darwin-amd64', 'kitebase-mcp-darwin-arm64',
    'kitebase-mcp-linux-amd64', 'kitebase-mcp-linux-arm64', 'kitebase-mcp-windows-amd64.exe', 'start']);
  const { entry_point, mcp_config } = manifest.server;
  for (const path of [entry_point, mcp_config.args[0], mcp_config.platform_overrides.win32.command]) {
    readFileSync(join(extension, path.replace('${__dirname}/', '')));
  }
  for (const [name, magic] of [['darwin-amd64', 'cffaedfe'], ['darwin-arm64', 'cffaedfe'], ['linux-arm64', '7f454c46'], ['windows-amd64.exe', '4d5a']]) {
    const head = readFileSync(join(server, `kitebase-mcp-${name}`)).subarray(0, magic.length / 2);
    assert.equal(head.toString('hex'), magic, name);
  }
});

test('with address, token and attempts of the user', async () => {
  const fake = await startFake('--token', 'tok-desktop', '--fault', 'search_help=drop');
  const host = new Program(...Object.values(await install({ url: fake.url, token: 'tok-desktop', attempts: 1 })));
  const hello = await host.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } });
  assert.equal(hello.serverInfo.version, `v${manifest.version}`);
  host.tell('notifications/initialized');
  const { tools } = await host.ask('tools/list', {});
  assert.deepEqual(tools.map((tool) => tool.name).sort(), manifest.tools.map((tool) => tool.name).sort());
  assert.equal(tools.length, 5);
  for (const { name, description } of manifest.tools) assert.equal(tools.find((tool) => tool.name === name).description, description);
  const ticket = await host.call('get_ticket', { ticket_id: 'KITE-142' });
  assert.equal(ticket.structuredContent?.id, 'KITE-142', ticket.content[0].text);
  const help = await host.call('search_help', { query: 'sso' });
  assert.match(help.content[0].text, /failed after 1 try/);
  assert.equal(await host.end(), 0);
  const stranger = new Program(...Object.values(await install({ url: fake.url, token: 'other' })));
  assert.match((await stranger.call('get_ticket', { ticket_id: 'KITE-142' })).content[0].text, /refused the access token/);
  assert.equal(await stranger.end(), 0);
  assert.equal(await fake.stop(), 0);
});

for (const [name, settings] of Object.entries({
  'nothing filled in': {}, 'everything blank': { url: '', token: '', attempts: '' },
})) {
  test(`with ${name}: the embedded fake`, async () => {
    const host = new Program(...Object.values(await install(settings)));
    assert.equal((await host.call('get_ticket', { ticket_id: 'KITE-142' })).structuredContent.id, 'KITE-142');
    assert.equal(await host.end(), 0);
    assert.match(host.stderr, /embedded fake/);
  });
}

// Claude Desktop on macOS has unpacked bundles with mode 0600 throughout.
test('when the host dropped the mode bits', async () => {
  for (const file of readdirSync(server)) chmodSync(join(server, file), 0o600);
  const host = new Program(...Object.values(await install({})));
  assert.equal((await host.ask('tools/list', {})).tools.length, 5);
  assert.equal(await host.end(), 0);
});
