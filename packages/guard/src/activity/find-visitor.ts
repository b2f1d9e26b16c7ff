import { parseAddress } from '../lib/address.js';
import { ApiError } from '../lib/api-error.js';
import { addressKey } from '../login/address-key.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, Visitor } from './activity-store.js';
import { anonymizedNetwork } from './anonymized-address.js';
import type { BlockedVisitor, BlockedVisitorsStore } from './blocked-visitors.js';

/** Whoever a visitor id stands for. */
export interface FoundVisitor {
  readonly visitorId: number;
  readonly kind: BlockedVisitor['kind'];
  /** What is blocked: an address, a range, or the id of a user. */
  readonly value: string;
  readonly name: string;
  /** What the Activity Log knows; null when nothing of it is kept any more, and for ranges. */
  readonly visitor: Visitor | null;
}

export interface FindVisitorDeps {
  readonly blocked: Pick<BlockedVisitorsStore, 'ofVisitor'>;
  readonly visitors: Pick<ActivityStore, 'visitor'>;
  /** Whether addresses of the site are stored without their end. */
  readonly anonymized: (site: SiteId) => boolean;
}

/**
 * Finds the visitor of an id. One that is blocked is known by its block, also when the log has forgotten it. Where
 * addresses are anonymised, a visitor is a network.
 *
 * @throws ApiError not_found; StorageError
 */
export async function findVisitor(deps: FindVisitorDeps, site: SiteId, visitorId: number): Promise<FoundVisitor> {
  if (visitorId === 0) throw unknown();
  const block = await deps.blocked.ofVisitor(site, visitorId);
  const visitor = await deps.visitors.visitor(site, visitorId);
  if (block !== null) {
    const { kind, value } = block;
    return { visitorId, kind, value, name: kind === 'user' ? (visitor?.name ?? block.name) : block.name, visitor };
  }
  if (visitor === null) throw unknown();
  const { name, userId } = visitor;
  if (userId !== null) return { visitorId, kind: 'user', value: String(userId), name, visitor };
  const address = parseAddress(name);
  if (address === null) throw unknown();
  const network = deps.anonymized(site) ? anonymizedNetwork(address) : null;
  if (network !== null) return { visitorId, kind: 'range', value: network, name: network, visitor };
  return { visitorId, kind: 'ip', value: name, name, visitor };
}

/**
 * The network that is blocked with a visitor: the /64 of an IPv6 address, which its owner changes at will and by which
 * failed log-ins are counted too. Null where the visitor is blocked by itself.
 */
export function networkOf({ kind, value }: Pick<FoundVisitor, 'kind' | 'value'>): string | null {
  const address = kind === 'ip' ? parseAddress(value) : null;
  return address?.family === 6 ? addressKey(address) : null;
}

function unknown(): ApiError {
  return new ApiError('not_found', { message: 'This visitor is not known any more.' });
}
