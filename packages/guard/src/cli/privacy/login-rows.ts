/** A person's rows about logins in guard's main database: second factor, failed logins and lockouts, blocks. */
import { parseAddress } from '../../lib/address.js';
import { overlap } from '../../lib/address-set.js';
import { parseVisitorRange } from '../../lib/carried-address.js';
import { type Person, toLoginKeys } from './person.js';
import { all, count, run, type Scope, toTime } from './rows.js';

export function listFactors({
  database,
  site,
  person: { user },
}: Scope): { login: string; set_up: boolean; since: string | null }[] {
  if (user?.id == null) return [];
  const rows = all<{ login: string; created_at: number; enabled_at: number | null }>(
    database,
    'select login, created_at, enabled_at from second_factors where site = ? and user_id = ?',
    site,
    user.id,
  );
  return rows.map(({ login, created_at, enabled_at }) => ({
    login,
    set_up: enabled_at !== null,
    since: toTime(enabled_at ?? created_at),
    backup_codes_left: count(
      database,
      'select count(*) as rows from second_factor_codes where site = ? and user_id = ? and used_at is null',
      site,
      user.id,
    ),
  }));
}

export function listTrustedBrowsers({ database, site, person: { user } }: Scope): object[] {
  if (user?.id == null) return [];
  return all<{ created_at: number; expires_at: number }>(
    database,
    'select created_at, expires_at from second_factor_devices where site = ? and user_id = ? order by created_at',
    site,
    user.id,
  ).map(({ created_at, expires_at }) => ({ trusted_at: toTime(created_at), until: toTime(expires_at) }));
}

export function eraseTrustedBrowsers({ database, site, person: { user } }: Scope): number {
  if (user?.id == null) return 0;
  return run(database, 'delete from second_factor_devices where site = ? and user_id = ?', site, user.id);
}

export function listChallenges({ database, site, person: { user } }: Scope): object[] {
  if (user?.id == null) return [];
  return all<{ login: string; purpose: string; created_at: number; expires_at: number; ended_at: number | null }>(
    database,
    `select login, purpose, created_at, expires_at, ended_at from second_factor_challenges
     where site = ? and user_id = ? order by created_at`,
    site,
    user.id,
  ).map(({ login, purpose, created_at, expires_at, ended_at }) => ({
    login,
    purpose,
    begun_at: toTime(created_at),
    expires_at: toTime(expires_at),
    ended_at: toTime(ended_at),
  }));
}

/** Only challenges that are over: the person may be in the middle of another one, which expires within minutes. */
export function eraseChallenges({ database, site, person: { user }, now }: Scope): number {
  if (user?.id == null) return 0;
  return run(
    database,
    `delete from second_factor_challenges where site = ? and user_id = ? and (ended_at is not null or expires_at <= ?)`,
    site,
    user.id,
    now,
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

export function listAttempts({ database, site, person: { address, user } }: Scope): AttemptRow[] {
  const keys = address === null ? [] : toLoginKeys(address);
  const rows = all<AttemptRow>(
    database,
    'select key, failures, locked_until, last_failure, accounts from login_attempts where site = ?',
    site,
  );
  return rows.filter(
    ({ key, accounts }) => keys.includes(key) || (user?.id != null && accounts.split(',').includes(String(user.id))),
  );
}

/** An active lockout stays. The rows that are added make a running guard drop what it has in memory. */
export function eraseAttempts(scope: Scope): number {
  const { database, site, now } = scope;
  const over = listAttempts(scope).filter(({ locked_until }) => locked_until <= now);
  const keys = new Set(over.map(({ key }) => key));
  for (const key of keys) run(database, 'delete from login_attempts where site = ? and key = ?', site, key);
  const own = scope.person.address === null ? [] : toLoginKeys(scope.person.address);
  const locked = new Set(listAttempts(scope).map(({ key }) => key));
  // Also for keys without a row: guard may not have stored one yet.
  const shownKeys = [...new Set([...keys, ...own])].filter((key) => !locked.has(key));
  if (shownKeys.length === 0) return keys.size;
  const version = nextVersion(scope);
  for (const key of shownKeys) {
    run(
      database,
      `insert into login_unlocks (site, key, version) values (?, ?, ?)
       on conflict (site, key) do update set version = excluded.version`,
      site,
      key,
      version,
    );
  }
  return keys.size;
}

/** A running guard reads what changed when the version of a site increases. */
function nextVersion({ database, site }: Scope): number {
  const { version } = database.prepare('select coalesce(max(version), 0) + 1 as version from site_versions').get() as {
    version: number;
  };
  run(
    database,
    `insert into site_versions (site, version) values (?, ?) on conflict (site) do update set version = excluded.version`,
    site,
    version,
  );
  return version;
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

export function listBlocks({ database, site, person: { address, user }, now }: Scope): BlockRow[] {
  const parsed = address === null ? null : parseAddress(address);
  const rows = all<Omit<BlockRow, 'isBlocker'>>(
    database,
    `select id, kind, value, name, note, created_at, by_id, by_login, until from blocked_visitors
     where site = ? and (until is null or until > ?) and
       (kind != 'ip' or value = ? or value = ? or by_id = ?)`,
    site,
    now,
    address ?? '',
    address === null ? '' : (toLoginKeys(address)[0] ?? ''),
    user?.id ?? -1,
  );
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
export function anonymizeBlocks({ database, site, person: { user } }: Scope): number {
  if (user?.id == null) return 0;
  return run(
    database,
    `update blocked_visitors set by_id = 0, by_login = '' where site = ? and by_id = ?`,
    site,
    user.id,
  );
}
