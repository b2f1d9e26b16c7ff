import { resolve } from 'node:path';
import { z } from 'zod';
import { configFile, type SiteEntry, siteEntry } from '../config/config-file.js';
import { ConfigError } from '../config/load-config.js';
import type { ConfigFile, InvalidEntry } from '../config/parse-config.js';
import { systemClock } from '../lib/clock.js';
import { lineText } from '../lib/plain-text.js';
import type { QuarantinedSite, SiteId } from '../site.js';
import { isDataDirInUse, runningSites } from '../storage/data-dir-lock.js';
import { missingTraffic, readGuardedTraffic } from '../wordpress/guarded-traffic.js';
import { type AttachOptions, attachVerified } from './attach.js';
import { type Command, CommandError, readArguments, readOptions, required, UsageError } from './command.js';
import { readConfig, readExistingConfig } from './config-store.js';
import { toUnverifiedText } from './connector-location.js';
import { endAfterThisSite, type Interruption } from './interruption.js';
import { readOperatorFile } from './operator-files.js';
import { findRetired } from './retired-sites.js';
import { printServed } from './running-guard.js';
import { loadUsableConfig } from './usable-config.js';

const dataDirOption = { 'data-dir': { type: 'string' } } as const;

async function readSites(dataDir: string | undefined): Promise<ConfigFile> {
  return readExistingConfig(resolve(required('data-dir', dataDir)));
}

/** The entries of `guard.json` in their written form. They contain no secrets. */
function printSites(sites: readonly SiteEntry[]): string {
  const { sites: entries } = z.encode(configFile, configFile.parse({ sites })) as { sites: unknown };
  return `${JSON.stringify({ sites: entries }, null, 2)}\n`;
}

export const listSitesCommand: Command = {
  name: 'sites list',
  summary: 'List the sites of the configuration.',
  help: `security-optimizer sites list --data-dir DIR [--host NAME] [--json]

  --data-dir DIR   guard's data folder
  --host NAME      only sites whose hosts contain this text
  --json           as JSON, like \`sites export\`

Sites in quarantine are named on standard error, with the reason.`,
  async run(args) {
    const values = readOptions(args, {
      ...dataDirOption,
      host: { type: 'string' },
      json: { type: 'boolean', default: false },
    });
    const config = await readSites(values['data-dir']);
    const wanted = values.host?.toLowerCase() ?? '';
    const isWanted = ({ hosts }: { readonly hosts: readonly string[] }) =>
      wanted === '' || hosts.some((host) => host.includes(wanted));
    const sites = config.sites.filter(isWanted);
    const quarantined = (await findQuarantined(values['data-dir'], config)).filter(isWanted);
    if (values.json) process.stdout.write(printSites(sites));
    else process.stdout.write(toTable(sites, (config.invalidSites ?? []).filter(isWanted)));
    // On standard error, so that the list itself can be piped.
    for (const { id, reason } of quarantined) process.stderr.write(`Quarantined: ${id}: ${lineText(reason)}\n`);
    return 0;
  },
};

/**
 * The sites that can't be served, and why. Without a usable configuration, only those whose entries have mistakes.
 */
async function findQuarantined(
  dataDir: string | undefined,
  { invalidSites = [] }: ConfigFile,
): Promise<readonly QuarantinedSite[]> {
  try {
    return (await loadUsableConfig(resolve(required('data-dir', dataDir)))).quarantined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return invalidSites.map(({ id, hosts, mistakes }) => ({ id, hosts, cause: 'entry', reason: mistakes.join('; ') }));
  }
}

function toTable(sites: readonly SiteEntry[], invalid: readonly InvalidEntry[]): string {
  const rows = sites.map(({ id, hosts, upstream, requireGuard, wordpressDir }) => [
    id,
    hosts.join(','),
    upstream,
    requireGuard ? 'refused' : 'allowed',
    wordpressDir ?? '-',
  ]);
  const broken = invalid.map(({ id, hosts, folders }) => [id, hosts.join(','), '-', '-', folders.wordpressDir ?? '-']);
  const table = [['SITE', 'HOSTS', 'UPSTREAM', 'DIRECT', 'WORDPRESS'], ...rows, ...broken].map((row) =>
    row.map(lineText),
  );
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`).join('');
}

export const showSiteCommand: Command = {
  name: 'sites show',
  summary: 'Show the configuration of one site.',
  help: `security-optimizer sites show ID --data-dir DIR

  --data-dir DIR   guard's data folder

Prints its entry in the configuration as JSON. How it is doing, \`status\` tells. Exit code 1: the site is in quarantine, and
why is printed on standard error.`,
  async run(args) {
    const { values, positionals } = readArguments(args, dataDirOption);
    const [id, ...more] = positionals;
    if (id === undefined || more.length > 0) throw new UsageError('Name one site by its id.');
    const config = await readSites(values['data-dir']);
    const site = config.sites.find((entry) => entry.id === id);
    const invalid = config.invalidSites?.find((entry) => entry.id === id);
    if (site === undefined && invalid === undefined) throw new CommandError(`No site has the id ${id}.`);
    const entry = site === undefined ? invalid?.json : z.encode(siteEntry, site);
    process.stdout.write(`${JSON.stringify(entry, null, 2)}\n`);
    const quarantined = (await findQuarantined(values['data-dir'], config)).find((each) => each.id === id);
    if (quarantined === undefined) return 0;
    process.stderr.write(`Quarantined, visitors get 503: ${lineText(quarantined.reason)}\n`);
    return 1;
  },
};

