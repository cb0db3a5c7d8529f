// The servers under test, as processes that cannot outlive the checks.
import { spawn } from 'node:child_process';

const started = new Set();
process.on('exit', () => started.forEach((child) => child.kill('SIGKILL')));

// serve starts a process and resolves when what it writes to stream matches ready: {match, stop}. stop asks it to end and
// resolves to its exit code.
export async function serve(command, { stream, ready }) {
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  started.add(child);
  const ended = new Promise((resolve) => child.on('close', (code, signal) => {
    started.delete(child);
    resolve(code ?? signal);
  }));
  let seen = '';
  const match = await within(10_000, `${command.join(' ')} to be ready`, new Promise((resolve, reject) => {
    child.on('error', reject);
    ended.then((code) => reject(new Error(`${command.join(' ')} ended with ${code}: ${seen}`)));
    child.stdout.resume();
    child.stderr.resume();
    child[stream].on('data', (data) => {
      const found = (seen += data).match(ready);
      if (found) resolve(found[1]);
    });
  }));
  return { match, stop() {
    child.kill('SIGTERM');
    return within(10_000, `${command.join(' ')} to end`, ended);
  } };
}

// within rejects if promise takes longer than a number of milliseconds.
export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms / 1000}s for ${what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
