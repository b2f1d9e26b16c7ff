import type { visitorStatus as visitorStatusCall } from '@security-optimizer/contract/activity-endpoints';
import type { z } from 'zod';
import { parseAddress } from '../lib/address.js';
import { parseRange } from '../lib/address-set.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { UsersInfo } from '../wordpress/connector-answers.js';
import type { ActivityStore } from './activity-store.js';
import type { BlockUserDeps } from './block-user.js';
import { whyNotBlockAddress, whyNotBlockUser } from './do-not-block.js';
import { type FoundVisitor, findVisitor, networkOf } from './find-visitor.js';

export interface VisitorStatusDeps
  extends Pick<
    BlockUserDeps,
    'blocked' | 'anonymized' | 'blockedNow' | 'blockedUsers' | 'kept' | 'usersInfo' | 'clock'
  > {
  readonly visitors: Pick<ActivityStore, 'visitor' | 'visitorHours' | 'verifiedBotIn'>;
}

export type VisitorStatus = z.output<typeof visitorStatusCall.response>;

const HOUR = 3600;
/** Hours whose visits are added up, and hours that are shown one by one. */
const DAY_HOURS = 24;
const SHOWN_HOURS = 12;

/**
 * Everything that the manage dialogs show of a visitor.
 * @throws ApiError not_found for an id that stands for nobody; StorageError
 */
export async function visitorStatus(
  deps: VisitorStatusDeps,
  { site, actor, id }: { readonly site: SiteConfig; readonly actor: Actor; readonly id: number },
): Promise<VisitorStatus> {
  const found = await findVisitor(deps, site.id, id);
  const { visitor, name, kind } = found;
  const seen = {
    name,
    hostname: visitor?.hostname ?? '',
    first_seen: visitor?.firstSeen ?? null,
    last_seen: visitor?.lastSeen ?? null,
  };
  if (kind === 'user') {
    const id = Number(found.value);
    const blocked = deps.blockedUsers(site.id).includes(id);
    const { roles, why } = await userFacts(deps, site, actor, { id, blocked });
    return {
      ...seen,
      ...verdict(blocked, why),
      network: '',
      type: 'user',
      visits_today: null,
      visits_hours: null,
      roles,
    };
  }
  const network = networkOf(found);
  const why =
    whyNot(deps, actor, found.value, visitor?.verifiedBot ?? null) ??
    (network === null ? null : await whyNotNetwork(deps, site, actor, network));
  const hours = visitor === null ? null : await lastHours(deps, site, id);
  return {
    ...seen,
    ...verdict(await isBlocked(deps, site, found), why),
    network: network ?? '',
    type: 'ip',
    visits_today: hours === null ? null : hours.reduce((sum, hits) => sum + hits, 0),
    visits_hours: hours === null ? null : hours.slice(-SHOWN_HOURS),
    roles: null,
  };
}

function whyNot({ kept }: VisitorStatusDeps, actor: Actor, text: string, verifiedBot: string | null): string | null {
  const range = parseRange(text);
  return range === null ? null : whyNotBlockAddress({ range, verifiedBot }, actor.address, kept());
}

async function whyNotNetwork(deps: VisitorStatusDeps, site: SiteConfig, actor: Actor, network: string) {
  const range = parseRange(network);
  const verifiedBot = range === null ? null : await deps.visitors.verifiedBotIn(site.id, range);
  return whyNot(deps, actor, network, verifiedBot);
}

/** Whoever is blocked may always be unblocked. */
function verdict(blocked: boolean, why: string | null): Pick<VisitorStatus, 'block' | 'do_not_block' | 'reason'> {
  const kept = blocked ? null : why;
  return { block: blocked ? 1 : 0, do_not_block: kept === null ? 0 : 1, reason: kept ?? '' };
}

/** By itself or by a range that holds it. */
async function isBlocked(
  { blocked, blockedNow }: VisitorStatusDeps,
  site: SiteConfig,
  { kind, value }: FoundVisitor,
): Promise<boolean> {
  const address = parseAddress(value);
  if (address !== null && blockedNow(site.id).has(address)) return true;
  return (await blocked.find(site.id, kind, value)) !== null;
}

/** The last 24 hours, the present one included. */
function lastHours({ visitors, clock }: VisitorStatusDeps, site: SiteConfig, id: number): Promise<readonly number[]> {
  const now = Math.floor(clock() / 1000);
  return visitors.visitorHours(site.id, id, now - (DAY_HOURS - 1) * HOUR, now + 1);
}

/** What WordPress says of a user; while it does not answer, what is known without it. */
async function userFacts(
  { usersInfo }: VisitorStatusDeps,
  site: SiteConfig,
  actor: Actor,
  { id, blocked }: { readonly id: number; readonly blocked: boolean },
): Promise<{ readonly roles: string[] | null; readonly why: string | null }> {
  const info = await usersInfo(site, { users: [id] }).catch((): UsersInfo | null => null);
  const user = info?.users.find((entry) => entry.id === id);
  const administrator = user?.can_manage === true;
  const why = whyNotBlockUser({ id, blocked, administrator, administrators: info?.administrators ?? 0 }, actor.id);
  return { roles: user === undefined ? null : [...user.roles], why };
}
