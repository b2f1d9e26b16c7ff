import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net';
import { defaultSecurityOptions, type SecurityOptions } from '@security-optimizer/contract/settings/protections';
import { onTestFinished } from 'vitest';
import type { Visit } from '../src/activity/visit.js';
import type { Config } from '../src/config/config.js';
import { configFile } from '../src/config/config-file.js';
import type { ApiHandler } from '../src/gateway/context.js';
import type { GatewayObserver } from '../src/gateway/observer.js';
import { createGateway, type Gateway } from '../src/gateway/server.js';
import type { RequestHooks } from '../src/hooks.js';
import { english, type Language } from '../src/i18n/language.js';
import { toVisitorSet } from '../src/lib/carried-address.js';
import type { ListeningDescriptor } from '../src/lib/listen.js';
import type { Logger } from '../src/lib/logger.js';
import { createLoginHook } from '../src/login/admission.js';
import { LoginAttempts } from '../src/login/attempts.js';
import { BasicCredentials } from '../src/login/basic-credentials.js';
import type { SecondFactor } from '../src/login/index.js';
import { ThrottledAccounts } from '../src/login/throttled-accounts.js';
import { defaultLoginSettings } from '../src/rules/login-policy.js';
import { compileSnapshot, LiveSnapshots } from '../src/rules/snapshot.js';
import { defaultSitePaths, type SiteConfig } from '../src/site.js';
import { createSharedAssets } from '../src/sites/shared-assets.js';
import type { Signal } from '../src/wordpress/signature.js';
import { recentLogger } from './support/logs.js';
import { siteConfig } from './support/site-config.js';

export type RecordedVisit = Pick<Visit, 'address' | 'target' | 'status' | 'rule' | 'agent'> & {
  readonly site: string;
  /** Present only where it is true. */
  readonly isOwnCron?: true;
};

export interface TestGateway {
  /** 0 for a Unix socket. */
  readonly port: number;
  readonly server: Gateway;
  readonly snapshots: LiveSnapshots;
  readonly signals: Signal[];
  /** Visits recorded for the Activity Log, in order. */
  readonly visits: RecordedVisit[];
  /** Scheme and host of each of them. */
  readonly origins: (string | null)[];
  /** Swaps in a policy with these addresses blocked and these options changed. */
  rule(input: { blocked?: readonly string[]; options?: Partial<SecurityOptions>; language?: Language }): void;
  /** Replaces the machine's trusted proxies. */
  trust(trustedProxies: readonly string[]): void;
}

const OFF = Object.fromEntries(Object.keys(defaultSecurityOptions).map((name) => [name, 0])) as SecurityOptions;

export interface GatewayOptions {
  readonly limits?: Partial<Config['limits']>;
  readonly trustedProxies?: readonly string[];
  readonly proxyProtocol?: boolean;
  readonly trustedProxyHeaders?: readonly string[];
  readonly sites?: readonly (Pick<SiteConfig, 'id' | 'hosts' | 'upstream'> & Partial<SiteConfig>)[];
  readonly api?: ApiHandler;
  readonly listen?: Config['listen'];
  readonly logger?: Logger;
  readonly socket?: ListeningDescriptor;
  readonly observer?: GatewayObserver;
  /** Hooks in place of Login Security. */
  readonly hooks?: Partial<RequestHooks>;
}

/** These tests are not about the login: no request reaches the second factor. */
const noSecondFactor: SecondFactor = { begin: ({ response }) => void response.destroy(), trustedUsers: () => [] };

