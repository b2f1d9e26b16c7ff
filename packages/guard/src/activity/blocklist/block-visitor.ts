import { blockDurations, MAX_BLOCKED_AT_ONCE } from '@security-optimizer/contract/activity/blocks';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { toPlainAddress } from '@security-optimizer/contract/typed-text';
import { parseAddress, toClientKey, toSubnet } from '../../lib/address.js';
import { parseRange, type Range, rangeText } from '../../lib/address-set.js';
import { ApiError } from '../../lib/api-error.js';
import { parseVisitor, parseVisitorRange } from '../../lib/carried-address.js';
import type { Clock } from '../../lib/clock.js';
import { readTypedRanges } from '../../lib/typed-ranges.js';
import type { Services } from '../../services.js';
import type { Actor } from '../../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../../site.js';
import type { ActivityStore, Visitor } from '../activity-store.js';
import { toAnonymizedNetwork } from '../visit.js';
import type {
  BlockChange,
  BlockedVisitor,
  BlocklistStore,
  BlockTerms,
  BlockVersions,
  NewBlock,
} from './blocklist-store.js';
import type { BlocklistSync } from './blocklist-sync.js';
import { type ProtectedAddresses, reasonNotToBlockAddress, reasonNotToBlockUser } from './protected-visitors.js';

/** The visitor of a visitor id. */
export interface FoundVisitor {
  readonly visitorId: number;
  readonly kind: BlockedVisitor['kind'];
  /** What is blocked: an address, a range, or the id of a user. */
  readonly value: string;
  readonly name: string;
  /** The visitor in the Activity Log; null when the log has no rows of it any more, and for ranges. */
  readonly visitor: Visitor | null;
}

/** Dependencies of the functions that block and unblock. */
export interface Blocking {
  readonly services: Pick<Services, 'sites' | 'connectors' | 'wordpress' | 'sessions' | 'feed' | 'mutex' | 'clock'>;
  readonly store: BlocklistStore;
  readonly sync: Pick<BlocklistSync, 'changed'>;
  /** Called after a block with an end was stored. */
  readonly onTimed: () => void;
  /** The Activity Log, which contains the visitors. */
  readonly log: ActivityStore;
  readonly protectedAddresses: (site: SiteId) => ProtectedAddresses;
}

/**
 * Finds the visitor of an id. A blocked visitor is found by its block, also when the log no longer contains it. With
 * anonymised addresses, a visitor is a network.
 *
 * @throws ApiError not_found
 * @throws StorageError
 */
export async function findVisitor(blocking: Blocking, site: SiteId, visitorId: number): Promise<FoundVisitor> {
  if (visitorId === 0) throw visitorNotFound();
  const block = await blocking.store.findByVisitorId(site, visitorId);
  const visitor = await blocking.log.visitor(site, visitorId);
  if (block !== null) {
    const { kind, value } = block;
    return { visitorId, kind, value, name: kind === 'user' ? (visitor?.name ?? block.name) : block.name, visitor };
  }
  if (visitor === null) throw visitorNotFound();
  const { name, userId } = visitor;
  if (userId !== null) return { visitorId, kind: 'user', value: String(userId), name, visitor };
  // The row may be older than the parsing of carried addresses.
  const address = parseVisitor(name);
  if (address === null) throw visitorNotFound();
  const network = isAnonymized(blocking, site) ? toAnonymizedNetwork(address) : null;
  if (network !== null) return { visitorId, kind: 'range', value: network, name: network, visitor };
  return { visitorId, kind: 'ip', value: address.text, name: address.text, visitor };
}

/**
 * Returns the network that is blocked with a visitor: the /64 of an IPv6 address, within which its owner can change the
 * address at will and by which failed logins are counted, too. Null when the visitor is blocked by itself.
 */
export function toNetwork({ kind, value }: Pick<FoundVisitor, 'kind' | 'value'>): string | null {
  const address = kind === 'ip' ? parseAddress(value) : null;
  return address?.family === 6 ? toClientKey(address) : null;
}

/** Whether the site stores addresses anonymised. */
function isAnonymized({ services }: Blocking, site: SiteId): boolean {
  return services.sites.get(site).settings.log.anonymize_addresses === 1;
}

function visitorNotFound(): ApiError {
  return new ApiError('not_found', { message: 'This visitor is not known any more.' });
}

export interface AddressChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
}

/**
 * Blocks (1) or unblocks (0) the address, network or range of a visitor; it is refused from its next request on. An
 * IPv6 address is blocked and unblocked with its /64 unless `scope` says otherwise.
 * @throws ApiError not_found; must_not_be_blocked with the reason
 * @throws StorageError
 */
