import { parseAddress, toClientKey } from '../../lib/address.js';
import { toCrossSiteKey } from '../../login/index.js';
import type { SqliteDatabase } from '../../storage/sqlite.js';

/** The person whose data are requested, as an operator knows them. At least one of the three is set. */
export interface Person {
  /** An IP address in canonical text. */
  readonly address: string | null;
  readonly user: PersonUser | null;
  /** An e-mail address in lower case. */
  readonly email: string | null;
}

/** A user of WordPress, as stored in guard's databases. */
interface PersonUser {
  /** Null when no stored row has the number. */
  readonly id: number | null;
  /** In lower case; several when the user was renamed. */
  readonly logins: readonly string[];
}

/** Rows of one kind that an erasure deleted or anonymised. */
type ErasedCounts = Readonly<Record<string, number>>;

/** Outcome for one person's rows in a database. */
export interface Erasure {
  readonly erased: ErasedCounts;
  /** What stays, each with the reason. */
  readonly kept: readonly string[];
}

/** Replaces an erased name or address. */
export const ERASED = 'erased';

/** Keys of failed logins of an address; an IPv6 address shares them with its /64. */
export function toLoginKeys(address: string): readonly string[] {
  const parsed = parseAddress(address);
  if (parsed === null) return [];
  const key = toClientKey(parsed);
  return [key, toCrossSiteKey(key)];
}

/** Names with which the person logs in, in lower case. WordPress accepts the e-mail address in place of the login. */
export function toLoginNames({ user, email }: Person): readonly string[] {
  return [...new Set([...(user?.logins ?? []), ...(email === null ? [] : [email])])];
}

/** Members of JSON that hold a login; elsewhere the same text may be an ordinary value. */
const LOGIN_MEMBERS: ReadonlySet<string> = new Set([
  'login',
  'name',
  'user',
  'user_login',
  'actor',
  'by',
  'tried',
  'who',
]);
const USER_ID_MEMBERS: ReadonlySet<string> = new Set(['user', 'userId', 'user_id']);

/**
 * Replaces what names a person in stored JSON.
 * @param key name of the member that holds the value
 * @returns the same value when nothing in it names the person
 */
export function anonymizeJson(value: unknown, person: Person, key = ''): unknown {
  if (typeof value === 'string') return namesPerson(value, person, key) ? ERASED : value;
  if (typeof value === 'number') {
    return USER_ID_MEMBERS.has(key) && value === person.user?.id ? 0 : value;
  }
  if (Array.isArray(value)) {
    const list = value.map((each) => anonymizeJson(each, person, key));
    return list.every((each, index) => each === value[index]) ? value : list;
  }
  if (typeof value !== 'object' || value === null) return value;
  const before = value as Record<string, unknown>;
  const after = Object.fromEntries(
    Object.entries(before).map(([name, each]) => [name, anonymizeJson(each, person, name)]),
  );
  // An actor: number and login in one object.
  if (typeof before.login === 'string' && typeof before.id === 'number' && before.id === person.user?.id) after.id = 0;
  return Object.entries(after).every(([name, each]) => each === before[name]) ? value : after;
}

/**
 * The parts of stored JSON that name a person, without adjacent data about others: values, and objects with their plain
 * members.
 *
 * @param key name of the member that holds the value
 */
export function selectNamed(value: unknown, person: Person, key = ''): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => selectNamed(each, person, key));
  if (typeof value !== 'object' || value === null) return anonymizeJson(value, person, key) === value ? [] : [value];
  const members = Object.entries(value);
  const isPlain = (each: unknown) => typeof each !== 'object' || each === null;
  const plain = Object.fromEntries(members.filter(([, each]) => isPlain(each)));
  const nested = members.filter(([, each]) => !isPlain(each));
  return [
    ...(anonymizeJson(plain, person, key) === plain ? [] : [plain]),
    ...nested.flatMap(([name, each]) => selectNamed(each, person, name)),
  ];
}

/** Like `anonymizeJson`, for JSON as text. @returns null when nothing in it names the person, or when it is not JSON */
export function anonymizeJsonText(text: string, person: Person, key = ''): string | null {
  try {
    const before: unknown = JSON.parse(text);
    const after = anonymizeJson(before, person, key);
    return after === before ? null : JSON.stringify(after);
  } catch {
    return null;
  }
}

function namesPerson(text: string, { address, user, email }: Person, key: string): boolean {
  const lower = text.toLowerCase();
  if (address !== null && (lower === address || toLoginKeys(address).includes(lower))) return true;
  if (email !== null && lower === email) return true;
  return LOGIN_MEMBERS.has(key) && (user?.logins.includes(lower) ?? false);
}

/** Replaces an address in a line of text where it is a whole word. @returns null when it does not occur */
export function anonymizeText(text: string, { address }: Person): string | null {
  if (address === null || !text.includes(address)) return null;
  const pattern = new RegExp(`(?<![0-9a-f:.])${address.replaceAll('.', '\\.')}(?![0-9a-f:]|\\.[0-9])`, 'gi');
  const after = text.replace(pattern, ERASED);
  return after === text ? null : after;
}

/** A list of placeholders for a statement. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Runs a function in one transaction. */
export function inTransaction<Result>(database: SqliteDatabase, work: () => Result): Result {
  database.exec('begin immediate');
  try {
    const result = work();
    database.exec('commit');
    return result;
  } catch (error) {
    // SQLite rolls back by itself after some faults (disk full, I/O error).
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
