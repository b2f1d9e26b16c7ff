import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.js';
import { configFile } from '../../src/config/config-file.js';
import { createGateway } from '../../src/gateway/server.js';
import { english } from '../../src/i18n/language.js';
import { AddressSet } from '../../src/lib/address-set.js';
import { silentLogger } from '../../src/lib/logger.js';
import { createLoginHook } from '../../src/login/admission.js';
import { LoginAttempts } from '../../src/login/attempts.js';
import { BasicCredentials } from '../../src/login/basic-credentials.js';
import { createMissingReports } from '../../src/login/missing-reports.js';
import { type PasswordCheckLimits, PasswordCheckQueue } from '../../src/login/password-check-queue.js';
import { ThrottledAccounts } from '../../src/login/throttled-accounts.js';
import { defaultLoginSettings, type LoginSettings } from '../../src/rules/login-policy.js';
import { compileSnapshot, LiveSnapshots } from '../../src/rules/snapshot.js';
import { defaultSitePaths } from '../../src/site.js';
import { createTwoFactorHooks } from '../../src/two-factor/request-hooks.js';
import type { TwoFactorRequirement } from '../../src/two-factor/steps.js';
import type { TwoFactorFlow } from '../../src/two-factor/two-factor-flow.js';
import type { Signal } from '../../src/wordpress/signature.js';
import { createStaffChecks } from '../../src/wordpress/staff-checks.js';
import { type FakeWordPress, fakeWordPress } from './fake-wordpress.js';
import { eventually } from './scratch.js';
import { SECRET, siteConfig } from './site-config.js';

export interface LoginGateway {
  readonly wordpress: FakeWordPress;
  readonly attempts: LoginAttempts;
  /** The promise for which the response to a failed login waits. Resolved unless a test replaces it. */
  settled: () => Promise<void>;
  readonly throttledUsers: (readonly number[])[];
  /** Paths and users of the calls to the second factor's pages. */
  readonly twoFactorCalls: string[];
  /** The arguments with which logins that need a second factor began. */
  readonly started: (TwoFactorRequirement & { readonly json: boolean; readonly mayBeSignedIn: boolean })[];
  /** Sites whose connector was checked because a report was missing. */
  readonly recheckedSites: readonly string[];
  /** Sites whose connector was probed for its check of the user. */
  readonly probedSites: readonly string[];
  /** Status, target and rule of each request that was recorded for the Activity Log. */
  readonly visits: readonly string[];
  readonly port: number;
  /** Sets guard's clock forward. It starts at the real time. */
  advance(ms: number): void;
  settings(change: Partial<LoginSettings>): void;
  send(path: string, options?: RequestOptions): Promise<ClientResponse>;
  /** Resolves once the connector has been queried for every missing report. */
  whenReportsQueried(): Promise<void>;
}

export interface RequestOptions {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  /** Address of the visitor; sent in X-Forwarded-For, since guard trusts the loopback address in these tests. */
  readonly from?: string;
  /** Disconnects after this many milliseconds. */
  readonly leaveAfter?: number;
}

/** The login form of the owner. */
export function form(password: string): RequestOptions {
  return { method: 'POST', body: new URLSearchParams({ log: 'owner', pwd: password }).toString() };
}

export interface ClientResponse {
  readonly status: number;
  /** Name and value of each header, lower-case names, without the date. */
  readonly headers: readonly string[];
  readonly body: string;
  header(name: string): string | undefined;
}

/** Anonymous clients wait for no one but themselves. */
const NO_QUEUE: Partial<PasswordCheckLimits> = { guessThreshold: Number.POSITIVE_INFINITY, maxConcurrent: 1000 };

