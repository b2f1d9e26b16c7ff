import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { activityTraffic } from '@security-optimizer/contract/activity/endpoints';
import type { BlockedRow, RegisteredRow, UnknownRow } from '@security-optimizer/contract/activity/schemas';
import type { z } from 'zod';
import type { VisitorStatus } from '../../src/activity/blocklist/visitor-status.js';
import type { ListPage } from '../../src/activity/list-activity.js';
import type { FakeEvent } from './fake-connector.js';
import { fakeConnector, fakeEvent } from './fake-connector.js';
import { recordedLog } from './logs.js';
import { type ApiResponse, callApi, dataFolderFor, runningGuard } from './running-guard.js';
import { eventually } from './scratch.js';

export type Traffic = z.output<typeof activityTraffic.response>;

/**
 * Guard with its Activity Log in front of the fake WordPress. Visitors may have any address.
 * @param config further keys of its configuration, and `site` further keys of the site
 */
export async function activitySite(config: object = {}, site: object = {}) {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector, site);
  const file = join(dataDir, 'guard.json');
  const written = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...written, trustedProxies: ['127.0.0.1'], ...config }));
  const log = recordedLog();
  let guard = await runningGuard(dataDir, log.logger);
  await eventually(() => connector.policy !== null);

  const send = (suffix: string, body?: unknown, options: Parameters<typeof callApi>[2] = {}): Promise<ApiResponse> =>
    callApi(guard.url, suffix, { body: body === undefined ? null : JSON.stringify(body), ...options });
  const call = async <Data>(suffix: string, body?: unknown): Promise<Data> => {
    const { http, body: response } = await send(suffix, body);
    if (http !== 200) throw new Error(`${suffix} was refused: ${JSON.stringify(response)}`);
    return response.data;
  };
  const visit = async (path: string, { address = '192.0.2.1', agent = BROWSER as string | null } = {}) => {
    const response = await fetch(guard.url + path, {
      headers: { 'x-forwarded-for': address, 'user-agent': agent ?? '' },
      redirect: 'manual',
    });
    await response.arrayBuffer();
    return response.status;
  };
  /** Adds an event to WordPress; the next response signals it. */
  const report = (event: FakeEvent) => {
    connector.outbox.push(event);
    connector.flags = 'o';
  };
  const unknown = (body: object = {}) => call<ListPage<UnknownRow>>('/activity-unknown', body);
  const registered = (body: object = {}) => call<ListPage<RegisteredRow>>('/activity-registered', body);
  /** Waits until this many rows are in the log; they are written twice a second. */
  const logged = (rows: number) => eventually(async () => (await unknown()).total === rows);
  const noted = (rows: number) => eventually(async () => (await registered()).total === rows);
  /** Stops guard, runs a task, and starts guard again. */
  const restart = async (whileStopped: () => unknown = () => undefined) => {
    await guard.close();
    await whileStopped();
    guard = await runningGuard(dataDir, log.logger);
  };
  return { connector, dataDir, guard, restart, log, send, call, visit, report, unknown, registered, logged, noted };
}

export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';

/** Filters as the page sends them, with one choice. */
export const filter = (wp_name: string, selectedValue: unknown) => [
  { wp_name, children: [{ id: wp_name, selectedValue }] },
];
/** The pages in the rows of a response. */
export const pages = (response: { entries: readonly { page_visited: string }[] }) =>
  response.entries.map(({ page_visited }) => page_visited);

type Site = Awaited<ReturnType<typeof activitySite>>;

/** The visitor id of an address, after a visit from it. */
export async function findVisitorId(site: Site, address: string): Promise<number> {
  await site.visit('/seen', { address });
  let id: number | undefined;
  await eventually(async () => {
    const { entries } = await site.unknown();
    id = entries.find(({ ip }) => ip === address)?.visitor_id;
    return id !== undefined;
  });
  return id as number;
}

/** The visitor id of a user, after a login. */
export async function getUserId(site: Site, user: { id: number; login: string }): Promise<number> {
  site.report(fakeEvent({ kind: 'login', user }));
  await site.visit('/signal');
  let id: number | undefined;
  await eventually(async () => {
    const { entries } = await site.registered();
    id = entries.find((row) => row.user === user.login)?.visitor_id;
    return id !== undefined;
  });
  return id as number;
}

export const status = (site: Site, id: number) => site.call<VisitorStatus>(`/get-visitor-status/${id}`);
export const blocked = (site: Site, body: object = {}) => site.call<ListPage<BlockedRow>>('/blocked-users', body);
export const names = (list: ListPage<BlockedRow>) => list.entries.map(({ user }) => user);