export async function blockAddress(
  blocking: Blocking,
  {
    site,
    actor,
    id,
    value,
    scope,
    terms,
  }: AddressChange & {
    readonly id: number;
    readonly value: 0 | 1;
    readonly scope: BlockScope;
    readonly terms: BlockTerms;
  },
): Promise<AddressOutcome> {
  const found = await findVisitor(blocking, site.id, id);
  if (found.kind === 'user') throw new ApiError('not_found', { message: 'This visitor is a user and not an address.' });
  const address = parseAddress(found.value);
  const network = scope === 'single' ? null : scope === 'network' ? address && toSubnet(address) : toNetwork(found);
  if (value === 1) {
    const block = network === null ? found : networkBlock(network);
    // The address is checked first, since its reason is more specific than that of its network.
    for (const text of new Set([found.value, block.value]))
      await refuseProtectedAddress(blocking, { site, actor }, toRange(text));
    await storeBlock(blocking, { site, actor }, { ...block, ...terms });
    return { name: block.name, message: serverMessage('visitor_blocked', { name: block.name }) };
  }
  const networkEnded = network !== null && (await unblock(blocking, { site, actor }, networkBlock(network)));
  const ended = await unblock(blocking, { site, actor }, found);
  const name = networkEnded && !ended ? network : found.name;
  if (address !== null && blocking.services.sites.isBlocked(site.id, address)) {
    throw new ApiError('invalid_input', {
      message: serverMessage('visitor_in_blocked_range', { name }),
    });
  }
  return { name, message: serverMessage('visitor_unblocked', { name }) };
}

/** What is blocked with an address: the address, with its /64 for IPv6; the address alone; or its network. */
export type BlockScope = 'usual' | 'single' | 'network';

/** What was blocked or unblocked, and the text for the owner. */
export interface AddressOutcome {
  readonly name: string;
  readonly message: ServerText;
}

/**
 * Returns the terms of a request.
 * @param now milliseconds since the Unix epoch
 */
export function toTerms(
  { duration, note }: { readonly duration?: number | null | undefined; readonly note?: string | null | undefined },
  now: number,
): BlockTerms {
  const seconds = blockDurations.find((known) => known === duration) ?? 0;
  return { until: seconds === 0 ? null : now + seconds * 1000, note: note ?? '' };
}

/** Returns the block of a network. It has an id of its own, since a network is no visitor. */
function networkBlock(network: string): NewBlock {
  return { kind: 'range', value: network, name: network, visitorId: null };
}

/** @returns whether there was such a block */
function unblock(
  blocking: Blocking,
  { site, actor }: AddressChange,
  { kind, value }: Pick<NewBlock, 'kind' | 'value'>,
): Promise<boolean> {
  return blocking.services.mutex.run(site.id, async () => {
    const versions = await blocking.store.unblock(toChange(blocking, site, actor), { kind, value });
    if (versions === null) return false;
    await blocking.sync.changed(site.id, { kind, value }, false, versions.blocks);
    blocking.services.feed.publish({ site: site.id, version: versions.site });
    return true;
  });
}

/**
 * Blocks (1) or unblocks (0) the addresses of several visitors; see `blockAddress`. A visitor that can't be changed
 * does not affect the others. Throws StorageError.
 */
export async function blockVisitors(
  blocking: Blocking,
  change: Omit<Parameters<typeof blockAddress>[1], 'id' | 'scope'> & { readonly ids: readonly number[] },
): Promise<{
  readonly done: readonly { readonly id: number; readonly name: string }[];
  readonly refused: readonly { readonly id: number; readonly reason: ServerText }[];
}> {
  const done: { id: number; name: string }[] = [];
  const refused: { id: number; reason: ServerText }[] = [];
  for (const id of new Set(change.ids)) {
    try {
      const { name } = await blockAddress(blocking, { ...change, id, scope: 'usual' });
      done.push({ id, name });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === 'rest_forbidden') throw error;
      refused.push({ id, reason: error.text });
    }
  }
  return { done, refused };
}

/**
 * Blocks addresses and ranges by their text: addresses (IPv6 with its /64), CIDR ranges, wildcards or ranges with a
 * hyphen. `/128` after an IPv6 address means the address alone. An address that carries an IPv4 address blocks the IPv4
 * address. All are blocked or none, unless the database fails in between.
 *
 * @param seen address of the caller as it is seen: a wide range may contain it, and not the one that it carries
 * @param confirm the caller confirms that a range means everybody
 * @returns the first visitor's id, what was blocked, and the text for the owner
 * @throws ApiError invalid_input naming `address`; must_not_be_blocked with the reason; means_everybody
 * @throws StorageError
 */
