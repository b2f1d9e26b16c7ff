import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPostgresUrl } from '../config/database-url.js';
import { loadConfig } from '../config/load-config.js';
import { parseVisitor } from '../lib/carried-address.js';
import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { lineText } from '../lib/plain-text.js';
import { openGuardDatabase } from '../migrations.js';
import { isDataDirInUse } from '../storage/data-dir-lock.js';
import { openSqlite, type SqliteDatabase, toSqliteFault } from '../storage/sqlite.js';
import { StorageError } from '../storage/storage-error.js';
import { type Command, CommandError, readArguments, required, UsageError } from './command.js';
import { describeRemains } from './database-programs.js';
import { writeOperatorFile } from './operator-files.js';
import { refuseOtherDatabase } from './other-database.js';
import { eraseActivityData, findLoggedUsers, findSiteNumber, readActivityData } from './privacy/activity-data.js';
import {
  eraseMainData,
  findStoredUsers,
  forgetUnlocks,
  isAddressBlocked,
  readMainData,
  removeRemains,
} from './privacy/main-data.js';
import type { Erasure, Person } from './privacy/person.js';
import type { MainDatabase } from './privacy/rows.js';
import { type KnownSite, pickSite } from './recovery.js';

const personHelp = `  SITE             the site; may be left out when there is only one
  --address A      an IPv4 or IPv6 address
  --user U         username or user ID
  --email E        recipient of weekly reports and alerts; also found where it was tried or is used as a username
  --data-dir DIR   guard's data folder

At least one of the three names the person; several are taken for the same person.`;

export const exportPersonCommand: Command = {
  name: 'privacy export',
  summary: 'Print what is stored about one person as JSON.',
  help: `security-optimizer privacy export [SITE] --address A | --user U | --email E --data-dir DIR [--output FILE]

${personHelp}
  --output FILE    write to a new file, which only the user who called the command may read, instead of printing

Keys, codes and hashes are not exported; of a second factor it says that it is set up. What WordPress stores (the account,
its sessions), log files of guard and of web servers, and back-ups are not looked at.`,
  run: (args) =>
    withPerson(args, async ({ site, person, main, activity, output }) => {
      const data = {
        site: site.id,
        person,
        exported_at: new Date(systemClock()).toISOString(),
        settings_database: await readMainData({ db: main, site: site.id, person, now: systemClock() }),
        activity_log: activity === null ? {} : readActivityData({ ...activity, person }),
      };
      const text = `${JSON.stringify(data, null, 2)}\n`;
      if (output === undefined) process.stdout.write(text);
      else await writeOperatorFile(output, text);
      return 0;
    }),
};

export const erasePersonCommand: Command = {
  name: 'privacy erase',
  summary: 'Delete or anonymise what is stored about one person.',
  help: `security-optimizer privacy erase [SITE] --address A | --user U | --email E --data-dir DIR [--yes]

${personHelp}
  --yes            do not ask

Works while guard runs and while it does not. What protects the site now (a block, a lock by failed logins, a second
factor) and the owner's settings stay, and are named. Who visits the site afterwards is recorded again.`,
  run: (args) =>
    withPerson(args, async (open) => {
      if (!open.yes) await confirm(open.person);
      await printErasure(open, await erasePerson(open));
      return 0;
    }),
};

interface OpenPerson {
  readonly site: KnownSite;
  readonly person: Person;
  readonly dataDir: string;
  /** `Config.database`. */
  readonly url: string;
  readonly main: MainDatabase;
  /** Null when the log has no entries of the site. */
  readonly activity: { readonly database: SqliteDatabase; readonly site: number } | null;
  readonly output: string | undefined;
  readonly yes: boolean;
}

const BUSY_TIMEOUT_MS = 10_000;
/** Deleted rows are overwritten in the file, and are on the disk before the command ends. */
const PRAGMAS = ['trusted_schema = off', 'secure_delete = on', 'synchronous = full'];

