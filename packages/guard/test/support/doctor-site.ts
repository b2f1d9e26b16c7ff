import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { attach } from '../../src/cli/attach.js';
import { type DoctorOptions, examineSite } from '../../src/cli/doctor.js';
import type { CheckName, Finding } from '../../src/cli/doctor-findings.js';
import { loadConfig } from '../../src/config/load-config.js';
import { type FakeConnector, fakeConnector } from './fake-connector.js';
import { certificate, freePort } from './front-proxy.js';
import { runningGuard } from './running-guard.js';
import { eventually, scratchFolder } from './scratch.js';
import { wordpressFolder } from './wordpress-folder.js';

/** A response that a server sends by itself, or has stored. */
interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Stores the responses to GET requests without an expiry, as page caches do. */
interface PageCache {
  /** The key of a request. What differs in two requests must be in the key. */
  readonly toKey: (request: IncomingMessage, scheme: 'http' | 'https') => string;
}

/** Behavior of the web server in front of guard. */
export interface Front {
  /**
   * How it treats `X-Forwarded-For`: sets it, appends to it, passes on the header of visitors, none of these, or
   * believes this machine, as a server with `set_real_ip_from 127.0.0.1` does. An address is that of another proxy
   * before it.
   */
  readonly forwardedFor?: 'set' | 'append' | 'pass' | 'none' | 'believe' | { readonly address: string };
  /** Whether it sets `X-Forwarded-Proto`, or to which value. */
  readonly forwardedProto?: boolean | 'https';
  /** Where it forwards visitors to, instead of guard. */
  readonly target?: string;
  /** Status with which it responds to every request by itself. */
  readonly status?: number;
  /** Paths for which it responds from a cache that was filled earlier. */
  readonly cached?: readonly string[];
  readonly cache?: PageCache;
  /** It forwards http, too, instead of redirecting it to https. */
  readonly forwardsHttp?: boolean;
  /** Days for which its certificate is valid, or the years of its validity. */
  readonly validity?: number | readonly [from: number, to: number];
}

/** A web server between guard and WordPress, as `behind` of a site. */
export interface Behind {
  /** The response of WordPress to visitors of a page; null for that of the fake connector. */
  readonly page: (request: IncomingMessage, scheme: 'http' | 'https') => Page | null;
  readonly cache?: PageCache;
  /** Starts a server between guard and this one. @returns its origin */
  readonly through?: (webServer: string) => Promise<string>;
}

export interface Setup {
  readonly front?: Front;
  /** Starts a server between the web server in front and guard. @returns its origin */
  readonly beforeGuard?: (guard: string) => Promise<string>;
  readonly behind?: Behind;
  readonly trustedProxies?: readonly string[];
  readonly home?: string;
  /** Hosts of the site. */
  readonly hosts?: readonly string[];
  readonly requireGuard?: boolean;
  /** Additional keys of `guard.json`. */
  readonly config?: object;
  /** Guard is not started. */
  readonly stopped?: boolean;
}

export interface DoctorSite {
  readonly connector: FakeConnector;
  readonly dataDir: string;
  readonly wordpress: string;
  readonly plugins: string;
  /** Where guard listens. */
  readonly guard: { readonly host: string; readonly port: number };
  /** Where the web server in front listens, for https and for http. */
  readonly connect: { readonly host: string; readonly port: number; readonly ca: string };
  readonly connectByHttp: { readonly host: string; readonly port: number };
  examine(options?: Partial<DoctorOptions>): Promise<readonly Finding[]>;
  /** Changes keys of `guard.json`. Guard does not read it again. */
  configure(change: (written: Record<string, unknown> & { sites: Record<string, unknown>[] }) => object): Promise<void>;
}

let template: Promise<string> | undefined;

/** A folder with an attached WordPress and a data folder, to be copied, since attaching is slow. */
function attachedTemplate(): Promise<string> {
  template ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-doctor-'));
    await cp(await wordpressFolder(), join(folder, 'wordpress'), { recursive: true });
    await mkdir(join(folder, 'data'), { mode: 0o700 });
    await attach({
      wordpressDir: join(folder, 'wordpress'),
      upstream: 'http://127.0.0.1:1',
      dataDir: join(folder, 'data'),
      hosts: ['example.com'],
    });
    return folder;
  })();
  return template;
}