export const exportSitesCommand: Command = {
  name: 'sites export',
  summary: 'Print all sites as JSON, for `sites import` on another machine.',
  help: `security-optimizer sites export --data-dir DIR

  --data-dir DIR   guard's data folder

Prints the entries of the configuration. Keys are not in it: each machine makes its own. An entry
with mistakes is left out and named on standard error; then the exit code is 1.`,
  async run(args) {
    const values = readOptions(args, dataDirOption);
    const { sites, invalidSites = [] } = await readSites(values['data-dir']);
    process.stdout.write(printSites(sites));
    for (const { id, mistakes } of invalidSites) {
      process.stderr.write(`Left out: ${id}: ${lineText(mistakes.join('; '))}\n`);
    }
    return invalidSites.length === 0 ? 0 : 1;
  },
};

export const importSitesCommand: Command = {
  name: 'sites import',
  summary: 'Attach all sites of a file.',
  help: `security-optimizer sites import FILE --data-dir DIR [--force]

  FILE             JSON with a list \`sites\`, as \`sites export\` prints it; each needs upstream, hosts and wordpressDir
  --data-dir DIR   guard's data folder
  --force          let WordPress refuse requests that bypass guard at once, without checking whether visitors come
                   through guard

Attaches one site after the other as \`sites add\` does. One that fails is named, and the others are attached. Then guard
serves them. WordPress refuses requests that bypass guard (\`requireGuard\`) only for sites whose visitors have come through
guard; the others are named, and the same command does it later. Safe to repeat: what is attached already is brought up to
date. An id in the file counts for a site that was detached.`,
  async run(args) {
    const { values, positionals } = readArguments(args, { ...dataDirOption, force: { type: 'boolean' } });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new UsageError('Name one file.');
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const entries = await readImportFile(file);
    let failed = 0;
    const unverified: SiteId[] = [];
    const open: OpenSite[] = [];
    const attached: SiteId[] = [];
    const interruption = endAfterThisSite();
    for (const entry of entries) {
      if (interruption.isRequested) break;
      const name = entry.id ?? entry.hosts.join(', ');
      try {
        const newSite = entries.some((other) => isDuplicate(entry, other)) && !(await isHostTaken(entry, dataDir));
        const options = { ...toAttachOptions(entry, dataDir), ...(await toDetachedSite(entry, dataDir)) };
        const { id, again, outcome, requireGuard } = await attachVerified({ ...options, newSite });
        if (outcome.kind === 'missing') throw new CommandError(outcome.text);
        if (outcome.kind === 'unverified') unverified.push(id);
        attached.push(id);
        if (entry.requireGuard && !requireGuard) open.push({ id, wordpressDir: options.wordpressDir });
        process.stdout.write(`${again ? 'Brought up to date' : 'Attached'}: site ${id}.\n`);
      } catch (error) {
        failed++;
        process.stderr.write(`${name}: ${(error as Error).message}\n`);
      }
    }
    process.stdout.write(`${attached.length} of ${entries.length} sites are attached.\n`);
    if (interruption.isRequested) process.stdout.write('Interrupted. Run the same command again for the others.\n');
    // Nothing has changed that a running guard could read.
    if (attached.length === 0) return 1;
    let isServed = await printServed(dataDir, { needsGuard: true, sites: attached });
    if (unverified.length > 0) process.stdout.write(toUnverifiedText(unverified));
    if (isServed && open.length > 0) {
      const still = await requireGuardFor(dataDir, open, { force: values.force === true, interruption });
      if (still.length < open.length) isServed = await printServed(dataDir, { needsGuard: false });
      printStillOpen(still);
    }
    interruption.close();
    return isServed && failed === 0 && !interruption.isRequested ? 0 : 1;
  },
};

/** A site whose WordPress answers requests that bypass guard, although the file says otherwise. */
interface OpenSite {
  readonly id: SiteId;
  readonly wordpressDir: string;
}

