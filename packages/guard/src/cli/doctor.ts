import { randomBytes } from 'node:crypto';
import { readdir, stat, statfs } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { toEnglish } from '@security-optimizer/contract/server-message';
import type { Config } from '../config/config.js';
import { stripPort } from '../lib/address.js';
import { systemClock } from '../lib/clock.js';
import { lineText } from '../lib/plain-text.js';
import { toShortList } from '../lib/short-list.js';
import { version } from '../lib/version.js';
import { createMailer } from '../mail/create-mailer.js';
import { findSmtpFault } from '../mail/smtp-mailer.js';
import type { SiteConfig, SiteId } from '../site.js';
import { readGuardPid, runningSites, type SitesInUse } from '../storage/data-dir-lock.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import type { Arrival } from '../wordpress/inspection.js';
import { type FileFacts, runSiteTask, SiteFilesError } from '../wordpress/site-files.js';
import { type Command, readArguments, required, UsageError } from './command.js';
import {
  checkClock,
  checkConnector,
  checkDirectRequests,
  checkDisk,
  checkEntryAndKey,
  checkGuard,
  checkMail,
  checkPolicy,
  checkRedirects,
  checkSettings,
  checkUpstreamServer,
  type MailFacts,
  type Serving,
} from './doctor-checks.js';
import { checkDatabase, listReadableSecrets } from './doctor-database.js';
import type { Finding } from './doctor-findings.js';
import { checkPermissions, type DataFolderFacts, type SiteFilesFault } from './doctor-permissions.js';
import {
  type CachedPage,
  checkCache,
  checkCertificate,
  checkClientAddress,
  checkHttps,
  checkPublicAddress,
  checkScheme,
  FORGED_CLIENT,
} from './doctor-visit-checks.js';
import { type Inspected, inspect, visitDirectly, visitPlain } from './doctor-visits.js';
import { findMixedSchemes, type MixedSchemes } from './mixed-schemes.js';
import { findOtherDatabase } from './other-database.js';
import { describeRedirectLoop } from './redirect-loop.js';
import { findReleaseFault, statusReport } from './status-report.js';
import { requireGuardNext } from './status-site.js';
import { loadUsableConfig } from './usable-config.js';
import { type ConnectTo, visit } from './visit.js';

/** Timeout for access to the site's folder and for each step with the mail server, milliseconds. */
const STEP_TIMEOUT_MS = 10_000;

export interface DoctorOptions {
  readonly site: SiteId;
  /** Server to connect to instead of the one that DNS names for the public address. */
  readonly connect?: ConnectTo;
  /** Server to connect to for http, instead of port 80. */
  readonly connectByHttp?: ConnectTo;
  /** Recipient of a test mail. */
  readonly mailTo?: string;
}

/**
 * Examines a site from inside and outside. Changes nothing, and every step has a timeout.
 * @throws UsageError for an id that no site has
 */
export async function examineSite(config: Config, options: DoctorOptions): Promise<readonly Finding[]> {
  const { site: id } = options;
  const quarantined = config.quarantined.find((each) => each.id === id);
  const site = config.sites.find((each) => each.id === id);
  if (site === undefined && quarantined === undefined)
    throw new UsageError(`No site has the id ${id}. ${describeIds(config)}`);
  const report = await statusReport(config, (each) => each.id === id);
  const inUse = report.guard.running ? await runningSites(config.dataDir) : null;
  const serving = inUse === null ? null : toServing(inUse, id);
  const status = report.sites[0];
  const first = [
    checkGuard(report.guard, serving, quarantined?.cause ?? (status?.unusableSettings ? 'settings' : null)),
    checkEntryAndKey(quarantined ?? null, serving),
  ];
  // Without the site's key nothing else can be checked.
  if (site === undefined || status === undefined) return first;

  const home = status.homeUrl === null ? null : new URL(status.homeUrl);
  const [direct, outside, data, siteFiles, sharedFault, freeBytes, mail, readableSecrets, otherDatabase] =
    await Promise.all([
      visitDirectly(site, home),
      home === null ? null : visitFromOutside(home, site, options),
      readDataFolder(config.dataDir, site.id),
      examineSiteFiles(site),
      site.sharedConnector === undefined ? null : findReleaseFault(site.sharedConnector),
      readFreeBytes(config.dataDir),
      tryMail(config, site, home, options.mailTo),
      listReadableSecrets(config),
      findOtherDatabase(config),
    ]);
  const url = home === null ? null : home.href.replace(/\/$/, '');
  const response = outside?.inspected.response ?? null;
  const arrival = response?.by === 'guard' ? response.arrival : null;
  const own = outside?.inspected.visit?.own ?? null;
  const seen = arrival === null || own === null ? null : { arrival, own };
  return [
    ...first,
    checkSettings(status.unusableSettings, serving),
    ...checkDatabase({
      ...{ url: config.database, other: otherDatabase, readableSecrets },
      fault: report.storage.ok ? null : report.storage.detail,
    }),
    checkConnector(status, version, site.sharedConnector ?? null),
    checkPolicy(status.policyInSync, status.pausedUntil),
    checkRedirects(status.redirectLoop === null ? null : describeRedirectLoop(status.redirectLoop), status),
    checkDirectRequests(
      { requireGuard: site.requireGuard, cachePastGuard: status.cachePastGuard },
      direct,
      await requireGuardNext(config.dataDir, site.id),
    ),
    checkPublicAddress(url, response),
    checkClientAddress(seen, outside?.forged ?? null, {
      proxyProtocol: config.proxyProtocol,
      ownAddresses: getOwnAddresses(),
    }),
    checkUpstreamServer(status, site.upstream),
    checkHttps(url, outside?.plain ?? null),
    checkCertificate(outside?.inspected.visit?.certificate ?? null, systemClock()),
    checkScheme(url, arrival),
    checkClock(direct.clockAhead),
    checkCache(arrival === null ? null : (outside?.pages ?? null), outside?.mixed ?? null),
    ...checkPermissions(data, siteFiles, sharedFault, {
      isKeyExternal: site.externalKey === true,
      requireGuard: site.requireGuard,
    }),
    checkDisk(freeBytes),
    checkMail(mail),
  ];
}

