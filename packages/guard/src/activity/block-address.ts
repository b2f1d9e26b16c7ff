import { parseAddress } from '../lib/address.js';
import { type AddressSet, parseRange, type Range, rangeText } from '../lib/address-set.js';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';
import type { ActivityStore } from './activity-store.js';
import type { BlockedKeeper } from './blocked-keeper.js';
import type { BlockChange, BlockedVisitorsStore, NewBlock } from './blocked-visitors.js';
import { type KeptAddresses, whyNotBlockAddress } from './do-not-block.js';
import { type FindVisitorDeps, findVisitor, networkOf } from './find-visitor.js';

/** What changing blocks needs of the rest of the product. */
export interface BlockDeps extends FindVisitorDeps {
  readonly blocked: BlockedVisitorsStore;
  readonly visitors: Pick<ActivityStore, 'visitor' | 'visitorOfAddress' | 'verifiedBotIn'>;
  readonly keeper: Pick<BlockedKeeper, 'changed'>;
  /** Addresses that are refused at the site now. */
  readonly blockedNow: (site: SiteId) => AddressSet;
  readonly kept: () => KeptAddresses;
  readonly publish: (change: { readonly site: SiteId; readonly version: number }) => void;
  /** One change of a site at a time. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
}

export interface AddressChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
}

/**
 * Blocks (1) or unblocks (0) the address, network or range of a visitor; from its next request on it is refused. An IPv6
 * address is blocked with its /64, and let in with it, unless `single` says otherwise.
 * @returns the text for the owner
 * @throws ApiError not_found; must_not_be_blocked with the reason; StorageError
 */
export async function blockAddress(
  deps: BlockDeps,
  {
    site,
    actor,
    id,
    value,
    single,
  }: AddressChange & { readonly id: number; readonly value: 0 | 1; readonly single: boolean },
): Promise<string> {
  const found = await findVisitor(deps, site.id, id);
  if (found.kind === 'user') throw new ApiError('not_found', { message: 'This visitor is a user and not an address.' });
  const network = single ? null : networkOf(found);
  if (value === 1) {
    const block = network === null ? found : networkBlock(network);
    // The address first: what is said of it says more than what is said of its network.
    for (const text of new Set([found.value, block.value])) await refuseKept(deps, { site, actor }, rangeOf(text));
    await store(deps, { site, actor }, block);
    return `${block.name} is blocked.`;
  }
  const networkEnded = network !== null && (await unblock(deps, { site, actor }, networkBlock(network)));
  const ended = await unblock(deps, { site, actor }, found);
  const name = networkEnded && !ended ? network : found.name;
  const address = parseAddress(found.value);
  if (address !== null && deps.blockedNow(site.id).has(address)) {
    throw new ApiError('invalid_input', {
      message: english.translate('{name} is in a range that is blocked. Unblock the range to let it in.', { name }),
    });
  }
  return english.translate('{name} is not blocked any more.', { name });
}

/** A network is no visitor, so its block has an id of its own. */
function networkBlock(network: string): NewBlock {
  return { kind: 'range', value: network, name: network, visitorId: null };
}

/** @returns whether there was such a block */
function unblock(
  deps: BlockDeps,
  { site, actor }: AddressChange,
  { kind, value }: Pick<NewBlock, 'kind' | 'value'>,
): Promise<boolean> {
  return deps.mutex.run(site.id, async () => {
    const versions = await deps.blocked.unblock(changeOf(deps, site, actor), { kind, value });
    if (versions === null) return false;
    await deps.keeper.changed(site.id, { kind, value }, false, versions.blocks);
    deps.publish({ site: site.id, version: versions.site });
    return true;
  });
}

/**
 * Blocks an address or a range by its text: an address (IPv6 with its /64), a CIDR range, a wildcard or a range with a
 * hyphen. `/128` behind an IPv6 address means the address alone.
 * @returns the visitor's id and the text for the owner
 * @throws ApiError invalid_input naming `address`; must_not_be_blocked with the reason; StorageError
 */
export async function blockAddresses(
  deps: BlockDeps,
  { site, actor, text }: AddressChange & { readonly text: string },
): Promise<{ readonly visitorId: number; readonly message: string }> {
  const range = parseRange(text);
  if (range === null) {
    throw new ApiError('invalid_input', {
      fields: { address: 'Use an address or a range, for example 192.0.2.1, 192.0.2.0/24 or 192.0.2.*.' },
    });
  }
  const typed = rangeText(range);
  const isAddress = parseAddress(typed) !== null;
  const network = isAddress && !text.includes('/') ? networkOf({ kind: 'ip', value: typed }) : null;
  const value = network ?? typed;
  for (const part of new Set([typed, value])) await refuseKept(deps, { site, actor }, rangeOf(part));
  if (network !== null || !isAddress) {
    const visitorId = await store(deps, { site, actor }, networkBlock(value));
    return { visitorId, message: `${value} is blocked.` };
  }
  const { id: visitorId } = await deps.visitors.visitorOfAddress(site.id, value);
  await store(deps, { site, actor }, { kind: 'ip', value, name: value, visitorId });
  return { visitorId, message: `${value} is blocked.` };
}

async function refuseKept(deps: BlockDeps, { site, actor }: AddressChange, range: Range): Promise<void> {
  const verifiedBot = await deps.visitors.verifiedBotIn(site.id, range);
  const why = whyNotBlockAddress({ range, verifiedBot }, actor.address, deps.kept());
  if (why !== null) throw new ApiError('must_not_be_blocked', { message: why });
}

/** @param text of a visitor, so it is a range or an address */
function rangeOf(text: string): Range {
  const range = parseRange(text);
  if (range === null) throw new Error(`${text} is no range.`);
  return range;
}

/** @returns the visitor's id */
function store(deps: BlockDeps, { site, actor }: AddressChange, block: NewBlock): Promise<number> {
  return deps.mutex.run(site.id, async () => {
    const stored = await deps.blocked.block(changeOf(deps, site, actor), block);
    if (stored === null) throw new ApiError('rest_forbidden');
    const { visitorId, versions } = stored;
    if (versions === null) return visitorId;
    await deps.keeper.changed(site.id, block, true, versions.blocks);
    deps.publish({ site: site.id, version: versions.site });
    return visitorId;
  });
}

export function changeOf({ clock }: Pick<BlockDeps, 'clock'>, site: SiteConfig, actor: Actor): BlockChange {
  return { site: site.id, actor, at: clock() };
}
