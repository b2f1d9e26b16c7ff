import { resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { isPostgresUrl } from '../config/database-url.js';
import { lineText } from '../lib/plain-text.js';
import { toShortList } from '../lib/short-list.js';
import type { SiteConfig } from '../site.js';
import { type Command, readOptions, required, UsageError } from './command.js';
import { SITES_AT_ONCE } from './examine-sites.js';
import { RESPONSE_TIMEOUT_MS } from './patience.js';
import { type StatusReport, statusReport } from './status-report.js';
import type { SiteStatus } from './status-site.js';
import { loadUsableConfig } from './usable-config.js';

export const statusCommand: Command = {
  name: 'status',
  summary: 'Show the state of guard, its database, WordPress and the connector.',
  help: `security-optimizer status --data-dir DIR [--site ID | --host NAME] [--problems] [--json]

  --data-dir DIR   guard's data folder
  --site ID        only this site; repeatable
  --host NAME      only sites whose hosts contain this text
  --problems       only sites that have a problem
  --json           one JSON object instead of text

Asks ${SITES_AT_ONCE} sites at a time, and slow ones besides. An unreachable one takes ${RESPONSE_TIMEOUT_MS / 1000} seconds at most; of
a web server that hangs for one site after the other, only some sites are asked. Of up to ${SITES_AT_ONCE} sites each is
also asked, as by a visitor, for pages that are for the machine alone, the login page and, without guard's signature, for the
first page; of more, one for each web server. A guard that has just started is awaited.

Exit code 0: all is well. 1: there are problems. That direct requests are allowed is said, and is no problem.`,
  async run(args) {
    const values = readOptions(args, {
      'data-dir': { type: 'string' },
      site: { type: 'string', multiple: true },
      host: { type: 'string' },
      problems: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    });
    const config = await loadUsableConfig(resolve(required('data-dir', values['data-dir'])));
    const full = await statusReport(config, chooseSites(config, values));
    const report = values.problems ? onlyProblems(full) : full;
    process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : statusText(report));
    return report.problems.length === 0 ? 0 : 1;
  },
};

/**
 * Returns the filter for the requested ids and host.
 * @throws UsageError for an id that no site has, and for a host that none of them has
 */
function chooseSites(
  { sites, quarantined }: Config,
  { site: ids, host }: { readonly site?: readonly string[]; readonly host?: string },
): (site: Pick<SiteConfig, 'id' | 'hosts'>) => boolean {
  const known = new Set([...sites, ...quarantined].map(({ id }) => id));
  const unknown = ids?.find((id) => !known.has(id));
  if (unknown !== undefined) throw new UsageError(`--site: no site has the id ${unknown}.`);
  const part = host?.toLowerCase() ?? '';
  const isWanted = ({ id, hosts }: Pick<SiteConfig, 'id' | 'hosts'>) =>
    (ids === undefined || ids.includes(id)) && hosts.some((name) => name.includes(part));
  if (host !== undefined && ![...sites, ...quarantined].some(isWanted)) {
    const among = ids === undefined ? 'no site has' : `none of the sites ${ids.join(', ')} has`;
    throw new UsageError(`--host: ${among} a host that contains ${host}. \`security-optimizer sites list\` shows all.`);
  }
  return isWanted;
}

/** The report without the sites that have no problem. */
function onlyProblems(report: StatusReport): StatusReport {
  const ids = new Set(report.problems.map((text) => /^Site (\S+): /.exec(text)?.[1]));
  return { ...report, sites: report.sites.filter(({ id }) => ids.has(id)), warnings: [] };
}

const connectorLabels: Readonly<Record<SiteStatus['connector'], string>> = {
  ok: 'answers',
  version_differs: 'answers, but has another version',
  missing: 'is missing in WordPress; what only WordPress can enforce is not enforced',
  other_secret: 'has another secret; what only WordPress can enforce is not enforced',
  redirected: 'not known, because the web server behind guard redirects guard’s commands',
  unknown: 'not known, because WordPress does not answer',
};

