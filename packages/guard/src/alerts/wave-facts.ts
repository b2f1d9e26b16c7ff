import { createHash } from 'node:crypto';
import { type ActivityStore, toKeyRange } from '../activity/index.js';
import { parseRange } from '../lib/address-set.js';
import type { SiteId } from '../site.js';
import { StorageError } from '../storage/storage-error.js';
import { findCommonNetwork, HOUR, isInside, type Wave } from './alert-rules.js';
import type { WaveAlert } from './describe-wave.js';

/** Events read from the log for one wave. */
const EVENTS_MAX = 2000;
const NAMES_MAX = 10;

/**
 * Returns the facts of a wave of lockouts: its totals, and what the Activity Log contains of its addresses. When the
 * log can't be read, the alert says less.
 */
export async function readWaveFacts(
  store: Pick<ActivityStore, 'listEvents'>,
  site: SiteId,
  { from, to, lockouts }: Wave,
): Promise<WaveAlert> {
  const addresses = [...new Set(lockouts.map(({ address }) => address))];
  const ranges = addresses.map(parseRange).filter((range) => range !== null);
  const find = async (activity: string) => {
    // The wrong passwords precede the first lockout.
    const filter = { from: Math.floor((from - HOUR) / 1000), to: Math.ceil(to / 1000), activity };
    const rows = await store.listEvents({ site, filter, anchor: null, before: null, skip: 0, limit: EVENTS_MAX });
    return rows.filter(({ address }) => address !== '' && ranges.some((range) => isInside(address, range)));
  };
  const network = findCommonNetwork(addresses);
  const range = network === null ? null : parseRange(network);
  const tried = new Map<string, number>();
  let gotIn: boolean | null = null;
  let membersThere: boolean | null = null;
  try {
    for (const { object } of await find('login.failed')) tried.set(object, (tried.get(object) ?? 0) + 1);
    gotIn = (await find('login')).length > 0;
    if (range !== null) {
      const filter = { from: null, to: null, activity: 'login', addresses: [toKeyRange(range)] };
      const logins = await store.listEvents({ site, filter, anchor: null, before: null, skip: 0, limit: 1 });
      membersThere = logins.length > 0;
    }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
  return {
    kind: 'lockout-wave',
    uid: createHash('sha256')
      .update(JSON.stringify([site, from, to]))
      .digest('hex')
      .slice(0, 32),
    ...{ at: to, from, to, gotIn, network, membersThere },
    addresses: addresses.length,
    failures: lockouts.reduce((sum, { failures }) => sum + failures, 0),
    names: [...tried]
      .map(([login, failures]) => ({ login, failures }))
      .sort((one, other) => other.failures - one.failures)
      .slice(0, NAMES_MAX),
  };
}
