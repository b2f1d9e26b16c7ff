import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';

/** What WordPress mails from now on. */
export interface Mailbox {
  /** Waits for the first mail to an address and gives its text. */
  to(address: string, seconds?: number): Promise<string>;
  /** Throws away what has come. */
  empty(): void;
}

export function mailbox(stack: Stack): Mailbox {
  const dir = join(stack.dir, 'mail');
  const files = (): string[] => (existsSync(dir) ? readdirSync(dir) : []);
  const before = new Set(files());
  const added = (): string[] => files().filter((name) => !before.has(name));
  return {
    to: (address, seconds) =>
      until(
        `a mail to ${address} is there`,
        () =>
          added()
            .map((name) => readFileSync(join(dir, name), 'latin1'))
            .find((text) => new RegExp(`^To: .*${address}`, 'im').test(text)),
        seconds,
      ),
    empty() {
      for (const name of added()) rmSync(join(dir, name));
    },
  };
}
