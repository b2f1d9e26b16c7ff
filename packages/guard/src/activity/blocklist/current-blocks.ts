import type { CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import { toAddress, toClientKey } from '../../lib/address.js';
import { isWithin, parseRange } from '../../lib/address-set.js';
import { parseVisitor, parseVisitorRange, toVisitorText } from '../../lib/carried-address.js';
import type { Clock } from '../../lib/clock.js';
import type { Services } from '../../services.js';
import type { SiteId } from '../../site.js';
import type { BlockedVisitor, BlocklistStore } from './blocklist-store.js';

/** Ranges that are searched for the one that blocks an address; most sites have a handful. */
const RANGES_MAX = 5000;

/** Finds the block or lockout that applies to visitors. */
export interface CurrentBlocks {
  /**
   * Returns the blocks of addresses and networks, by their texts; those that are not blocked are omitted. Reads the
   * list of blocks only when one of them is blocked. Throws StorageError.
   */
  find(site: SiteId, texts: Iterable<string>): Promise<ReadonlyMap<string, CurrentBlock>>;
  /** Returns the block of a user, or null. Throws StorageError. */
  findUser(site: SiteId, user: number): Promise<CurrentBlock | null>;
}

/** @param lockedUntil returns the end of the lockout of a `toClientKey`, milliseconds since the Unix epoch, or null */
export function createCurrentBlocks(deps: {
  readonly sites: Pick<Services['sites'], 'get' | 'isBlocked'>;
  readonly store: Pick<BlocklistStore, 'find' | 'findAddresses' | 'listRanges'>;
  readonly lockedUntil: (site: SiteId, key: string) => number | null;
  readonly clock: Clock;
}): CurrentBlocks {
  const { sites, store, lockedUntil, clock } = deps;

  function findLock(site: SiteId, text: string): CurrentBlock | null {
    const address = parseVisitor(text.replace(/\/64$/, ''));
    if (address === null || (address.family === 4 && text.includes('/'))) return null;
    const key = toClientKey(address);
    const until = lockedUntil(site, key);
    return until === null ? null : { by: 'lock', by_login: '', until: toSeconds(until), note: '', range: key };
  }

  return {
    async find(site, texts) {
      const found = new Map<string, CurrentBlock>();
      const blocked: string[] = [];
      for (const text of new Set(texts)) {
        const range = parseVisitorRange(text);
        if (range === null) continue;
        const lock = findLock(site, text);
        if (lock !== null) found.set(text, lock);
        // A block that contains a network contains its first address.
        if (sites.isBlocked(site, toAddress(range.from))) blocked.push(text);
      }
      if (blocked.length === 0) return found;
      const now = clock();
      const singles = await store.findAddresses(site, now, blocked.map(toVisitorText));
      const byValue = new Map(singles.map((block) => [block.value, block]));
      const others = blocked.filter((text) => !byValue.has(toVisitorText(text)));
      const ranges =
        others.length === 0
          ? []
          : (await store.listRanges(site, now, RANGES_MAX)).map((block) => ({ block, range: parseRange(block.value) }));
      for (const text of blocked) {
        const own = parseVisitorRange(text);
        const block =
          byValue.get(toVisitorText(text)) ??
          ranges.find(({ range }) => own !== null && range !== null && isWithin(own, range))?.block;
        if (block !== undefined) found.set(text, toCurrentBlock(block));
      }
      return found;
    },

    async findUser(site, user) {
      if (!sites.get(site).blockedUsers.has(user)) return null;
      const block = await store.find(site, 'user', String(user));
      return block === null ? null : toCurrentBlock(block);
    },
  };
}

/** Converts a block for the API. */
function toCurrentBlock({ by, byLogin, until, note, name }: BlockedVisitor): CurrentBlock {
  return { by, by_login: byLogin, until: until === null ? null : toSeconds(until), note, range: name };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
