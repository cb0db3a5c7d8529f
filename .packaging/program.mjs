// A program under test that cannot outlive the tests, and JSON-RPC with it, one message a line.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const patience = 30_000; // in milliseconds
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export class Program {
  stderr = '';
  #child;
  #ended;
  #lines = [];
  #waiting = new Set();
  #lastID = 0;

  // env is the whole environment. options are those of spawn.
  constructor(command, env, options = {}) {
    this.#child = spawn(command[0], command.slice(1), { env, cwd: '/', ...options });
    running.add(this.#child);
    this.#ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', (code, signal) => {
        running.delete(this.#child);
        resolve(code ?? signal);
      });
    });
    this.#ended.catch(() => {}); // told by whoever waits
    this.#child.stderr.on('data', (text) => { this.stderr += text; this.#look(); });
    createInterface({ input: this.#child.stdout }).on('line', (line) => { this.#lines.push(line); this.#look(); });
  }

  #look() {
    for (const each of this.#waiting) each();
  }

  // #until resolves to what find returns as soon as that is not undefined.
  async #until(find, what) {
    let timer, look;
    const found = new Promise((resolve, reject) => {
      const fail = (why) => reject(new Error(`${why} before ${what}: ${this.stderr}`));
      look = () => { const got = find(); if (got !== undefined) resolve(got); };
      this.#waiting.add(look);
      timer = setTimeout(() => fail('the time was over'), patience);
      this.#ended.then((code) => { look(); fail(`the program ended with ${code}`); }, reject);
      look();
    });
    return found.finally(() => { clearTimeout(timer); this.#waiting.delete(look); });
  }

  // line waits for a line on standard output, logged waits for text on standard error; they return the match.
  line(pattern) { return this.#until(() => this.#lines.map((line) => line.match(pattern)).find(Boolean), `a line like ${pattern}`); }
  logged(pattern) { return this.#until(() => this.stderr.match(pattern) ?? undefined, `a log like ${pattern}`); }

  tell(method, params = {}, id) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  }

  // ask returns the result of a request.
  async ask(method, params) {
    const id = ++this.#lastID;
    this.tell(method, params, id);
    const answer = await this.#until(() => this.#lines.map((line) => JSON.parse(line)).find((message) => message.id === id), `the answer to ${method}`);
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  call(name, args) { return this.ask('tools/call', { name, arguments: args }); }

  // end closes the input, stop sends SIGTERM, ended waits; they resolve to the exit code, or to the signal that ended the
  // program: SIGKILL if it did not go in time.
  end() { this.#child.stdin.end(); return this.ended(); }
  stop() { this.#child.kill('SIGTERM'); return this.ended(); }
  async ended() {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patience);
    return this.#ended.finally(() => clearTimeout(timer));
  }
}
