import { resolve } from 'node:path';
import { readAddressRange } from '@security-optimizer/contract/typed-addresses';
import { sqlBlocklistStore } from '../activity/index.js';
import type { Config } from '../config/config.js';
import { siteId } from '../config/config-file.js';
import { loadConfig } from '../config/load-config.js';
import { parseAddress, toAddress, toClientKey } from '../lib/address.js';
import { parseRange, rangeText } from '../lib/address-set.js';
import { findCarriedRange } from '../lib/carried-address.js';
import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import { lineText } from '../lib/plain-text.js';
import { deleteLoginLocks } from '../login/index.js';
import { openGuardDatabase } from '../migrations.js';
import { COMMAND_LINE_ACTOR } from '../settings/audit-store.js';
import { changeSettings } from '../settings/change-settings.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { type SettingChanges, type SiteSettings, UnusableSettingsError } from '../settings/site-settings.js';
import type { QuarantinedSite, SiteConfig } from '../site.js';
import { createSiteFactsStore } from '../sites/site-facts-store.js';
import type { Database } from '../storage/database.js';
import { createFactorStore, listEnrolled, resetTwoFactor } from '../two-factor/index.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import { type Command, CommandError, readArguments, required, UsageError } from './command.js';
import { refuseOtherDatabase } from './other-database.js';
import { printQuarantine } from './running-guard.js';

export const recoveryOptionsHelp = `  --data-dir DIR   guard's data folder
  --site ID        the site; may be left out when there is only one

Works while guard runs, within a second, and while it does not.`;

/** A site of the configuration, quarantined or not. Its stored settings can be changed in both cases. */
export type KnownSite = SiteConfig | QuarantinedSite;

/** A site whose settings a command can change. */
export interface OpenSite {
  readonly site: KnownSite;
  readonly db: Database;
  readonly now: number;
  /** Positional arguments of the command. */
  readonly positionals: readonly string[];
  /**
   * Stores changes. A running guard applies them and sends them to WordPress. When the command has succeeded, guard
   * looks again at a site that is in quarantine: the change may have mended the reason.
   * @param replacing names of settings that get new values even if their stored ones can't be used
   */
  change(decide: (settings: SiteSettings) => SettingChanges, replacing?: readonly string[]): Promise<SiteSettings>;
}

/**
 * Opens the database of a data folder for one recovery command, and closes it again. Never waits for WordPress, nor
 * for guard unless the site is in quarantine, so that it works when one of them is the problem.
 *
 * @param form the expected positional arguments, for messages, for example `['reset']` or `['IP']`
 * @throws UsageError, CommandError, ConfigError, StorageError
 */
export async function withSite<Flag extends string = never>(
  args: readonly string[],
  form: readonly string[],
  task: (open: OpenSite, flags: Readonly<Partial<Record<Flag, boolean>>>, config: Config) => Promise<number>,
  flags: readonly Flag[] = [],
): Promise<number> {
  const { values, positionals } = readArguments(args, {
    'data-dir': { type: 'string' },
    site: { type: 'string' },
    ...Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' as const }])),
  });
  const isSelected = flags.some((flag) => (values as Record<string, unknown>)[flag] === true);
  checkArguments(positionals, isSelected ? [] : form);
  const config = await loadConfig({ dataDir: resolve(required('data-dir', values['data-dir'])) });
  const site = pickSite([...config.sites, ...config.quarantined], values.site);
  await refuseOtherDatabase(config);
  const db = await openGuardDatabase({ url: config.database, dataDir: config.dataDir, logger: silentLogger() });
  const settings = createSettingsStore(db);
  let isChanged = false;
  const change: OpenSite['change'] = async (decide, replacing = []) => {
    const outside = {
      settings,
      pushPolicy: async () => ({}),
      apply: () => undefined,
      publish: () => undefined,
      mutex: new KeyedMutex(),
      clock: systemClock,
      logger: silentLogger(),
    };
    const { after } = await changeSettings(outside, { site, actor: COMMAND_LINE_ACTOR, replacing }, decide);
    isChanged = true;
    return after;
  };
  try {
    const open = { site, db, now: systemClock(), positionals, change };
    const code = await task(open, values as Partial<Record<Flag, boolean>>, config);
    return isChanged && (await printQuarantine(config.dataDir, site.id)) ? 1 : code;
  } catch (error) {
    if (!(error instanceof UnusableSettingsError)) throw error;
    throw new CommandError(
      `${error.detail}. Nothing was changed. Correct it with \`security-optimizer settings import FILE --site ${site.id}\`, or restore a back-up.`,
    );
  } finally {
    await db.destroy();
  }
}