function describeStorage({ ok, database, detail }: StatusReport['storage']): string {
  const state = detail ?? 'ready';
  // A reason names the database itself.
  return ok && isPostgresUrl(database) ? `${state}, ${database}` : state;
}

/** How many sites the text lists. Of more, only those with problems. */
const LISTED_MAX = 100;

/** The report as text for a terminal. */
export function statusText(report: StatusReport): string {
  const { version, dataDir, guard, storage, activity, sites, quarantined, warnings, problems } = report;
  const lines = [
    `Security Optimizer ${version}, data folder ${dataDir}`,
    `Guard:     ${guard.running ? `running${guard.pid === null ? '' : ` (process ${guard.pid})`}, ${guard.answers ? 'answers' : 'does not answer'} on ${guard.listen}` : 'not running'}`,
    `Database:  ${describeStorage(storage)}`,
    `Activity:  ${activity.ok ? `ready, ${megabytes(activity.bytes)}` : activity.detail}`,
  ];
  const shown = sites.length <= LISTED_MAX ? sites : onlyProblems(report).sites.slice(0, LISTED_MAX);
  if (shown.length < sites.length) {
    const [all, listed] = [sites.length, shown.length].map((count) => count.toLocaleString('en'));
    lines.push(`Sites:     ${all}, of which ${listed} with problems are shown; --site, --host and --json show others`);
  }
  for (const site of shown) {
    lines.push(
      '',
      `Site ${site.id} (${site.hosts.join(', ')})`,
      `  WordPress: ${site.wordpress} at ${site.upstream}`,
      `  Connector: ${connectorLabels[site.connector]}${site.connectorVersion === null ? '' : ` (version ${site.connectorVersion})`}`,
      `  Policy:    ${site.policyInSync === null ? 'not known' : site.policyInSync ? 'in force' : 'not yet in force inside WordPress'}`,
    );
    lines.push(`  Direct requests: ${site.directRequests}`);
    if (site.visitors !== null) {
      lines.push(
        `  Visitors:  the web server behind sees ${site.visitors === 'seen' ? 'each one’s address' : 'guard in their place'}`,
      );
    }
    if (site.keyRestoredAt !== null) {
      lines.push(
        `  Key:       written into WordPress again at ${site.keyRestoredAt}, because the connector had another one`,
      );
    }
    if (site.droppedVisits !== null && site.droppedVisits > 0) {
      const count = site.droppedVisits.toLocaleString('en');
      lines.push(`  Activity:  ${count} visits of the last 24 hours were not recorded; they came too fast`);
    }
    if (site.pausedUntil !== null) lines.push(`  Paused:    everything is off until ${site.pausedUntil}`);
  }
  for (const { id, hosts, reason } of quarantined) {
    lines.push('', `Site ${id} (${hosts.join(', ')})`, `  Quarantined: ${reason}`);
  }
  if (warnings.length > 0) lines.push('', 'Do not forget:', ...toLines(warnings));
  lines.push('', problems.length === 0 ? 'All is well.' : 'Problems:', ...toLines(problems), '');
  return lines.map(lineText).join('\n');
}

/** The sentences, each once: what several sites have in common names some of them. */
function toLines(sentences: readonly string[]): readonly string[] {
  const sitesByText = new Map<string, string[]>();
  for (const sentence of sentences) {
    const [, site, text] = /^Site (\S+): (.*)$/s.exec(sentence) ?? [];
    const key = text ?? sentence;
    const sites = sitesByText.get(key) ?? [];
    if (site !== undefined) sites.push(site);
    sitesByText.set(key, sites);
  }
  return [...sitesByText].map(([text, sites]) => {
    if (sites.length === 0) return `  ${text}`;
    return sites.length === 1
      ? `  Site ${sites[0]}: ${text}`
      : `  ${sites.length.toLocaleString('en')} sites (${toShortList(sites)}): ${text}`;
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