export async function blockAddresses(
  blocking: Blocking,
  {
    site,
    actor,
    seen,
    text,
    confirm,
    terms,
  }: AddressChange & {
    readonly seen: string;
    readonly text: string;
    readonly confirm: boolean;
    readonly terms: BlockTerms;
  },
): Promise<AddressOutcome & { readonly visitorId: number }> {
  const read = readTypedRanges(text);
  if ('fault' in read) throw new ApiError('invalid_input', { fields: { address: read.fault } });
  if (read.texts.length > MAX_BLOCKED_AT_ONCE) {
    const message = serverMessage('too_many_addresses', { number: MAX_BLOCKED_AT_ONCE });
    throw new ApiError('invalid_input', { fields: { address: message } });
  }
  const targets = read.texts.map(toTypedTarget);
  for (const part of new Set(targets.flatMap(({ typed, value }) => [typed, value]))) {
    await refuseProtectedAddress(blocking, { site, actor }, toRange(part));
    if (seen !== actor.address)
      await refuseProtectedAddress(blocking, { site, actor: { ...actor, address: seen } }, toRange(part));
  }
  if (read.everybody && !confirm) {
    throw new ApiError('means_everybody', { message: 'This would block everybody. Nothing was blocked.' });
  }
  const ids: number[] = [];
  for (const { value, isAddress } of targets) {
    const visitorId = isAddress ? (await blocking.log.getAddressVisitor(site.id, value)).id : null;
    const block = isAddress ? ({ kind: 'ip', value, name: value, visitorId } as const) : networkBlock(value);
    const stored = await storeBlock(blocking, { site, actor }, { ...block, ...terms });
    ids.push(visitorId ?? stored);
  }
  const names = targets.map(({ value }) => value);
  const message =
    names.length === 1
      ? serverMessage('visitor_blocked', { name: names.join() })
      : serverMessage('visitors_blocked', { count: names.length });
  return { visitorId: ids[0] ?? 0, name: names[0] ?? '', message };
}

/** The meaning of one address or range of a text: `typed` as it is stored, and `value` as it is blocked. */
function toTypedTarget(text: string): { readonly typed: string; readonly value: string; readonly isAddress: boolean } {
  const range = parseVisitorRange(text);
  if (range === null) throw new Error(`${text} is no range.`);
  const typed = rangeText(range);
  const isSingle = parseAddress(typed) !== null;
  const network = isSingle && !text.includes('/') ? toNetwork({ kind: 'ip', value: typed }) : null;
  return { typed, value: network ?? typed, isAddress: isSingle && network === null };
}

async function refuseProtectedAddress(blocking: Blocking, { site, actor }: AddressChange, range: Range): Promise<void> {
  const verifiedBot = await blocking.log.verifiedBotIn(site.id, range);
  const why = reasonNotToBlockAddress({ range, verifiedBot }, actor.address, blocking.protectedAddresses(site.id));
  if (why !== null) throw new ApiError('must_not_be_blocked', { message: why });
}

/** @param text of a visitor, so it is a range or an address */
function toRange(text: string): Range {
  const range = parseRange(text);
  if (range === null) throw new Error(`${text} is no range.`);
  return range;
}

/** @returns the visitor's id */
function storeBlock(blocking: Blocking, { site, actor }: AddressChange, block: NewBlock): Promise<number> {
  return blocking.services.mutex.run(site.id, async () => {
    const stored = await blocking.store.block(toChange(blocking, site, actor), block);
    if (stored === null) throw new ApiError('rest_forbidden');
    const { visitorId, versions } = stored;
    if (versions === null) return visitorId;
    await blocking.sync.changed(site.id, block, true, versions.blocks);
    blocking.services.feed.publish({ site: site.id, version: versions.site });
    if (block.until != null) blocking.onTimed();
    return visitorId;
  });
}

function toChange({ services }: Blocking, site: SiteConfig, actor: Actor): BlockChange {
  return { site: site.id, actor, at: services.clock() };
}

/** Returns the users who are blocked at a site, lowest id first. */
function getBlockedUsers({ services }: Blocking, site: SiteId): readonly number[] {
  return [...services.sites.get(site).blockedUsers].sort((a, b) => a - b);
}