async function withPerson(args: readonly string[], task: (open: OpenPerson) => Promise<number>): Promise<number> {
  const { values, positionals } = readArguments(args, {
    'data-dir': { type: 'string' },
    site: { type: 'string' },
    address: { type: 'string' },
    user: { type: 'string' },
    email: { type: 'string' },
    output: { type: 'string' },
    yes: { type: 'boolean' },
  });
  const [name = values.site, surplus] = positionals;
  if (surplus !== undefined) throw new UsageError('Name one site.');
  const named = readNames(values);
  const config = await loadConfig({ dataDir: resolve(required('data-dir', values['data-dir'])) });
  const site = pickSite([...config.sites, ...config.quarantined], name);
  await refuseOtherDatabase(config);
  const activityFile = resolve(config.dataDir, 'activity.sqlite');
  // Migrates the tables to this release, whichever release opened the database last.
  const main = await openGuardDatabase({
    ...{ url: config.database, dataDir: config.dataDir, logger: silentLogger(), busyTimeoutMs: BUSY_TIMEOUT_MS },
  });
  let log: SqliteDatabase | null = null;
  try {
    log = existsSync(activityFile) ? openLog(activityFile) : null;
    const number = log === null ? null : findSiteNumber(log, site.id);
    const activity = log === null || number === null ? null : { database: log, site: number };
    const user = await findNamedUser(named, { main, activity, site });
    const person = { address: named.address, user, email: named.email };
    return await task({
      ...{ site, person, dataDir: config.dataDir, url: config.database, main, activity },
      ...{ output: values.output, yes: values.yes === true },
    });
  } catch (error) {
    throw toStorageError(error, config.dataDir);
  } finally {
    log?.close();
    await main.destroy();
  }
}

function readNames(values: { address?: string | undefined; user?: string | undefined; email?: string | undefined }) {
  const { address, user = null, email = null } = values;
  if (address === undefined && user === null && email === null) {
    throw new UsageError('Name the person: --address, --user or --email.');
  }
  const parsed = address === undefined ? null : parseVisitor(address);
  if (address !== undefined && parsed === null)
    throw new UsageError(`--address: ${lineText(address)} is not an address.`);
  const isEmail = (text: string) => /^[^@\s]+@[^@\s]+$/.test(text);
  if (user === '' || email === '') throw new UsageError('--user and --email must not be empty.');
  if (email !== null && !isEmail(email)) throw new UsageError(`--email: ${lineText(email)} is no e-mail address.`);
  // A user may have an e-mail address as the name; then it is the same person's in both places.
  const mailbox = email ?? (user !== null && isEmail(user) ? user : null);
  return { address: parsed?.text ?? null, user, email: mailbox?.toLowerCase() ?? null };
}

function openLog(file: string): SqliteDatabase {
  const database = openSqlite(file, { busyTimeoutMs: BUSY_TIMEOUT_MS });
  for (const pragma of PRAGMAS) database.exec(`pragma ${pragma}`);
  return database;
}

/** The user who is named, or the one whose login is the e-mail address that is named. */
async function findNamedUser(
  { user, email }: ReturnType<typeof readNames>,
  open: Pick<OpenPerson, 'main' | 'activity' | 'site'>,
): Promise<Person['user']> {
  if (user !== null) return findUser(user, open);
  const found = email === null ? null : await findUser(email, open);
  return found?.id == null ? null : found;
}

/** The user with a login or a number, with every login that is stored for them. */
async function findUser(
  name: string,
  { main, activity, site }: Pick<OpenPerson, 'main' | 'activity' | 'site'>,
): Promise<NonNullable<Person['user']>> {
  const find = async (text: string) => [
    ...(await findStoredUsers(main, site.id, text)),
    ...(activity === null ? [] : findLoggedUsers(activity.database, activity.site, text)),
  ];
  const found = await find(name);
  const byLogin = found.filter(({ login }) => login.toLowerCase() === name.toLowerCase());
  // A login may consist of digits.
  const id = (byLogin[0] ?? found[0])?.id ?? (/^[1-9]\d{0,14}$/.test(name) ? Number(name) : null);
  const others = id === null ? [] : (await find(String(id))).filter((user) => user.id === id);
  const isNumber = byLogin.length === 0 && String(id) === name;
  const logins = [...(isNumber ? [] : [name]), ...others.map(({ login }) => login)];
  return { id, logins: [...new Set(logins.map((login) => login.toLowerCase()))].filter((login) => login !== '') };
}

