import type { BlockDuration, CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import { isInRange, parseAddress, readAddressRange } from '@security-optimizer/contract/typed-addresses';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { addDays, siteNow, timeOfDay } from '../../i18n/days.js';
import { __, sprintf } from '../../i18n/translate.js';
import { dateTimeText, type SiteClock } from '../settings/site-clock.js';

/** A block that was set or removed on this page. Lists that were loaded before show it at once. */
interface BlockChange {
  /** Address, network or user, as `user:` and the visitor id. */
  readonly of: string;
  readonly block: CurrentBlock | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const CHANGES_KEY = ['block-changes'];
const NONE: readonly BlockChange[] = [];

/** Records a change of a block, so that every list shows it. */
export function noteBlockChange(queries: QueryClient, of: string, block: CurrentBlock | null): void {
  const change = { of, block, at: Date.now() };
  queries.setQueryData<readonly BlockChange[]>(CHANGES_KEY, (before = NONE) => [
    ...before.filter((item) => item.of !== of),
    change,
  ]);
}

/** Finds the current block of an address or a user (`user:` and the visitor id). */
export type FindBlock = (of: string, listed: CurrentBlock | null, loadedAt: number) => CurrentBlock | null;

/** Adds the changes made on this page to the blocks of rows. */
export function useBlocks(): FindBlock {
  const client = useQueryClient();
  const { data: changes = NONE } = useQuery<readonly BlockChange[]>(
    { queryKey: CHANGES_KEY, queryFn: () => NONE, enabled: false, initialData: NONE },
    client,
  );
  return useCallback(
    (of, listed, loadedAt) => {
      let found = listed;
      for (const change of changes) if (change.at >= loadedAt && includes(change.of, of)) found = change.block;
      return found;
    },
    [changes],
  );
}

/** Whether a block of `range` applies to `name`; both are addresses, networks or users. */
function includes(range: string, name: string): boolean {
  if (range === name) return true;
  const [all, one] = [readAddressRange(range), parseAddress(name)];
  return all !== null && one !== null && isInRange(one, all);
}

/** The block of a row from a server that only reports whether there is one. */
export function toBlock(isBlocked: 0 | 1, range: string): CurrentBlock | null {
  return isBlocked === 1 ? { by: 'owner', by_login: '', until: null, note: '', range } : null;
}

/** Formats the end of a block: "15:31", "tomorrow, 14:35" or "28 Nov, 14:35". @param seconds Unix seconds */
export function endText(seconds: number, clock: SiteClock): string {
  const { formats, zone } = clock;
  const today = siteNow(zone, Date.now()).day;
  const { day, minutes } = siteNow(zone, seconds * 1000);
  const time = formats.time(timeOfDay(minutes));
  if (day === today) return time;
  /* translators: %s: time of the day */
  if (day === addDays(today, 1)) return sprintf(__('tomorrow, %s', 'security-optimizer'), time);
  return dateTimeText(seconds, clock);
}

/** Formats the state of a visitor: "Blocked until tomorrow, 14:35", "Locked until 15:31" or "Blocked". */
export function blockText({ by, until }: CurrentBlock, clock: SiteClock): string {
  if (until === null) return __('Blocked', 'security-optimizer');
  return by === 'lock'
    ? /* translators: %s: day and time, for example "tomorrow, 14:35" */
      sprintf(__('Locked until %s', 'security-optimizer'), endText(until, clock))
    : /* translators: %s: day and time, for example "tomorrow, 14:35" */
      sprintf(__('Blocked until %s', 'security-optimizer'), endText(until, clock));
}

/** Formats the origin of a block: "By failed logins", "By owner" or "By the command line"; empty if unknown. */
export function blockedByText({ by, by_login: login }: Pick<CurrentBlock, 'by' | 'by_login'>): string {
  if (by === 'lock') return __('By failed logins', 'security-optimizer');
  if (by === 'cli') return __('By the command line', 'security-optimizer');
  /* translators: %s: login of a user */
  return login === '' ? '' : sprintf(__('By %s', 'security-optimizer'), login);
}

/** Returns the network of an address that can be blocked: /24 of IPv4, /64 of IPv6; null if it is not an address. */
export function toNetwork(address: string): string | null {
  const bytes = parseAddress(address);
  if (bytes === null) return null;
  if (bytes.length === 4) return `${bytes.slice(0, 3).join('.')}.0/24`;
  const groups = [0, 2, 4, 6].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  return `${groups.join(':').replace(/(?::0)+$/, '')}::/64`;
}

/** The visitor to block. */
export interface BlockTarget {
  /** An address, a network or a range. */
  readonly name: string;
  /** Visitor id of an address; 0 for a network, which is blocked by its text. */
  readonly visitorId: number;
  /** Several visitors at once instead of one. */
  readonly several?: readonly { readonly visitorId: number; readonly name: string }[];
  /** Current block or lockout. */
  readonly block: CurrentBlock | null;
  /** Number of addresses of a network that attacked. */
  readonly attacking?: number;
}

/** The owner's choices for a block. */
export interface BlockTerms {
  readonly duration: BlockDuration;
  readonly note: string;
  readonly scope: 'address' | 'network' | 'default';
}

export const DEFAULT_DURATION: BlockDuration = 86_400;

/** Label of the button: "Block for 24 hours". */
export function blockForText(duration: BlockDuration): string {
  switch (duration) {
    case 3600:
      return __('Block for 1 hour', 'security-optimizer');
    case 86_400:
      return __('Block for 24 hours', 'security-optimizer');
    case 604_800:
      return __('Block for 7 days', 'security-optimizer');
    default:
      return __('Block for good', 'security-optimizer');
  }
}