/** Words in capitals are placeholders; the others must match exactly. */
function checkArguments(args: readonly string[], wanted: readonly string[]): void {
  const fits = wanted.every((word, index) =>
    word === word.toUpperCase() ? args[index] !== undefined && args[index] !== '' : args[index] === word,
  );
  if (args.length !== wanted.length || !fits) {
    throw new UsageError(
      wanted.length === 0 ? 'Nothing but options can stand here.' : `The command needs: ${wanted.join(' ')}.`,
    );
  }
}

/** Maximum number of sites that a message names. */
const MAX_NAMED = 10;

function nameSome(sites: readonly KnownSite[]): string {
  const named = sites.slice(0, MAX_NAMED).map(({ id }) => `--site ${id}`);
  if (sites.length <= MAX_NAMED) return `${named.join(', ')}.`;
  return `${named.join(', ')}, … There are ${sites.length} sites; \`sites list\` shows them.`;
}

/** The site with that id, or the only one. @throws UsageError, CommandError */
export function pickSite(configured: readonly KnownSite[], id: string | undefined): KnownSite {
  // Nothing is stored for an entry that has no id of its own.
  const sites = configured.filter((site) => siteId.safeParse(site.id).success);
  const [first, second] = sites;
  if (first === undefined) throw new CommandError('No site is attached in this data folder.');
  if (id === undefined) {
    if (second === undefined) return first;
    throw new UsageError(`There are several sites. Name one: ${nameSome(sites)}`);
  }
  const site = sites.find((entry) => entry.id === id);
  if (!site) throw new CommandError(`No site has the id ${id}.`);
  return site;
}

export const awayModeCommand: Command = {
  name: 'away-mode',
  summary: 'End Away Mode, even while it is on.',
  help: `security-optimizer away-mode off --data-dir DIR [--site ID]

${recoveryOptionsHelp}`,
  run: (args) =>
    withSite(args, ['off'], async ({ change }) => {
      await change(() => ({ away_mode: { type: 'off' } }), ['away_mode']);
      process.stdout.write('Away Mode is off.\n');
      return 0;
    }),
};

export const loginAccessCommand: Command = {
  name: 'login-access',
  summary: 'Remove the Login Access list, so that every address may log in.',
  help: `security-optimizer login-access clear --data-dir DIR [--site ID]

${recoveryOptionsHelp}`,
  run: (args) =>
    withSite(args, ['clear'], async ({ change }) => {
      await change(() => ({ login_access: [] }), ['login_access']);
      process.stdout.write('The Login Access list is empty. Every address may try to log in.\n');
      return 0;
    }),
};

export const loginUrlCommand: Command = {
  name: 'login-url',
  summary: 'Restore WordPress’s own login URL.',
  help: `security-optimizer login-url reset --data-dir DIR [--site ID]

${recoveryOptionsHelp}
The own addresses are kept for the next time.`,
  run: (args) =>
    withSite(args, ['reset'], async ({ change }) => {
      await change(({ login }) => ({ login_url: { ...login.login_url, type: 'default' } }), ['login_url']);
      process.stdout.write('The login is at wp-login.php.\n');
      return 0;
    }),
};

/** A day. For longer pauses, detach the site. */
const MAX_MINUTES = 1440;

export const pauseCommand: Command = {
  name: 'pause',
  summary: 'Pause all protections for some minutes; guard only forwards.',
  help: `security-optimizer pause MINUTES --data-dir DIR [--site ID]

  MINUTES          1 to ${MAX_MINUTES}
${recoveryOptionsHelp}
Every protection of the site is off for that time, the second factor too. Then all is as before, and
administrators and editors who logged in meanwhile without it log in again. End it sooner with \`security-optimizer
resume\`; \`security-optimizer status\` says until when it lasts.`,
  run: (args) =>
    withSite(args, ['MINUTES'], async ({ change, now, positionals: [text = ''] }) => {
      const minutes = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      if (minutes < 1 || minutes > MAX_MINUTES) throw new UsageError(`MINUTES: use 1 to ${MAX_MINUTES}.`);
      const until = now + minutes * 60_000;
      await change(() => ({ paused_until: until }), ['paused_until']);
      process.stdout.write(`Everything is off until ${new Date(until).toISOString()}.\n`);
      return 0;
    }),
};

export const resumeCommand: Command = {
  name: 'resume',
  summary: 'End a pause; all protections are on again.',
  help: `security-optimizer resume --data-dir DIR [--site ID]

${recoveryOptionsHelp}`,
  run: (args) =>
    withSite(args, [], async ({ change }) => {
      await change(() => ({ paused_until: 0 }), ['paused_until']);
      process.stdout.write('Everything is in force.\n');
      return 0;
    }),
};