/** Removes what the sites of a test file share. */
export async function removeTemplate(): Promise<void> {
  const made = template;
  template = undefined;
  if (made !== undefined) await rm(await made, { recursive: true, force: true });
}

/** An attached site: WordPress, guard, and a TLS server in front for example.com. */
export async function doctorSite(setup: Setup = {}): Promise<DoctorSite> {
  const { front = {}, trustedProxies = ['127.0.0.1'], requireGuard = true } = setup;
  const [connector, folder, template] = [await fakeConnector(), await scratchFolder(), await attachedTemplate()];
  const port = await freePort();
  await cp(template, folder, { recursive: true });
  const [wordpress, dataDir] = [join(folder, 'wordpress'), join(folder, 'data')];
  const file = join(dataDir, 'guard.json');
  const configure: DoctorSite['configure'] = async (change) => {
    const written = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...written, ...change(written) }));
  };
  const web = setup.behind === undefined ? connector.upstream : await serverBehind(setup.behind, connector);
  const upstream = (await setup.behind?.through?.(web)) ?? web;
  await configure(({ sites }) => ({
    listen: `127.0.0.1:${port}`,
    trustedProxies,
    sites: [
      { ...sites[0], wordpressDir: wordpress, upstream, requireGuard, ...(setup.hosts && { hosts: setup.hosts }) },
    ],
    ...setup.config,
  }));
  connector.secret = randomBytes(32).toString('hex');
  const plugins = join(wordpress, 'wp-content', 'mu-plugins');
  const keyFile = join(plugins, 'security-optimizer', 'secret.php');
  const php = await readFile(keyFile, 'utf8');
  await writeFile(keyFile, php.replace(/[0-9a-f]{64}/, connector.secret));
  await writeFile(join(dataDir, 'sites', 'example-com.secret'), connector.secret);
  connector.home = setup.home ?? 'https://example.com';
  connector.requireGuard = requireGuard;
  connector.addressSeen = () => true;
  if (setup.stopped !== true) {
    await runningGuard(dataDir);
    await eventually(() => connector.policy !== null);
  }
  const guard = `http://127.0.0.1:${port}`;
  const { connect, connectByHttp } = await webServerInFront(front, (await setup.beforeGuard?.(guard)) ?? guard);
  return {
    connector,
    dataDir,
    wordpress,
    plugins,
    guard: { host: '127.0.0.1', port },
    connect,
    connectByHttp,
    configure,
    async examine(options = {}) {
      const config = await loadConfig({ dataDir, env: {} });
      return examineSite(config, { site: 'example-com', connect, connectByHttp, ...options });
    },
  };
}

/** The finding about a check. */
export function about(findings: readonly Finding[], check: CheckName): Finding {
  const found = findings.find((finding) => finding.check === check);
  if (found === undefined) throw new Error(`Nothing was said about ${check}.`);
  return found;
}

/** Key and certificate by validity. Cached, since creating a key is slow. */
const certificates = new Map<string, { readonly key: string; readonly cert: string }>();

async function getCertificate(validity: number | readonly [from: number, to: number]) {
  const known = certificates.get(String(validity));
  if (known !== undefined) return known;
  const { folder, key, crt } = await certificate(typeof validity === 'number' ? validity : 2);
  if (typeof validity !== 'number') createForYears(folder, key, crt, validity);
  const pair = { key: await readFile(key, 'utf8'), cert: await readFile(crt, 'utf8') };
  certificates.set(String(validity), pair);
  return pair;
}