/**
 * Lets WordPress refuse requests that bypass guard, after guard serves the sites. Before that, it
 * would refuse all visitors; also those of a site whose traffic does not come through guard yet, so this is checked.
 *
 * @returns the sites that still answer them
 */
async function requireGuardFor(
  dataDir: string,
  open: readonly OpenSite[],
  { force, interruption }: { readonly force: boolean; readonly interruption: Interruption },
): Promise<readonly SiteId[]> {
  const served = new Set(isDataDirInUse(dataDir) ? (await runningSites(dataDir))?.served : []);
  const still: SiteId[] = [];
  for (const { id, wordpressDir } of open) {
    const isVisited = served.has(id) && missingTraffic(await readGuardedTraffic(dataDir, id), systemClock()) === null;
    if (interruption.isRequested || (!force && !isVisited)) {
      still.push(id);
      continue;
    }
    try {
      await attachVerified({ wordpressDir, dataDir, site: id, requireGuard: force ? 'force' : true });
      process.stdout.write(`Direct requests are refused from now on: site ${id}.\n`);
    } catch (error) {
      still.push(id);
      process.stderr.write(`${id}: ${(error as Error).message}\n`);
    }
  }
  return still;
}

/** Maximum number of sites that a message names. */
const MAX_NAMED = 10;

function printStillOpen(sites: readonly SiteId[]): void {
  if (sites.length === 0) return;
  const named = sites.slice(0, MAX_NAMED).join(', ');
  const rest = sites.length > MAX_NAMED ? ` and ${sites.length - MAX_NAMED} more` : '';
  process.stdout.write(
    `Direct requests are still answered: ${named}${rest}. Lead their visitors through guard, then run this command again; with --force nothing is asked.\n`,
  );
}

const IMPORT_HELP = 'use an object with a list `sites`, as `sites export` prints it';

const importFile = z.object(
  {
    sites: z
      .array(siteEntry.partial({ id: true }), { error: IMPORT_HELP })
      .min(1, { error: 'names no site' })
      .superRefine((sites, context) => {
        const hosts = new Set<string>();
        for (const [index, site] of sites.entries()) {
          for (const host of site.hosts.filter((each) => hosts.has(each))) {
            const message = `${host} is named twice; a host belongs to one site`;
            context.addIssue({ code: 'custom', path: [index, 'hosts'], message });
          }
          for (const host of site.hosts) hosts.add(host);
        }
      }),
  },
  { error: IMPORT_HELP },
);

type ImportEntry = z.output<typeof importFile>['sites'][number];

async function readImportFile(file: string): Promise<readonly ImportEntry[]> {
  const text = await readOperatorFile(file);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${file} can’t be read as JSON: ${lineText((error as Error).message)}`);
  }
  const parsed = importFile.safeParse(json);
  if (parsed.success) return parsed.data.sites;
  const lines = parsed.error.issues.map(
    ({ path, message }) => `  ${lineText(`${path.join('.') || 'the file'}: ${message}`)}`,
  );
  throw new CommandError(`${file} has mistakes; nothing was attached:\n${lines.join('\n')}`);
}

/**
 * Whether two sites of a file have the same WordPress folder, so that the second is a site of its own that shares it.
 */
function isDuplicate(entry: ImportEntry, other: ImportEntry): boolean {
  return other !== entry && entry.wordpressDir !== null && other.wordpressDir === entry.wordpressDir;
}

async function isHostTaken({ hosts }: ImportEntry, dataDir: string): Promise<boolean> {
  const { sites } = await readConfig(dataDir);
  return sites.some((site) => site.hosts.some((host) => hosts.includes(host)));
}

/** @throws CommandError for a site whose folder is not named: its connector could not be installed */
/** The id of an entry, if data of a detached site are kept under it. */
async function toDetachedSite({ id }: ImportEntry, dataDir: string): Promise<Pick<AttachOptions, 'site'>> {
  return id === undefined || (await findRetired(dataDir, id)) === null ? {} : { site: id };
}

function toAttachOptions(entry: ImportEntry, dataDir: string): AttachOptions {
  const {
    wordpressDir,
    muPluginsDir,
    upstream,
    hosts,
    home,
    trustedProxies,
    limits,
    branding,
    sharedConnector,
    externalKey,
  } = entry;
  if (wordpressDir === null) throw new CommandError('`wordpressDir` is missing: the folder with wp-load.php.');
  return {
    ...{ wordpressDir, upstream, hosts, dataDir },
    ...(muPluginsDir !== undefined && { muPluginsDir }),
    ...(sharedConnector !== undefined && { sharedConnector }),
    ...(externalKey !== undefined && { externalKey }),
    ...(home !== '' && { home }),
    own: {
      ...(trustedProxies !== undefined && { trustedProxies }),
      ...(limits !== undefined && { limits }),
      ...(branding !== undefined && { branding }),
    },
  };
}
