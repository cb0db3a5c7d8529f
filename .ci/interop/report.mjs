// One line a check, and the sum.
import { within } from './process.mjs';

export class Report {
  passed = 0;
  failed = 0;

  // check runs one check of at most limit milliseconds, and returns what it returns, undefined if it fails.
  async check(name, limit, work) {
    try {
      const value = await within(limit, name, work());
      this.passed++;
      console.log(`ok    ${name}`);
      return value;
    } catch (error) {
      this.failed++;
      console.log(`FAIL  ${name}\n      ${String(error?.message ?? error).trim().replaceAll('\n', '\n      ')}`);
      return undefined;
    }
  }

  end() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 && this.passed > 0;
  }
}
