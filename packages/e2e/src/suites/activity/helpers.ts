import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RegisteredRow } from '@security-optimizer/contract/activity/schemas';
import { afterAll, beforeAll } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { sendRequest, type TypedRequest } from '../../http/request.js';
import { authorised, callApi, type Session } from '../../http/session.js';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';

export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/**
 * Makes guard trust a proxy on loopback during a suite, so that visitors can have any address.
 *
 * @param options `emptyLog` deletes the visits of earlier suites, for suites about the top attackers
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

/** A visit from that address, as forwarded by the proxy in front. */
export function visitFrom(
  stack: Stack,
  from: string,
  target: string,
  more: Partial<TypedRequest> & { readonly agent?: string | null } = {},
): Promise<RawResponse> {
  const { agent = BROWSER, headers, ...rest } = more;
  return sendRequest(stack, {
    target,
    ...rest,
    headers: { 'x-forwarded-for': from, ...(agent === null ? {} : { 'user-agent': agent }), ...headers },
  });
}

export type EventRow = Pick<RegisteredRow, 'id' | 'user' | 'ip' | 'origin' | 'actions' | 'activity' | 'visitor_id'>;

/** The newest rows of the list of registered users, newest first. */
export async function newestEvents(stack: Stack, owner: Session, pages = 1): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  for (let page = 1; page <= pages; page++) {
    const response = await callApi(stack, {
      path: '/wp-json/security-optimizer/v1/activity-registered',
      body: JSON.stringify({ page }),
      headers: authorised(owner),
    });
    if (response.body.status !== 200) throw new Error(`No events: ${JSON.stringify(response.body)}`);
    const data = response.body.data as { readonly entries: readonly EventRow[]; readonly pages: number };
    rows.push(...data.entries.map((row) => ({ ...row, activity: utf8(row.activity) })));
    if (page >= data.pages) break;
  }
  return rows;
}

/** The tests send and read bytes, one character each. */
const utf8 = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8');
export const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

let marks = 0;

/**
 * The log entries of the time in which `work` ran, oldest first. A change of the tagline before and after it marks the
 * time, since events are fetched in order.
 */
export async function eventsDuring(stack: Stack, owner: Session, work: () => Promise<unknown>): Promise<EventRow[]> {
  const before = await mark(stack, owner);
  await work();
  const after = await mark(stack, owner);
  const rows = await newestEvents(stack, owner, 4);
  const index = (text: string) => {
    const at = rows.findIndex(({ activity }) => activity.includes(text));
    if (at === -1) throw new Error(`The log does not tell of ${text}`);
    return at;
  };
  return rows.slice(index(after) + 1, index(before)).reverse();
}

async function mark(stack: Stack, owner: Session): Promise<string> {
  const text = `mark ${Date.now()}-${++marks}.`;
  const response = await callApi(stack, {
    path: '/wp-json/wp/v2/settings',
    body: JSON.stringify({ description: text }),
    headers: authorised(owner),
  });
  if (response.http !== 200) throw new Error(`The tagline can't be set: ${response.http}`);
  // The next change contains this text too, as the old value.
  const newValue = `to ${text}`;
  await until('the log tells of the mark', async () =>
    (await newestEvents(stack, owner)).some(({ activity }) => activity.endsWith(newValue)),
  );
  return newValue;
}