export const twoFactorCommand: Command = {
  name: 'two-factor',
  summary: 'Delete the second factor of a user, who sets up a new one at the next login.',
  help: `security-optimizer two-factor reset USER --data-dir DIR [--site ID]

  USER             username or user ID
${recoveryOptionsHelp}
Ends the sessions of the user too, if WordPress answers.`,
  run: (args) =>
    withSite(args, ['reset', 'USER'], async ({ site, db, positionals: [, name = ''] }) => {
      const store = createFactorStore(db);
      const enrolled = await listEnrolled(store, site.id);
      const match = enrolled.find(({ user_login }) => user_login.toLowerCase() === name.toLowerCase());
      const user = match?.ID ?? (/^[1-9]\d{0,14}$/.test(name) ? Number(name) : null);
      if (user === null) throw new CommandError(`No user with a second factor is called ${lineText(name)}.`);
      let sessionsLeft: string | null = null;
      const done = await resetTwoFactor(
        {
          store,
          // A phone can be lost while WordPress is down: the second factor is reset nevertheless.
          endSessions: async () => {
            sessionsLeft = await endSessions({ site, db }, user);
          },
          publish: () => undefined,
          clock: systemClock,
          logger: silentLogger(),
        },
        { site: site.id, user, actor: COMMAND_LINE_ACTOR },
      );
      if (done === null) throw new CommandError(`The user ${lineText(name)} has no second factor.`);
      process.stdout.write(`${lineText(done.login)} sets up a new second factor at the next login.\n`);
      if (sessionsLeft !== null) {
        process.stderr.write(`The sessions of the user could not be ended. ${lineText(sessionsLeft)}\n`);
      }
      return 0;
    }),
};

/** @returns why the sessions could not be ended, or null */
async function endSessions({ site, db }: Pick<OpenSite, 'site' | 'db'>, user: number): Promise<string | null> {
  if ('reason' in site) return `WordPress can’t be asked: ${site.reason}.`;
  const { facts } = await createSiteFactsStore(db).read(site.id);
  const client = createConnectorClient({ clock: systemClock, facts: () => facts });
  try {
    await client.endSessions(site, [user]);
    return null;
  } catch (error) {
    if (error instanceof ConnectorError) return error.detail;
    throw error;
  } finally {
    client.close();
  }
}

export const unblockCommand: Command = {
  name: 'unblock',
  summary: 'End the lockout of an address, or unblock a visitor.',
  help: `security-optimizer unblock WHO --data-dir DIR [--site ID]
security-optimizer unblock --all --data-dir DIR [--site ID]

  WHO              an IPv4 or IPv6 address, a range, or the login of a user; ends a block in the dashboard, and for an
                   address the lock by failed logins, too; IPv6 is blocked, locked and let in by its /64
  --all            every address and every device with failed logins; blocks in the dashboard stay
${recoveryOptionsHelp}`,
  run: (args) =>
    withSite(
      args,
      ['WHO'],
      async (open, { all }) => {
        process.stdout.write(all ? await unlockAll(open) : await unblock(open, open.positionals[0] ?? ''));
        return 0;
      },
      ['all'],
    ),
};

async function unlockAll({ site, db, now }: OpenSite): Promise<string> {
  const removed = await deleteLoginLocks(db, { site: site.id, keys: null, actor: COMMAND_LINE_ACTOR, at: now });
  if (removed === 0) return 'No failed login was stored. Nothing is locked.\n';
  return `Unlocked everything: ${removed} addresses and devices with failed logins.\n`;
}

async function unblock({ site, db, now }: OpenSite, text: string): Promise<string> {
  const store = sqlBlocklistStore(db);
  const range = parseRange(readAddressRange(text)?.text ?? text);
  const name = range === null ? text : rangeText(range);
  const typed = parseAddress(name);
  const carried = range === null ? null : findCarriedRange(range);
  const address = carried === null ? typed : toAddress(carried.from);
  // For an IPv6 address, its /64 is blocked. An address that carries an IPv4 address may be blocked in either form.
  const names = [
    name,
    ...(typed?.family === 6 ? [toClientKey(typed)] : []),
    ...(carried === null ? [] : [rangeText(carried)]),
  ];
  const blocks = (await Promise.all(names.map((entry) => store.listByName(site.id, entry)))).flat();
  if (range === null && blocks.length === 0) throw new UsageError(`${lineText(text)} is not an address.`);
  for (const block of blocks) await store.unblock({ site: site.id, actor: COMMAND_LINE_ACTOR, at: now }, block);
  const keys = address === null ? [] : [toClientKey(address)];
  const removed =
    keys.length === 0 ? 0 : await deleteLoginLocks(db, { site: site.id, keys, actor: COMMAND_LINE_ACTOR, at: now });
  const lines = [
    ...(blocks.length > 0
      ? [`Unblocked: ${[...new Set(blocks.map((block) => lineText(block.name)))].join(', ')}.`]
      : []),
    ...(removed > 0 ? [`Unlocked: ${keys.join(', ')}.`] : []),
  ];
  return `${lines.length === 0 ? 'No failed login was stored. Nothing locks it, and it is not blocked.' : lines.join('\n')}\n`;
}
