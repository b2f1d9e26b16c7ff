/** A person's rows about logins in guard's main database: second factor, failed logins and lockouts, blocks. */
import { parseAddress } from '../../lib/address.js';
import { overlap } from '../../lib/address-set.js';
import { parseVisitorRange } from '../../lib/carried-address.js';
import { nextSiteVersion } from '../../storage/change-feed.js';
import { type Person, toLoginKeys } from './person.js';
import { countChanged, type Scope, toTime } from './rows.js';

export async function listFactors({
  db,
  site,
  person: { user },
}: Scope): Promise<{ login: string; set_up: boolean; since: string | null; backup_codes_left: number }[]> {
  if (user?.id == null) return [];
  const factors = await db
    .selectFrom('second_factors')
    .select(['login', 'created_at', 'enabled_at'])
    .where('site', '=', site)
    .where('user_id', '=', user.id)
    .execute();
  const codes = await db
    .selectFrom('second_factor_codes')
    .select((expression) => expression.fn.countAll().as('left'))
    .where('site', '=', site)
    .where('user_id', '=', user.id)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return factors.map(({ login, created_at, enabled_at }) => ({
    login,
    set_up: enabled_at !== null,
    since: toTime(enabled_at ?? created_at),
    backup_codes_left: Number(codes.left),
  }));
}

export async function listTrustedBrowsers({ db, site, person: { user } }: Scope): Promise<object[]> {
  if (user?.id == null) return [];
  const rows = await db
    .selectFrom('second_factor_devices')
    .select(['created_at', 'expires_at'])
    .where('site', '=', site)
    .where('user_id', '=', user.id)
    .orderBy('created_at')
    .execute();
  return rows.map(({ created_at, expires_at }) => ({ trusted_at: toTime(created_at), until: toTime(expires_at) }));
}

export async function eraseTrustedBrowsers({ db, site, person: { user } }: Scope): Promise<number> {
  if (user?.id == null) return 0;
  return await countChanged(
    db.deleteFrom('second_factor_devices').where('site', '=', site).where('user_id', '=', user.id),
  );
}

export async function listChallenges({ db, site, person: { user } }: Scope): Promise<object[]> {
  if (user?.id == null) return [];
  const rows = await db
    .selectFrom('second_factor_challenges')
    .select(['login', 'purpose', 'created_at', 'expires_at', 'ended_at'])
    .where('site', '=', site)
    .where('user_id', '=', user.id)
    .orderBy('created_at')
    .execute();
  return rows.map(({ login, purpose, created_at, expires_at, ended_at }) => ({
    login,
    purpose,
    begun_at: toTime(created_at),
    expires_at: toTime(expires_at),
    ended_at: toTime(ended_at),
  }));
}

/** Only challenges that are over: the person may be in the middle of another one, which expires within minutes. */
export async function eraseChallenges({ db, site, person: { user }, now }: Scope): Promise<number> {
  if (user?.id == null) return 0;
  return await countChanged(
    db
      .deleteFrom('second_factor_challenges')
      .where('site', '=', site)
      .where('user_id', '=', user.id)
      .where((is) => is.or([is('ended_at', 'is not', null), is('expires_at', '<=', now)])),
  );
}

export function isOwnKey(key: string, { address }: Person): boolean {
  return address !== null && toLoginKeys(address).includes(key);
}

interface AttemptRow {
  readonly key: string;
  readonly failures: number;
  readonly locked_until: number;
  readonly last_failure: number;
  readonly accounts: string;
}

export async function listAttempts({ db, site, person: { address, user } }: Scope): Promise<AttemptRow[]> {
  const keys = address === null ? [] : toLoginKeys(address);
  const rows = await db
    .selectFrom('login_attempts')
    .select(['key', 'failures', 'locked_until', 'last_failure', 'accounts'])
    .where('site', '=', site)
    .execute();
  return rows.filter(
    ({ key, accounts }) => keys.includes(key) || (user?.id != null && accounts.split(',').includes(String(user.id))),
  );
}

/** An active lockout stays. The rows that are added make a running guard drop what it has in memory. */
export async function eraseAttempts(scope: Scope): Promise<number> {
  const { db, site, now } = scope;
  const found = await listAttempts(scope);
  const keys = found.filter(({ locked_until }) => locked_until <= now).map(({ key }) => key);
  for (const key of keys) {
    await db.deleteFrom('login_attempts').where('site', '=', site).where('key', '=', key).execute();
  }
  const own = scope.person.address === null ? [] : toLoginKeys(scope.person.address);
  const locked = new Set(found.map(({ key }) => key).filter((key) => !keys.includes(key)));
  // Also for keys without a row: guard may not have stored one yet.
  const shownKeys = [...new Set([...keys, ...own])].filter((key) => !locked.has(key));
  if (shownKeys.length === 0) return keys.length;
  // A running guard reads what changed when the version of a site increases.
  const version = await nextSiteVersion(db, site);
  for (const key of shownKeys) {
    await db
      .insertInto('login_unlocks')
      .values({ site, key, version })
      .onConflict((conflict) => conflict.columns(['site', 'key']).doUpdateSet({ version }))
      .execute();
  }
  return keys.length;
}

interface BlockRow {
  readonly id: number;
  readonly kind: string;
  readonly value: string;
  readonly name: string;
  readonly note: string;
  readonly created_at: number;
  readonly by_id: number | null;
  readonly by_login: string;
  readonly until: number | null;
  /** The person set the block, and is not the one who is blocked. */
  readonly isBlocker: boolean;
}

export async function listBlocks({ db, site, person: { address, user }, now }: Scope): Promise<BlockRow[]> {
  const parsed = address === null ? null : parseAddress(address);
  const addresses = address === null ? [] : [address, ...toLoginKeys(address).slice(0, 1)];
  const rows = await db
    .selectFrom('blocked_visitors')
    .select(['id', 'kind', 'value', 'name', 'note', 'created_at', 'by_id', 'by_login', 'until'])
    .where('site', '=', site)
    .where((is) => is.or([is('until', 'is', null), is('until', '>', now)]))
    .where((is) =>
      is.or([
        is('kind', '!=', 'ip'),
        ...(addresses.length > 0 ? [is('value', 'in', addresses)] : []),
        ...(user?.id != null ? [is('by_id', '=', user.id)] : []),
      ]),
    )
    .orderBy('id')
    .execute();
  return rows.flatMap((row) => {
    const isBlocked =
      row.kind === 'user'
        ? user?.id != null && row.value === String(user.id)
        : parsed !== null && (row.value === address || isInRange(row.value, parsed));
    const isBlocker = user?.id != null && row.by_id === user.id;
    return isBlocked || isBlocker ? [{ ...row, isBlocker: isBlocker && !isBlocked }] : [];
  });
}

function isInRange(text: string, address: NonNullable<ReturnType<typeof parseAddress>>): boolean {
  const range = parseVisitorRange(text);
  return range !== null && overlap(range, { from: address.words, to: address.words });
}

/** The block stays; the name of the user who set it is erased. */
export async function anonymizeBlocks({ db, site, person: { user } }: Scope): Promise<number> {
  if (user?.id == null) return 0;
  return await countChanged(
    db
      .updateTable('blocked_visitors')
      .set({ by_id: 0, by_login: '' })
      .where('site', '=', site)
      .where('by_id', '=', user.id),
  );
}
