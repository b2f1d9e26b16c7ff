import { resolve } from 'node:path';
import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import { loadConfig } from '../load-config.js';
import { changeSettings } from '../settings/change-settings.js';
import { COMMAND_LINE } from '../settings/command-line-actor.js';
import type { SettingChanges, SiteSettings } from '../settings/site-settings.js';
import type { SiteConfig } from '../site.js';
import { type Database, openDatabase } from '../storage/database.js';
import { sqlSettingsStore } from '../storage/settings-store.js';
import { CommandError, UsageError } from './command.js';
import { readArguments, required } from './options.js';

export const recoveryOptionsHelp = `  --data-dir DIR   guard's data folder
  --site ID        the site; may be left out when there is only one

Works while guard runs, within a second, and while it does not.`;

/** A site whose settings are open for a change from outside guard. */
export interface OpenSite {
  readonly site: SiteConfig;
  readonly db: Database;
  readonly now: number;
  /** Words of the command that are no options. */
  readonly words: readonly string[];
  /** Stores changes; a running guard puts them in force and hands them to WordPress. */
  change(decide: (settings: SiteSettings) => SettingChanges): Promise<SiteSettings>;
}

/**
 * Opens the database of a data folder for one recovery command, and closes it again. It never waits for WordPress or
 * guard, so that it works when one of them is the problem.
 *
 * @param words what has to stand beside the options, for messages, for example `['reset']` or `['IP']`
 * @throws UsageError, CommandError, ConfigError, StorageError
 */
export async function onSite<Flag extends string = never>(
  args: readonly string[],
  words: readonly string[],
  task: (open: OpenSite, flags: Readonly<Partial<Record<Flag, boolean>>>) => Promise<number>,
  flags: readonly Flag[] = [],
): Promise<number> {
  const { values, positionals } = readArguments(args, {
    'data-dir': { type: 'string' },
    site: { type: 'string' },
    ...Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' as const }])),
  });
  const given = flags.some((flag) => (values as Record<string, unknown>)[flag] === true);
  checkWords(positionals, given ? [] : words);
  const config = await loadConfig({ dataDir: resolve(required('data-dir', values['data-dir'])) });
  const site = pickSite(config.sites, values.site);
  const db = await openDatabase({ url: config.database, dataDir: config.dataDir, logger: silentLogger() });
  const settings = sqlSettingsStore(db);
  const change: OpenSite['change'] = async (decide) => {
    const outside = {
      settings,
      pushPolicy: async () => ({}),
      apply: () => undefined,
      publish: () => undefined,
      mutex: new KeyedMutex(),
      clock: systemClock,
      logger: silentLogger(),
    };
    return (await changeSettings(outside, { site, actor: COMMAND_LINE }, decide)).after;
  };
  try {
    const open = { site, db, now: systemClock(), words: positionals, change };
    return await task(open, values as Partial<Record<Flag, boolean>>);
  } finally {
    await db.destroy();
  }
}

/** Words in capitals stand for something; the others have to be there letter by letter. */
function checkWords(given: readonly string[], wanted: readonly string[]): void {
  const fits = wanted.every((word, index) =>
    word === word.toUpperCase() ? given[index] !== undefined && given[index] !== '' : given[index] === word,
  );
  if (given.length !== wanted.length || !fits) {
    throw new UsageError(
      wanted.length === 0 ? 'Nothing but options can stand here.' : `The command needs: ${wanted.join(' ')}.`,
    );
  }
}

function pickSite(sites: readonly SiteConfig[], id: string | undefined): SiteConfig {
  const [first, second] = sites;
  if (first === undefined) throw new CommandError('No site is attached in this data folder.');
  if (id === undefined) {
    if (second === undefined) return first;
    throw new UsageError(`There are several sites. Name one: ${sites.map((site) => `--site ${site.id}`).join(', ')}.`);
  }
  const site = sites.find((entry) => entry.id === id);
  if (!site) throw new CommandError(`No site has the id ${id}.`);
  return site;
}