/** Which ids there are, as a sentence. */
function describeIds({ sites, quarantined }: Config): string {
  const ids = [...sites, ...quarantined].map(({ id }) => id);
  if (ids.length === 0) return 'No site is attached.';
  return `There ${ids.length === 1 ? 'is' : 'are'} ${toShortList(ids)}; \`security-optimizer sites list\` shows all.`;
}

function toServing({ served, quarantined }: SitesInUse, site: SiteId): Serving {
  if (served.includes(site)) return 'served';
  return quarantined.includes(site) ? 'quarantined' : 'absent';
}

function getOwnAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.map(({ address }) => address.replace(/%.*$/, '')));
}

interface OutsideVisits {
  readonly inspected: Inspected;
  /** A visit with a forged `X-Forwarded-For`; null when guard did not see it. */
  readonly forged: Arrival | null;
  /** Null for a public address without TLS, or with an explicit port. */
  readonly plain: Awaited<ReturnType<typeof visitPlain>> | null;
  readonly pages: readonly CachedPage[];
  readonly mixed: MixedSchemes | null;
}

/** Visits the public address as a visitor does. */
async function visitFromOutside(home: URL, site: SiteConfig, options: DoctorOptions): Promise<OutsideVisits> {
  const { connect, connectByHttp } = options;
  const path = home.pathname.replace(/\/+$/, '');
  // No cache has a response for a path that nobody has requested.
  const missing = () => new URL(`${path}/security-optimizer-doctor-${randomBytes(8).toString('hex')}`, home);
  const byHttp = connectByHttp ?? (connect && { host: connect.host });
  const plain = home.protocol === 'https:' && home.port === '' ? visitPlain(home, byHttp) : null;
  const inspected = await inspect(missing(), site.secret, { connect });
  if (inspected.response.by !== 'guard') {
    return { inspected, forged: null, plain: await plain, pages: [], mixed: null };
  }
  const { response: forged } = await inspect(missing(), site.secret, {
    connect,
    headers: { 'x-forwarded-for': FORGED_CLIENT },
  });
  // Before the other visits by https, which would fill the caches.
  const mixed = plain === null ? null : await findMixedSchemes(site, home, { connect, connectByHttp: byHttp });
  const pages = await Promise.all([
    visitForCache(new URL(`${path}/`, home), false, site, connect),
    visitForCache(new URL(`${path}/wp-login.php`, home), true, site, connect),
    visitForCache(new URL(`${path}/wp-admin/`, home), true, site, connect),
  ]);
  return {
    inspected,
    forged: forged.by === 'guard' ? forged.arrival : null,
    plain: await plain,
    pages: pages.filter((page) => page !== null),
    mixed,
  };
}

/** Requests a page twice, so that a cache stores it, and then sends an inspection to its address. */
async function visitForCache(
  url: URL,
  isPrivate: boolean,
  site: SiteConfig,
  connect: ConnectTo | undefined,
): Promise<CachedPage | null> {
  await visit(url, { connect });
  const second = await visit(url, { connect });
  if ('fault' in second) return null;
  const { response } = await inspect(url, site.secret, { connect });
  const reachedGuard = response.by === 'none' ? null : response.by === 'guard';
  return { path: url.pathname, isPrivate, reachedGuard, headers: second.headerLines };
}

async function readDataFolder(dataDir: string, site: SiteId): Promise<DataFolderFacts> {
  const folder = (await readFacts(dataDir)) ?? { path: dataDir, uid: 0, mode: 0 };
  const names = (await readdir(dataDir).catch(() => [])).map((name) => join(dataDir, name));
  const own = (await readdir(join(dataDir, 'sites')).catch(() => []))
    .filter((name) => name.startsWith(`${site}.`))
    .map((name) => join(dataDir, 'sites', name));
  const files = (await Promise.all([...names, ...own].map(readFacts))).filter((file) => file !== null);
  const pid = await readGuardPid(dataDir);
  const process = pid === null ? null : await stat(`/proc/${pid}`).catch(() => null);
  return { folder, files, guardUid: process?.uid ?? null };
}