/**
 * How long a running guard may take to store what it holds in memory: batch, folded second and commit, milliseconds.
 */
const LATE_MS = 2500;
/**
 * Maximum number of erasures while new rows keep arriving. A person who continues to visit is recorded again each time.
 */
const PASSES = 4;

/**
 * Erases a person from both databases. A running guard drops its caches when it finds its databases changed. Requests
 * of the last second may not be stored yet, so the erasure is repeated until it finds no rows.
 */
async function erasePerson(open: OpenPerson): Promise<Erasure> {
  const total: Record<string, number> = {};
  for (let pass = 1; ; pass++) {
    const { erased, kept } = await eraseOnce(open);
    for (const [name, rows] of Object.entries(erased)) total[name] = (total[name] ?? 0) + rows;
    const found = Object.values(erased).some((rows) => rows > 0);
    if (!isDataDirInUse(open.dataDir) || (pass > 1 && !found) || pass === PASSES) {
      await forgetUnlocks(toMainScope(open));
      return { erased: total, kept };
    }
    await sleep(LATE_MS);
  }
}

function toMainScope({ main, site, person }: OpenPerson) {
  return { db: main, site: site.id, person, now: systemClock() };
}

/** The main database is first, so that what the Activity Log copies from it no longer names the person. */
async function eraseOnce(open: OpenPerson): Promise<Erasure> {
  const { activity, person } = open;
  const scope = toMainScope(open);
  const main = await eraseMainData(scope);
  if (activity === null) return main;
  const log = eraseActivityData({ ...activity, person, isBlocked: await isAddressBlocked(scope) });
  return { erased: { ...main.erased, ...log.erased }, kept: [...main.kept, ...log.kept] };
}

async function printErasure({ dataDir, url, main, activity }: OpenPerson, { erased, kept }: Erasure): Promise<void> {
  const rows = Object.entries(erased).filter(([, count]) => count > 0);
  process.stdout.write(
    rows.length === 0
      ? 'Nothing to erase is stored.\n'
      : `Erased or anonymised: ${rows.map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`).join(', ')}.\n`,
  );
  for (const reason of kept) process.stdout.write(`Kept: ${lineText(reason)}\n`);
  if (rows.length === 0) return;
  activity?.database.prepare('pragma wal_checkpoint(truncate)').get();
  await removeRemains(main);
  process.stdout.write(
    `Not looked at: WordPress itself, log files, back-ups, and copies of databases in ${join(dataDir)}.\n`,
  );
  if (isPostgresUrl(url)) process.stdout.write(describeRemains(url));
}

/** @throws CommandError when the operator does not confirm, or there is no terminal */
async function confirm({ address, user, email }: Person): Promise<void> {
  if (!process.stdin.isTTY) throw new CommandError('Nothing was erased. Confirm with --yes.');
  const named = [address, user?.logins[0] ?? user?.id, email].filter((each) => each != null).join(', ');
  // Without the line editor, whose control characters would be escaped.
  const prompt = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  try {
    const answer = await prompt.question(`Erase what is stored about ${lineText(named)}? It can’t be undone. [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Nothing was erased.');
  } finally {
    prompt.close();
  }
}

function toStorageError(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || error instanceof UsageError || error instanceof CommandError) return error;
  if (error instanceof StorageError || (error as NodeJS.ErrnoException).syscall !== undefined) return error;
  const { fault, message } = toSqliteFault(error);
  return fault === 'other' ? error : new StorageError(fault, `${dataDir}: ${message}`, { cause: error });
}
