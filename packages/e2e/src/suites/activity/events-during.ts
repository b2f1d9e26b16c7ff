import type { RegisteredRow } from '@security-optimizer/contract/activity/schemas';
import { authorised, callApi, type Session } from '../../http/session.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';

export type EventRow = Pick<RegisteredRow, 'id' | 'user' | 'ip' | 'origin' | 'actions' | 'activity' | 'visitor_id'>;

/** The newest rows of the list of registered users, newest first. */
export async function newestEvents(stack: Stack, owner: Session, pages = 1): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  for (let page = 1; page <= pages; page++) {
    const answer = await callApi(stack, {
      path: '/wp-json/security-optimizer/v1/activity-registered',
      body: JSON.stringify({ page }),
      headers: authorised(owner),
    });
    if (answer.body.status !== 200) throw new Error(`No events: ${JSON.stringify(answer.body)}`);
    const data = answer.body.data as { readonly entries: readonly EventRow[]; readonly pages: number };
    rows.push(...data.entries.map((row) => ({ ...row, activity: utf8(row.activity) })));
    if (page >= data.pages) break;
  }
  return rows;
}

/** The tests send and read bytes, one character for each. */
const utf8 = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8');
export const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

let marks = 0;

/**
 * What the log tells of the time in which `work` ran, oldest first. A change of the tagline before and after it marks
 * the time: events are fetched in the order in which they happened.
 */
export async function eventsDuring(stack: Stack, owner: Session, work: () => Promise<unknown>): Promise<EventRow[]> {
  const before = await mark(stack, owner);
  await work();
  const after = await mark(stack, owner);
  const rows = await newestEvents(stack, owner, 4);
  const place = (text: string) => {
    const at = rows.findIndex(({ activity }) => activity.includes(text));
    if (at === -1) throw new Error(`The log does not tell of ${text}`);
    return at;
  };
  return rows.slice(place(after) + 1, place(before)).reverse();
}

async function mark(stack: Stack, owner: Session): Promise<string> {
  const text = `mark ${Date.now()}-${++marks}.`;
  const answer = await callApi(stack, {
    path: '/wp-json/wp/v2/settings',
    body: JSON.stringify({ description: text }),
    headers: authorised(owner),
  });
  if (answer.http !== 200) throw new Error(`The tagline can't be set: ${answer.http}`);
  // The next change tells this text too, as what was before.
  const told = `to ${text}`;
  await until('the log tells of the mark', async () =>
    (await newestEvents(stack, owner)).some(({ activity }) => activity.endsWith(told)),
  );
  return told;
}