/** @returns null when the file no longer exists */
async function readFacts(path: string): Promise<FileFacts | null> {
  const found = await stat(path).catch(() => null);
  return found && { path, uid: found.uid, mode: found.mode & 0o7777 };
}

async function examineSiteFiles({ wordpressDir, muPluginsDir, secret }: SiteConfig) {
  if (wordpressDir === null) return null;
  const folders = { wordpressDir, ...(muPluginsDir !== undefined && { muPluginsDir }) };
  try {
    return await runSiteTask(folders, { kind: 'examine', secret }, { timeoutMs: STEP_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof SiteFilesError)) throw error;
    const fault: SiteFilesFault = { fault: error.message, isDenied: /\b(?:EACCES|EPERM)\b/.test(error.message) };
    return fault;
  }
}

async function readFreeBytes(folder: string): Promise<number | null> {
  const disk = await statfs(folder).catch(() => null);
  return disk && disk.bavail * disk.bsize;
}

/** Connects to the mail server, and sends a mail only when one was requested. */
async function tryMail(config: Config, site: SiteConfig, home: URL | null, to: string | undefined): Promise<MailFacts> {
  const { smtp } = config.mail;
  const server = smtp && `${smtp.host}:${smtp.port}`;
  const fault = smtp && (await findSmtpFault(smtp, STEP_TIMEOUT_MS));
  if (to === undefined || fault !== null) return { server, fault: fault && toEnglish(fault), test: null };
  const facts = home && { homeUrl: home.href };
  const client = createConnectorClient({ clock: systemClock, facts: () => facts });
  try {
    const host = site.hosts.find((name) => !name.includes('*')) ?? site.id;
    const text = `This mail shows that Security Optimizer can send mails for ${host}. Nothing is to be done.`;
    const mail = { to, subject: `Test mail of Security Optimizer for ${host}`, html: `<p>${text}</p>`, text };
    const outcome = await createMailer(config.mail, client).send(site, mail);
    return { server, fault: null, test: { to, fault: outcome.kind === 'sent' ? null : toEnglish(outcome.reason) } };
  } finally {
    client.close();
  }
}

const LABELS: Readonly<Record<Finding['state'], string>> = {
  ok: 'ok',
  warning: 'WARNING',
  problem: 'PROBLEM',
  skipped: 'skipped',
};

/** The findings as text for a terminal. */
function doctorText(site: SiteId, findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const indent = ' '.repeat(width + 11);
  const lines = findings.flatMap(({ check, state, message, advice }) => [
    `${LABELS[state].padEnd(9)}${check.padEnd(width)}  ${message}`,
    ...(advice === null ? [] : [`${indent}-> ${advice}`]),
  ]);
  const count = (state: Finding['state']) => findings.filter((each) => each.state === state).length;
  const summary = `Problems: ${count('problem')}, warnings: ${count('warning')}, skipped: ${count('skipped')}.`;
  return [`Site ${site}`, '', ...lines, '', summary, ''].map(lineText).join('\n');
}

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check one site from inside and outside, and show how to fix problems.',
  help: `security-optimizer doctor SITE --data-dir DIR [--connect ADDRESS] [--mail ADDRESS] [--json]

  --data-dir DIR        guard's data folder
  --connect HOST[:PORT] connect there for the site's public address, in place of what DNS says
  --mail ADDRESS        send a test mail to this address
  --json                an array of { check, state, code, message, advice }; state is ok, warning, problem or skipped

Asks guard, WordPress, and the site's public address, as a visitor of this machine. Takes up to two minutes when nothing answers.
It changes nothing. As root it looks at the site's files with the rights of their owner.

Exit code 0: no problem. 1: there are problems. 2: called wrongly.`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      'data-dir': { type: 'string' },
      connect: { type: 'string' },
      mail: { type: 'string' },
      json: { type: 'boolean', default: false },
    });
    const [site, ...more] = positionals;
    const config = await loadUsableConfig(resolve(required('data-dir', values['data-dir'])));
    if (site === undefined || more.length > 0) throw new UsageError(`Name one site by its id. ${describeIds(config)}`);
    const findings = await examineSite(config, {
      site,
      ...(values.connect !== undefined && { connect: readConnect(values.connect) }),
      ...(values.mail !== undefined && { mailTo: readMailAddress(values.mail) }),
    });
    process.stdout.write(values.json ? `${JSON.stringify(findings)}\n` : doctorText(site, findings));
    return findings.some(({ state }) => state === 'problem') ? 1 : 0;
  },
};

function readConnect(text: string): ConnectTo {
  const host = stripPort(text).replace(/^\[|\]$/g, '');
  const port = /:(\d{1,5})$/.exec(text.replace(/^\[[^\]]*\]/, ''))?.[1];
  if (host === '' || Number(port ?? 1) > 65_535) throw new UsageError('--connect: use HOST or HOST:PORT.');
  return { host, ...(port !== undefined && { port: Number(port) }) };
}

function readMailAddress(text: string): string {
  if (!/^[^\s@,;<>]+@[^\s@,;<>]+$/.test(text)) throw new UsageError('--mail: use one e-mail address.');
  return text;
}
