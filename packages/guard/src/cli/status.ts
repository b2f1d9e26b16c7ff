import { resolve } from 'node:path';
import { loadConfig } from '../load-config.js';
import type { Command } from './command.js';
import { readOptions, required } from './options.js';
import { type SiteStatus, type StatusReport, statusReport } from './status-report.js';

export const statusCommand: Command = {
  name: 'status',
  summary: 'Say how guard, its database, WordPress and the connector stand.',
  help: `security-optimizer status --data-dir DIR [--json]

  --data-dir DIR   guard's data folder
  --json           one JSON object instead of text

Exit code 0: all is well. 1: there are problems.`,
  async run(args) {
    const values = readOptions(args, { 'data-dir': { type: 'string' }, json: { type: 'boolean', default: false } });
    const report = await statusReport(await loadConfig({ dataDir: resolve(required('data-dir', values['data-dir'])) }));
    process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : statusText(report));
    return report.problems.length === 0 ? 0 : 1;
  },
};

const connectorWords: Readonly<Record<SiteStatus['connector'], string>> = {
  ok: 'answers',
  version_differs: 'answers, but has another version',
  missing: 'is missing in WordPress; what only WordPress can enforce is not enforced',
  other_secret: 'has another secret; what only WordPress can enforce is not enforced',
  unknown: 'not known, because WordPress does not answer',
};

/** The report in plain words. */
export function statusText(report: StatusReport): string {
  const { version, dataDir, guard, storage, activity, sites, problems } = report;
  const lines = [
    `Security Optimizer ${version}, data folder ${dataDir}`,
    `Guard:     ${guard.running ? `running${guard.pid === null ? '' : ` (process ${guard.pid})`}, ${guard.answers ? 'answers' : 'does not answer'} on ${guard.listen}` : 'not running'}`,
    `Database:  ${storage.ok ? 'ready' : storage.detail}`,
    `Activity:  ${activity.ok ? `ready, ${megabytes(activity.bytes)}` : activity.detail}`,
  ];
  for (const site of sites) {
    lines.push(
      '',
      `Site ${site.id} (${site.hosts.join(', ')})`,
      `  WordPress: ${site.wordpress} at ${site.upstream}`,
      `  Connector: ${connectorWords[site.connector]}${site.connectorVersion === null ? '' : ` (version ${site.connectorVersion})`}`,
      `  Policy:    ${site.policyInSync === null ? 'not known' : site.policyInSync ? 'in force' : 'not yet in force inside WordPress'}`,
    );
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
  lines.push('', problems.length === 0 ? 'All is well.' : 'Problems:', ...problems.map((text) => `  ${text}`), '');
  return lines.join('\n');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