/** Signs a certificate for example.com again, for other years. */
function createForYears(folder: string, key: string, crt: string, [from, to]: readonly [number, number]): void {
  const script = `
    set -e
    printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\npolicy=p\\n[p]\\ncommonName=supplied\\n' > ca.cnf
    : > index
    echo 01 > serial
    openssl req -new -key "$1" -subj /CN=example.com -out request.csr
    openssl ca -config ca.cnf -batch -selfsign -keyfile "$1" -in request.csr -notext -out "$2" -startdate "$3" -enddate "$4"`;
  const years = [from, to].map((year) => `${year}0101000000Z`);
  const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', key, crt, ...years], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

/** A web server that visitors reach, for https and for http. */
export async function webServerInFront(front: Front, guard: string) {
  const { key, cert } = await getCertificate(front.validity ?? 90);
  const stored = new Map<string, Page>();
  const tls = createTlsServer({ key, cert }, (visitor, response) => {
    void handle(visitor, response, 'https');
  });
  const plain = createServer((visitor, response) => {
    if (front.forwardsHttp === true) void handle(visitor, response, 'http');
    else response.writeHead(301, { location: `https://example.com${visitor.url}` }).end();
  });
  const handle = (visitor: IncomingMessage, response: ServerResponse, scheme: 'http' | 'https') =>
    respond(visitor, response, {
      ...(front.cache && { key: front.cache.toKey(visitor, scheme) }),
      stored,
      load: () => respondInFront(front, guard, visitor, scheme),
    });
  const [port, httpPort] = [await listen(tls), await listen(plain)];
  return { connect: { host: '127.0.0.1', port, ca: cert }, connectByHttp: { host: '127.0.0.1', port: httpPort } };
}

async function serverBehind(behind: Behind, connector: FakeConnector): Promise<string> {
  const stored = new Map<string, Page>();
  const server = createServer((visitor, response) => {
    const scheme = visitor.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
    const isPage = visitor.method === 'GET' && !visitor.url?.includes('rest_route');
    void respond(visitor, response, {
      ...(isPage && behind.cache && { key: behind.cache.toKey(visitor, scheme) }),
      stored,
      load: async () =>
        (isPage ? behind.page(visitor, scheme) : null) ?? forward(visitor, connector.upstream, visitor.headers),
    });
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** Responds from a cache, or else with what is loaded, which it then stores. */
async function respond(
  visitor: IncomingMessage,
  response: ServerResponse,
  options: { readonly key?: string; readonly stored: Map<string, Page>; readonly load: () => Promise<Page | null> },
): Promise<void> {
  const { key, stored, load } = options;
  const page = (key === undefined ? undefined : stored.get(key)) ?? (await load());
  if (page === null) {
    response.destroy();
    return;
  }
  if (key !== undefined && visitor.method === 'GET') stored.set(key, page);
  response.writeHead(page.status, page.headers).end(page.body);
}

async function respondInFront(
  front: Front,
  guard: string,
  visitor: IncomingMessage,
  scheme: 'http' | 'https',
): Promise<Page | null> {
  const { forwardedFor = 'set', forwardedProto = true, target = guard, cached = [], status } = front;
  if (status !== undefined) return { status, headers: {}, body: '' };
  if (cached.includes(visitor.url ?? '')) {
    return { status: 200, headers: { 'content-type': 'text/html', age: '17', 'x-cache': 'HIT' }, body: 'kept' };
  }
  const headers = { ...visitor.headers };
  const sent = headers['x-forwarded-for'];
  const { remoteAddress } = visitor.socket;
  delete headers['x-forwarded-for'];
  const values = {
    set: remoteAddress,
    append: sent === undefined ? remoteAddress : `${sent}, ${remoteAddress}`,
    pass: sent,
    none: undefined,
    believe: sent ?? remoteAddress,
  };
  const forwarded = typeof forwardedFor === 'string' ? values[forwardedFor] : forwardedFor.address;
  if (forwarded !== undefined) headers['x-forwarded-for'] = forwarded;
  if (forwardedProto !== false) headers['x-forwarded-proto'] = forwardedProto === true ? scheme : forwardedProto;
  return forward(visitor, target, headers);
}

/** @returns null when the server does not respond */
async function forward(
  visitor: IncomingMessage,
  target: string,
  headers: IncomingMessage['headers'],
): Promise<Page | null> {
  const outgoing = request(`${target}${visitor.url}`, { method: visitor.method, headers, agent: false });
  visitor.pipe(outgoing);
  try {
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const { 'transfer-encoding': _, connection: __, ...kept } = response.headers;
    return { status: response.statusCode ?? 502, headers: kept, body: Buffer.concat(chunks).toString('utf8') };
  } catch {
    return null;
  }
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
