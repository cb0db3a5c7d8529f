// The command line of the MCP Inspector. Each request is a process, and on stdio also a server, of its own.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const launcher = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js');

// toolFailed is how the Inspector exits when the result of a tool is an error.
const toolFailed = 5;

// inspector returns a connect function, as in sdk.mjs, for an era: legacy (the handshake) or modern.
export function inspector(era, home) {
  return async (target) => {
    const ask = (request) => run([...request, '--protocol-era', era, ...where(target)], home);
    return {
      revision: era,
      list: async () => (await ask(['--method', 'tools/list'])).tools,
      call: (name, args) => ask(['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)]),
      close: async () => {},
    };
  };
}

function where(target) {
  if (target.transport === 'stdio') return ['--', ...target.command];
  const headers = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}`);
  return ['--transport', target.transport, '--server-url', target.url, '--header', ...headers];
}

async function run(args, home) {
  const child = spawn(process.execPath, [launcher, '--cli', '--format', 'json', '--quiet', ...args],
    { env: { PATH: process.env.PATH, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 25_000 });
  let out = '', err = '';
  child.stdout.on('data', (data) => { out += data; });
  child.stderr.on('data', (data) => { err += data; });
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const result = out && JSON.parse(out).result;
  if (code !== (result.isError ? toolFailed : 0)) throw new Error(`the Inspector exited with ${code}: ${err || out}`);
  return result;
}
