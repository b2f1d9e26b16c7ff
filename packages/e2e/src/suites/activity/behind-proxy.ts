import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { RawAnswer } from '../../http/raw.js';
import { ask, type TypedRequest } from '../../http/request.js';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';

export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/**
 * For the tests of a suite, guard believes a proxy on loopback, so that visitors can have addresses of their own.
 *
 * @param options `emptyLog`: the visits of the suites before are gone, where a suite looks at who attacked most
 */
export function behindProxy(stack: Stack, options: { readonly emptyLog?: boolean } = {}): void {
  const file = join(stack.guardDir, 'guard.json');
  const before = readFileSync(file, 'utf8');
  const restart = async (config: string) => {
    await stopGuard(stack);
    writeFileSync(file, config);
    if (options.emptyLog === true) deleteLog(stack.guardDir);
    await startGuard(stack);
  };
  beforeAll(() => restart(JSON.stringify({ ...JSON.parse(before), trustedProxies: ['127.0.0.1'] })));
  afterAll(() => restart(before));
}

function deleteLog(dataDir: string): void {
  for (const name of readdirSync(dataDir)) if (name.startsWith('activity.sqlite')) rmSync(join(dataDir, name));
}

/** A visit from that address, as the proxy in front passes it on. */
export function visitFrom(
  stack: Stack,
  from: string,
  target: string,
  more: Partial<TypedRequest> & { readonly agent?: string | null } = {},
): Promise<RawAnswer> {
  const { agent = BROWSER, headers, ...rest } = more;
  return ask(stack, {
    target,
    ...rest,
    headers: { 'x-forwarded-for': from, ...(agent === null ? {} : { 'user-agent': agent }), ...headers },
  });
}