/** Guard's server on a real socket in front of a fake WordPress, with these settings of Login Security. */
export async function startLoginGateway(
  settings: Partial<LoginSettings> = {},
  {
    multisite = false,
    language = english,
    queueLimits = NO_QUEUE,
  }: { multisite?: boolean; language?: typeof english; queueLimits?: Partial<PasswordCheckLimits> } = {},
): Promise<LoginGateway> {
  const wordpress = await fakeWordPress(SECRET);
  const site = siteConfig({ upstream: wordpress.upstream });
  const config: Config = {
    ...configFile.parse({}),
    processes: 1,
    dataDir: '/nowhere',
    listen: { host: '127.0.0.1', port: 0 },
    database: 'sqlite:none',
    trustedProxies: ['127.0.0.1'],
    sites: [site],
    quarantined: [],
    limits: {
      targetBytes: 8192,
      headerBytes: 32_768,
      headerSeconds: 10,
      idleSeconds: 10,
      upstreamSeconds: 10,
      shutdownSeconds: 1,
      drainSeconds: 1,
      upstreamConnections: 200,
      connections: 10_000,
      connectionsPerAddress: 10_000,
      databaseConnections: 1,
    },
    activity: { maxRows: 1000, dns: [], monitors: [], securityLog: null },
    mail: { smtp: null },
    alerts: { privateTargets: [], plainHttp: false, authorities: [] },
    logLevel: 'silent',
  };
  const snapshots = new LiveSnapshots();
  let login: LoginSettings = defaultLoginSettings;
  const set = (change: Partial<LoginSettings>): void => {
    login = { ...login, ...change };
    const options = { ...defaultSecurityOptions, disable_xml_rpc: 0 } as const;
    snapshots.swap(
      'site',
      compileSnapshot({
        ...{ options, paths: defaultSitePaths, blocked: AddressSet.empty, login, timeZone: 'UTC', multisite },
        language,
      }),
    );
  };
  set(settings);
  let ahead = 0;
  const clock = (): number => Date.now() + ahead;
  const attempts = new LoginAttempts(undefined, undefined, new PasswordCheckQueue(clock, queueLimits));
  const throttledUsers: (readonly number[])[] = [];
  const twoFactorCalls: string[] = [];
  const visits: string[] = [];
  const started: LoginGateway['started'] = [];
  const twoFactor: TwoFactorFlow = {
    handle(_request, response, visit) {
      twoFactorCalls.push(`handle ${visit.loginPath}`);
      response.writeHead(200).end('second factor');
    },
    begin(_request, response, visit, needed, json) {
      started.push({ ...needed, json, mayBeSignedIn: visit.mayBeSignedIn });
      twoFactorCalls.push(`begin ${visit.loginPath} ${needed.userId}`);
      response.writeHead(302, { Location: `${visit.loginPath}?action=second-factor` }).end();
    },
    trustedUsers: (_site, cookies) => (cookies?.includes('trusted=1') ? [1] : []),
  };
  const logger = silentLogger();
  const throttled = new ThrottledAccounts((_site, users) => throttledUsers.push(users));
  const basicCredentials = new BasicCredentials();
  const recheckedSites: string[] = [];
  const missingReports = createMissingReports({
    async query(_site, requests) {
      if (wordpress.down) throw new Error('down');
      return new Map(
        requests.flatMap((id) => {
          const record = wordpress.records.get(id);
          return record === undefined ? [] : [[id, record] as const];
        }),
      );
    },
    state: () => (wordpress.bare ? { kind: 'missing' } : { kind: 'ok', version: '0.1.0', policy: null }),
    recheck: ({ id }) => void recheckedSites.push(id),
    clock,
    logger,
  });
  const probedSites: string[] = [];
  const staffChecks = createStaffChecks({
    clock,
    async probe({ id }) {
      probedSites.push(id);
      if (!wordpress.bare && !wordpress.down) staffChecks.recordSignal(id, toSignal(wordpress.old ? '-' : 'S'));
    },
  });
  const secondFactor = createTwoFactorHooks(twoFactor);
  const guard = createGateway({
    config,
    snapshots: snapshots,
    logger,
    clock,
    api: (_request, response) => void response.writeHead(404).end(),
    onSignal: ({ id }, signal) => staffChecks.recordSignal(id, signal),
    staffChecks,
    hooks: {
      onPage: secondFactor.onPage,
      onAllowed: createLoginHook({
        ...{ attempts, throttled, basicCredentials, missingReports, clock, logger },
        secondFactor: () => secondFactor,
        waitMs: 2000,
        whenStored: () => gateway.settled(),
      }),
      onFactor: (...args) => secondFactor.begin(...args),
      visits: { add: (_site, { target, status, rule }) => void visits.push(`${status} ${target} ${rule}`) },
    },
  });
  const bound = await guard.listen();
  const port = 'port' in bound ? bound.port : 0;
  const tick = setInterval(() => attempts.tick(clock()), 50);
  onTestFinished(async () => {
    clearInterval(tick);
    missingReports.stop();
    await guard.close();
  });
  const gateway: LoginGateway = {
    wordpress,
    attempts,
    settled: async () => {},
    throttledUsers,
    twoFactorCalls: twoFactorCalls,
    started: started,
    recheckedSites,
    probedSites,
    visits,
    port,
    advance: (ms) => {
      ahead += ms;
    },
    settings: set,
    send: (path, options = {}) => send(port, path, options),
    whenReportsQueried: () => eventually(() => missingReports.pending === 0),
  };
  return gateway;
}

function toSignal(flags: string): Signal {
  return { kind: 'ok', policyHash: null, connectorVersion: '0.1.0', flags };
}

function send(port: number, path: string, options: RequestOptions): Promise<ClientResponse> {
  const { method = 'GET', body, headers = {}, from = '192.0.2.1', leaveAfter } = options;
  return new Promise((resolve, reject) => {
    const form = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const request = httpRequest(
      {
        port,
        host: '127.0.0.1',
        method,
        path,
        agent: false,
        headers: { host: 'example.com', 'x-forwarded-for': from, ...form, ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const lines: string[] = [];
          for (let i = 0; i < response.rawHeaders.length; i += 2) {
            const name = (response.rawHeaders[i] as string).toLowerCase();
            if (name !== 'date') lines.push(`${name}: ${response.rawHeaders[i + 1]}`);
          }
          const find = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          resolve({
            status: response.statusCode ?? 0,
            headers: lines,
            body: Buffer.concat(chunks).toString(),
            header: find,
          });
        });
      },
    );
    request.on('error', reject);
    if (leaveAfter !== undefined) setTimeout(() => request.destroy(), leaveAfter);
    request.end(body);
  });
}

/** A raw connection, for bytes that an HTTP client would not send. */
export function rawSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return socket;
}