/** The gateway on a real socket in front of `upstream`, closed after the test. */
export async function startGateway(upstream: number | string, options: GatewayOptions = {}): Promise<TestGateway> {
  const snapshots = new LiveSnapshots();
  const signals: Signal[] = [];
  const visits: RecordedVisit[] = [];
  const origins: (string | null)[] = [];
  const origin = typeof upstream === 'number' ? `http://127.0.0.1:${upstream}` : upstream;
  const sites = (options.sites ?? [{ upstream: origin }]).map(siteConfig);
  const config: Config = {
    ...configFile.parse({}),
    processes: 1,
    dataDir: '.',
    listen: options.listen ?? { host: '127.0.0.1', port: 0 },
    database: 'sqlite:none',
    trustedProxies: options.trustedProxies ?? [],
    proxyProtocol: options.proxyProtocol ?? false,
    trustedProxyHeaders: options.trustedProxyHeaders ?? [],
    sites,
    quarantined: [],
    limits: {
      targetBytes: 8192,
      headerBytes: 32_768,
      headerSeconds: 60,
      idleSeconds: 60,
      upstreamSeconds: 60,
      shutdownSeconds: 5,
      drainSeconds: 1,
      upstreamConnections: 64,
      connections: 10_000,
      connectionsPerAddress: 10_000,
      databaseConnections: 1,
      ...options.limits,
    },
    activity: { maxRows: 1000, dns: [], monitors: [], securityLog: null },
    mail: { smtp: null },
    alerts: { privateTargets: [], plainHttp: false, authorities: [] },
    logLevel: 'silent',
  };
  const rule: TestGateway['rule'] = ({ blocked = [], options: changed = {}, language = english }) => {
    const snapshot = compileSnapshot({
      options: { ...OFF, ...changed },
      paths: defaultSitePaths,
      blocked: toVisitorSet(blocked),
      login: { ...defaultLoginSettings, login_attempts: 0 },
      timeZone: 'UTC',
      language,
    });
    for (const site of sites) snapshots.swap(site.id, snapshot);
  };
  rule({});
  const logger = options.logger ?? recentLogger();
  const server = createGateway({
    config,
    snapshots: snapshots,
    api: options.api ?? ((_request, response) => void response.end('api')),
    logger,
    clock: Date.now,
    hooks: {
      onPage: () => false,
      onAllowed: createLoginHook({
        attempts: new LoginAttempts(),
        throttled: new ThrottledAccounts(() => {}),
        secondFactor: () => noSecondFactor,
        clock: Date.now,
        logger,
        waitMs: 1000,
        whenStored: async () => {},
        basicCredentials: new BasicCredentials(),
        missingReports: {
          isAway: () => false,
          recordSigned: () => {},
          pending: 0,
          recordMissing: () => {},
          getRetention: () => null,
          find: async (_site, _requestId, then) => then('unknown'),
        },
      }),
      onFactor: ({ response }) => void response.destroy(),
      visits: {
        add: (site, { address, target, status, rule, agent, isOwnCron, origin }) => {
          origins.push(origin?.() ?? null);
          const own = isOwnCron === true ? { isOwnCron } : {};
          visits.push({ site, address: address.text, target, status, rule, agent: agent(), ...own });
        },
      },
      ...options.hooks,
    },
    socket: options.socket,
    sharedAssets: createSharedAssets(),
    ...(options.observer && { observer: options.observer }),
    onSignal: (_site, signal) => void signals.push(signal),
  });
  const bound = await server.listen();
  const port = 'port' in bound ? bound.port : 0;
  onTestFinished(() => server.close());
  const trust: TestGateway['trust'] = (trustedProxies) =>
    server.applyChange({ served: [], quarantined: [], removed: [], trustedProxies });
  return { port, server, snapshots: snapshots, signals, visits, origins, rule, trust };
}

/** A web server in place of WordPress. */
export async function webServer(listener: RequestListener): Promise<number> {
  const server = createServer({ requestTimeout: 0 }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** A web server whose bytes the test writes. */
export async function rawServer(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** A raw server that responds to each request head with the same bytes, and records what it received. */
export async function scriptedServer(response: string | Buffer): Promise<{ port: number; received: () => string }> {
  let received = '';
  const port = await rawServer((socket) => {
    let head = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
      head += data.toString('latin1');
      for (let end = head.indexOf('\r\n\r\n'); end !== -1; end = head.indexOf('\r\n\r\n')) {
        head = head.slice(end + 4);
        socket.write(response);
      }
    });
  });
  return { port, received: () => received };
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A web server that records every request and responds with `answer`, or with 200 and `hello`. */
export async function recordingServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => {
    response.end('hello');
  },
): Promise<{ port: number; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const port = await webServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request;
      seen.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString('latin1') });
      handle(request, response);
    });
  });
  return { port, seen };
}