/**
 * Blocks (1) or unblocks (0) a user. The sessions of a blocked user end at once, and every login and request as this
 * user is refused; role and content are not changed. WordPress gets the policy first, so that a block applies
 * everywhere or nowhere.
 *
 * @returns the user's id and the text for the owner
 * @throws ApiError not_found; must_not_be_blocked with the reason
 * @throws StorageError, ConnectorError: then nothing is changed
 */
export async function blockUser(
  blocking: Blocking,
  {
    site,
    actor,
    id,
    value,
    terms,
  }: AddressChange & { readonly id: number; readonly value: 0 | 1; readonly terms: BlockTerms },
): Promise<{ readonly user: number; readonly message: ServerText }> {
  const found = await findVisitor(blocking, site.id, id);
  if (found.kind !== 'user') throw new ApiError('not_found', { message: 'This visitor is an address and not a user.' });
  const { visitorId, name } = found;
  const user = Number(found.value);
  const block = { kind: 'user', value: found.value, name, visitorId, ...terms } as const;
  await blocking.services.mutex.run(site.id, async () => {
    const before = getBlockedUsers(blocking, site.id);
    const others = before.filter((other) => other !== user);
    if (value === 1) await refuseProtectedUser(blocking, site, actor, { id: user, blocked: before.includes(user) });
    await blocking.services.connectors.pushBlockedUsers(
      site,
      value === 1 ? [...others, user].sort((a, b) => a - b) : others,
    );
    let versions: BlockVersions | null;
    try {
      versions = await (value === 1
        ? endSessionsAndStore(blocking, site, actor, block)
        : blocking.store.unblock(toChange(blocking, site, actor), block));
    } catch (error) {
      // Roll back the policy of WordPress; if that fails, too, its next signal causes a new push.
      await blocking.services.connectors.pushBlockedUsers(site, before).catch(() => undefined);
      throw error;
    }
    blocking.services.sessions.clear(site.id);
    if (versions === null) return;
    await blocking.sync.changed(site.id, block, value === 1, versions.blocks);
    blocking.services.feed.publish({ site: site.id, version: versions.site });
    if (value === 1 && terms.until !== null) blocking.onTimed();
  });
  return { user, message: serverMessage(value === 1 ? 'user_blocked' : 'visitor_unblocked', { name }) };
}

/** Ends the sessions before it stores the block: a session that survived would be valid again after the block. */
async function endSessionsAndStore(
  blocking: Blocking,
  site: SiteConfig,
  actor: Actor,
  block: NewBlock,
): Promise<BlockVersions | null> {
  await blocking.services.wordpress.endSessions(site, [Number(block.value)]);
  const stored = await blocking.store.block(toChange(blocking, site, actor), block);
  if (stored === null) throw new ApiError('rest_forbidden');
  return stored.versions;
}

async function refuseProtectedUser(
  blocking: Blocking,
  site: SiteConfig,
  actor: Actor,
  { id, blocked }: { readonly id: number; readonly blocked: boolean },
): Promise<void> {
  const { users, administrators } = await blocking.services.wordpress.usersInfo(site, { users: [id] });
  const info = users.find((entry) => entry.id === id);
  if (info === undefined) throw new ApiError('not_found', { message: 'This user does not exist any more.' });
  const why = reasonNotToBlockUser({ id, blocked, administrator: info.can_manage, administrators }, actor.id);
  if (why !== null) throw new ApiError('must_not_be_blocked', { message: why });
}

/**
 * Ends the lockout of an address and deletes its failures. IPv6 addresses are locked by their /64.
 *
 * @param ip an address, or a /64 as in the list of blocked visitors
 * @returns the text for the owner
 * @throws ApiError invalid_input naming `ip`
 * @throws StorageError
 */
export async function unblockLogin(
  deps: {
    /** Deletes failures and locks, with an audit row; resolves when the change applies. Throws StorageError. */
    readonly removeLocks: (change: {
      readonly site: SiteId;
      readonly keys: readonly string[];
      readonly actor: Actor;
      readonly at: number;
    }) => Promise<void>;
    readonly clock: Clock;
  },
  { site, actor, ip }: { readonly site: SiteConfig; readonly actor: Actor; readonly ip: string },
): Promise<ServerText> {
  const address = parseVisitor(toPlainAddress(ip).replace(/\/64$/, ''));
  if (address === null) throw new ApiError('invalid_input', { fields: { ip: 'Use an IP address.' } });
  const key = toClientKey(address);
  await deps.removeLocks({ site: site.id, keys: [key], actor, at: deps.clock() });
  return serverMessage('address_unlocked', { address: key });
}
