import type { visitorStatus as visitorStatusCall } from '@security-optimizer/contract/activity/endpoints';
import type { ServerText } from '@security-optimizer/contract/server-message';
import type { z } from 'zod';
import { parseAddress, toSubnet } from '../../lib/address.js';
import { isWithin, parseRange } from '../../lib/address-set.js';
import type { Actor } from '../../settings/audit-store.js';
import type { SiteConfig } from '../../site.js';
import type { UsersInfo } from '../../wordpress/connector-responses.js';
import { type Blocking, type FoundVisitor, findVisitor, toNetwork } from './block-visitor.js';
import type { CurrentBlocks } from './current-blocks.js';
import { reasonNotToBlockAddress, reasonNotToBlockUser } from './protected-visitors.js';

type VisitorStatusResponse = z.output<typeof visitorStatusCall.response>;
export type VisitorStatus = Omit<VisitorStatusResponse, 'reason'> & { readonly reason: ServerText };

const HOUR = 3600;
/** Hours whose visits are added up, and hours that are displayed one by one. */
const DAY_HOURS = 24;
const SHOWN_HOURS = 12;

/**
 * Returns the data of the manage dialogs for a visitor.
 * @throws ApiError not_found for an unknown id
 * @throws StorageError
 */
export async function visitorStatus(
  blocking: Blocking,
  blocks: CurrentBlocks,
  { site, actor, id }: { readonly site: SiteConfig; readonly actor: Actor; readonly id: number },
): Promise<VisitorStatus> {
  const found = await findVisitor(blocking, site.id, id);
  const { visitor, name, kind } = found;
  const seen = {
    name,
    hostname: visitor?.hostname ?? '',
    first_seen: visitor?.firstSeen ?? null,
    last_seen: visitor?.lastSeen ?? null,
  };
  if (kind === 'user') {
    const id = Number(found.value);
    const blocked = blocking.services.sites.get(site.id).blockedUsers.has(id);
    const { roles, why } = await userFacts(blocking, site, actor, { id, blocked });
    return {
      ...seen,
      ...blockFlags(blocked, why),
      network: '',
      type: 'user',
      visits_today: null,
      visits_hours: null,
      current: await blocks.findUser(site.id, id),
      network_cost: null,
      roles,
    };
  }
  const network = toNetwork(found);
  const why =
    reasonNotToBlock(blocking, { site, actor }, found.value, visitor?.verifiedBot ?? null) ??
    (network === null ? null : await reasonNotToBlockNetwork(blocking, site, actor, network));
  const hours = visitor === null ? null : await lastHours(blocking, site, id);
  const current = (await blocks.find(site.id, [found.value])).get(found.value) ?? null;
  return {
    ...seen,
    ...blockFlags(current !== null && current.by !== 'lock', why),
    network: network ?? '',
    type: 'ip',
    visits_today: hours === null ? null : hours.reduce((sum, hits) => sum + hits, 0),
    visits_hours: hours === null ? null : hours.slice(-SHOWN_HOURS),
    current,
    network_cost: await readNetworkCost(blocking, site, actor, found),
    roles: null,
  };
}

/** Visitors of a network are counted up to this number. */
const COUNTED_VISITORS = 1000;

/** Returns what blocking the network of an address would affect; null for a range. */
async function readNetworkCost(
  { log }: Blocking,
  site: SiteConfig,
  actor: Actor,
  { kind, value, visitor }: FoundVisitor,
): Promise<VisitorStatus['network_cost']> {
  const address = kind === 'ip' ? parseAddress(value) : null;
  const network = address && toSubnet(address);
  const range = network && parseRange(network);
  if (!range) return null;
  const counted = await log.countVisitorsIn(site.id, range, COUNTED_VISITORS + 1);
  const own = actor.address === null ? null : parseRange(actor.address);
  return {
    range: network,
    visitors: Math.min(Math.max(0, counted - (visitor === null ? 0 : 1)), COUNTED_VISITORS),
    own: own !== null && isWithin(own, range) ? 1 : 0,
  };
}

function reasonNotToBlock(
  { protectedAddresses }: Blocking,
  { site, actor }: { readonly site: SiteConfig; readonly actor: Actor },
  text: string,
  verifiedBot: string | null,
): ServerText | null {
  const range = parseRange(text);
  if (range === null) return null;
  return reasonNotToBlockAddress({ range, verifiedBot }, actor.address, protectedAddresses(site.id));
}

async function reasonNotToBlockNetwork(blocking: Blocking, site: SiteConfig, actor: Actor, network: string) {
  const range = parseRange(network);
  const verifiedBot = range === null ? null : await blocking.log.verifiedBotIn(site.id, range);
  return reasonNotToBlock(blocking, { site, actor }, network, verifiedBot);
}

/** A blocked visitor can always be unblocked. */
function blockFlags(
  blocked: boolean,
  why: ServerText | null,
): Pick<VisitorStatus, 'block' | 'do_not_block' | 'reason'> {
  const reason = blocked ? null : why;
  return { block: blocked ? 1 : 0, do_not_block: reason === null ? 0 : 1, reason: reason ?? '' };
}

/** Returns hits of the last 24 hours, the current one included. */
function lastHours({ services, log }: Blocking, site: SiteConfig, id: number): Promise<readonly number[]> {
  const now = Math.floor(services.clock() / 1000);
  return log.visitorHours(site.id, id, now - (DAY_HOURS - 1) * HOUR, now + 1);
}

/** Returns the data of a user from WordPress, or what is known without it while it does not respond. */
async function userFacts(
  { services }: Blocking,
  site: SiteConfig,
  actor: Actor,
  { id, blocked }: { readonly id: number; readonly blocked: boolean },
): Promise<{ readonly roles: string[] | null; readonly why: ServerText | null }> {
  const info = await services.wordpress.usersInfo(site, { users: [id] }).catch((): UsersInfo | null => null);
  const user = info?.users.find((entry) => entry.id === id);
  const administrator = user?.can_manage === true;
  const why = reasonNotToBlockUser({ id, blocked, administrator, administrators: info?.administrators ?? 0 }, actor.id);
  return { roles: user === undefined ? null : [...user.roles], why };
}
