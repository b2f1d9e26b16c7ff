import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type ConfigFile, configFile, type SiteEntry, siteEntry } from '../config/config-file.js';
import type { SiteId } from '../site.js';
import { type AttachOptions, attachVerified } from './attach.js';
import { type Command, CommandError, readArguments, readOptions, required, UsageError } from './command.js';
import { readConfig } from './config-store.js';
import { toUnverifiedText } from './connector-location.js';
import { printServed } from './running-guard.js';

const dataDirOption = { 'data-dir': { type: 'string' } } as const;

async function readSites(dataDir: string | undefined): Promise<ConfigFile['sites']> {
  return (await readConfig(resolve(required('data-dir', dataDir)))).sites;
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
  --json           as JSON, like \`sites export\``,
  async run(args) {
    const values = readOptions(args, {
      ...dataDirOption,
      host: { type: 'string' },
      json: { type: 'boolean', default: false },
    });
    const all = await readSites(values['data-dir']);
    const wanted = values.host?.toLowerCase() ?? '';
    const sites = all.filter(({ hosts }) => hosts.some((host) => host.includes(wanted)));
    if (values.json) process.stdout.write(printSites(sites));
    else process.stdout.write(toTable(sites));
    return 0;
  },
};

function toTable(sites: readonly SiteEntry[]): string {
  const rows = sites.map(({ id, hosts, upstream, requireGuard, wordpressDir }) => [
    id,
    hosts.join(','),
    upstream,
    requireGuard ? 'refused' : 'allowed',
    wordpressDir ?? '-',
  ]);
  const table = [['SITE', 'HOSTS', 'UPSTREAM', 'DIRECT', 'WORDPRESS'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`).join('');
}

export const showSiteCommand: Command = {
  name: 'sites show',
  summary: 'Show the configuration of one site.',
  help: `security-optimizer sites show ID --data-dir DIR

  --data-dir DIR   guard's data folder

Prints its entry in the configuration as JSON. How it is doing, \`status\` tells.`,
  async run(args) {
    const { values, positionals } = readArguments(args, dataDirOption);
    const [id, ...more] = positionals;
    if (id === undefined || more.length > 0) throw new UsageError('Name one site by its id.');
    const sites = await readSites(values['data-dir']);
    const site = sites.find((entry) => entry.id === id);
    if (site === undefined) throw new CommandError(`No site has the id ${id}.`);
    process.stdout.write(`${JSON.stringify(z.encode(siteEntry, site), null, 2)}\n`);
    return 0;
  },
};

export const exportSitesCommand: Command = {
  name: 'sites export',
  summary: 'Print all sites as JSON, for `sites import` on another machine.',
  help: `security-optimizer sites export --data-dir DIR

  --data-dir DIR   guard's data folder

Prints the entries of the configuration. Keys are not in it: each machine makes its own.`,
  async run(args) {
    const values = readOptions(args, dataDirOption);
    process.stdout.write(printSites(await readSites(values['data-dir'])));
    return 0;
  },
};

const importFile = z.object({ sites: z.array(siteEntry.partial({ id: true })).min(1) });

export const importSitesCommand: Command = {
  name: 'sites import',
  summary: 'Attach all sites of a file.',
  help: `security-optimizer sites import FILE --data-dir DIR

  FILE             JSON with a list \`sites\`, as \`sites export\` prints it; each needs upstream, hosts and wordpressDir
  --data-dir DIR   guard's data folder

Attaches one site after the other as \`sites add\` does. One that fails is named, and the others are attached. Safe to
repeat: what is attached already is brought up to date. An id in the file counts for a site that was detached.`,
  async run(args) {
    const { values, positionals } = readArguments(args, dataDirOption);
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new UsageError('Name one file.');
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const entries = await readImportFile(file);
    let failed = 0;
    const unverified: SiteId[] = [];
    for (const entry of entries) {
      const name = entry.id ?? entry.hosts.join(', ');
      try {
        const newSite = entries.some((other) => isDuplicate(entry, other)) && !(await isHostTaken(entry, dataDir));
        const { id, again, outcome } = await attachVerified({ ...toAttachOptions(entry, dataDir), newSite });
        if (outcome.kind === 'missing') throw new CommandError(outcome.text);
        if (outcome.kind === 'unverified') unverified.push(id);
        process.stdout.write(`${again ? 'Brought up to date' : 'Attached'}: site ${id}.\n`);
      } catch (error) {
        failed++;
        process.stderr.write(`${name}: ${(error as Error).message}\n`);
      }
    }
    process.stdout.write(`${entries.length - failed} of ${entries.length} sites are attached.\n`);
    const isServed = await printServed(dataDir, { needsGuard: true });
    if (unverified.length > 0) process.stdout.write(toUnverifiedText(unverified));
    return isServed && failed === 0 ? 0 : 1;
  },
};

type ImportEntry = z.output<typeof importFile>['sites'][number];

async function readImportFile(file: string): Promise<readonly ImportEntry[]> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandError(`${file} can’t be read as JSON: ${(error as Error).message}`);
  }
  const parsed = importFile.safeParse(json);
  if (parsed.success) return parsed.data.sites;
  const lines = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
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
function toAttachOptions(entry: ImportEntry, dataDir: string): AttachOptions {
  const {
    wordpressDir,
    muPluginsDir,
    upstream,
    hosts,
    home,
    requireGuard,
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
    ...(requireGuard && { requireGuard: 'force' as const }),
    own: {
      ...(trustedProxies !== undefined && { trustedProxies }),
      ...(limits !== undefined && { limits }),
      ...(branding !== undefined && { branding }),
    },
  };
}
