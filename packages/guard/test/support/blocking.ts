import type { BlockedRow } from '@security-optimizer/contract/activity';
import type { VisitorStatus } from '../../src/activity/blocklist/visitor-status.js';
import type { ListPage } from '../../src/activity/list-activity.js';
import type { activitySite } from './activity-site.js';
import { fakeEvent } from './fake-activity.js';
import { eventually } from './scratch.js';

type Site = Awaited<ReturnType<typeof activitySite>>;

/** The visitor id of an address, after a visit of it. */
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
export async function idOfUser(site: Site, user: { id: number; login: string }): Promise<number> {
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
