import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { runInChild } from '../../test/support/command-line.js';
import { type FakeConnector, fakeConnector } from '../../test/support/fake-connector.js';
import { certificate, freePort } from '../../test/support/front-proxy.js';
import { mailServer } from '../../test/support/mail-server.js';
import { runningGuard } from '../../test/support/running-guard.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { loadConfig } from '../config/load-config.js';
import { attach } from './attach.js';
import { type DoctorOptions, examineSite } from './doctor.js';
import type { CheckName, Finding } from './doctor-checks.js';

/** Behavior of the web server in front of guard. */
interface Front {
  /** How it treats `X-Forwarded-For`: sets it, passes on the header of visitors, or neither. */
  readonly forwardedFor?: 'set' | 'pass' | 'none';
  readonly forwardedProto?: boolean;
  /** Where it forwards visitors to, instead of guard. */
  readonly target?: string;
  /** Paths for which it responds from a cache. */
  readonly cached?: readonly string[];
  /** Days for which its certificate is valid. */
  readonly days?: number;
}

interface Setup {
  readonly front?: Front;
  readonly trustedProxies?: readonly string[];
  readonly home?: string;
  readonly requireGuard?: boolean;
  /** Additional keys of `guard.json`. */
  readonly config?: object;
  /** Guard is not started. */
  readonly stopped?: boolean;
}

interface Site {
  readonly connector: FakeConnector;
  readonly dataDir: string;
  readonly plugins: string;
  /** Where the web server in front listens, for https and for http. */
  readonly connect: { readonly host: string; readonly port: number; readonly ca: string };
  readonly connectByHttp: { readonly host: string; readonly port: number };
  examine(options?: Partial<DoctorOptions>): Promise<readonly Finding[]>;
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

afterAll(async () => {
  if (template !== undefined) await rm(await template, { recursive: true, force: true });
});

/** An attached site: WordPress, guard, and a TLS server in front for example.com. */
async function site(setup: Setup = {}): Promise<Site> {
  const { front = {}, trustedProxies = ['127.0.0.1'], requireGuard = true } = setup;
  const [connector, folder, template] = [await fakeConnector(), await scratchFolder(), await attachedTemplate()];
  const port = await freePort();
  await cp(template, folder, { recursive: true });
  const [wordpress, dataDir] = [join(folder, 'wordpress'), join(folder, 'data')];
  const file = join(dataDir, 'guard.json');
  const written = JSON.parse(await readFile(file, 'utf8'));
  const entry = { ...written.sites[0], wordpressDir: wordpress, upstream: connector.upstream, requireGuard };
  const changed = { listen: `127.0.0.1:${port}`, trustedProxies, sites: [entry], ...setup.config };
  await writeFile(file, JSON.stringify({ ...written, ...changed }));
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
  const { connect, connectByHttp } = await webServerInFront(front, `http://127.0.0.1:${port}`);
  return {
    connector,
    dataDir,
    plugins,
    connect,
    connectByHttp,
    async examine(options = {}) {
      const config = await loadConfig({ dataDir, env: {} });
      return examineSite(config, { site: 'example-com', connect, connectByHttp, ...options });
    },
  };
}

/** Key and certificate by days of validity. Cached, since creating a key is slow. */
const certificates = new Map<number, { readonly key: string; readonly cert: string }>();

async function getCertificate(days: number) {
  const known = certificates.get(days);
  if (known !== undefined) return known;
  const { key, crt } = await certificate(days);
  const pair = { key: await readFile(key, 'utf8'), cert: await readFile(crt, 'utf8') };
  certificates.set(days, pair);
  return pair;
}

async function webServerInFront(front: Front, guard: string) {
  const { key, cert } = await getCertificate(front.days ?? 90);
  const tls = createTlsServer({ key, cert }, (visitor, response) => forward(front, guard, visitor, response));
  const plain = createServer((visitor, response) => {
    response.writeHead(301, { location: `https://example.com${visitor.url}` }).end();
  });
  const [port, httpPort] = [await listen(tls), await listen(plain)];
  return { connect: { host: '127.0.0.1', port, ca: cert }, connectByHttp: { host: '127.0.0.1', port: httpPort } };
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

function forward(front: Front, guard: string, visitor: IncomingMessage, response: ServerResponse): void {
  const { forwardedFor = 'set', forwardedProto = true, target = guard, cached = [] } = front;
  if (cached.includes(visitor.url ?? '')) {
    response.writeHead(200, { 'content-type': 'text/html', age: '17', 'x-cache': 'HIT' }).end('kept');
    return;
  }
  const headers = { ...visitor.headers };
  if (forwardedFor !== 'pass') delete headers['x-forwarded-for'];
  if (forwardedFor === 'set') headers['x-forwarded-for'] = visitor.socket.remoteAddress;
  if (forwardedProto) headers['x-forwarded-proto'] = 'https';
  const outgoing = request(
    `${target}${visitor.url}`,
    { method: visitor.method, headers, agent: false },
    (upstreamResponse) => {
      response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers);
      upstreamResponse.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  visitor.pipe(outgoing);
}

const about = (findings: readonly Finding[], check: CheckName): Finding => {
  const found = findings.find((finding) => finding.check === check);
  if (found === undefined) throw new Error(`Nothing was said about ${check}.`);
  return found;
};

describe('doctor at a site without problems', () => {
  it('reports every check in order, and changes nothing', async () => {
    const well = await site();
    const before = [...well.connector.commands].filter((command) => command !== 'hello' && command !== 'events');
    const findings = await well.examine();
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      ...['guard', 'key', 'connector', 'policy', 'redirects', 'direct-requests', 'public-address', 'client-address'],
      ...['server-behind', 'https', 'certificate', 'scheme', 'clock', 'cache', 'permissions', 'disk', 'mail'],
    ]);
    const after = well.connector.commands.filter((command) => command !== 'hello' && command !== 'events');
    expect(after).toEqual(before);
  });

  it('warns when the upstream web server sees guard’s address for every visitor, and about the pages that this makes public', async () => {
    const { connector, examine } = await site();
    connector.addressSeen = () => false;
    connector.pages.set('/server-status', () => '<h1>Apache Server Status for localhost</h1>');
    const found = about(await examine(), 'server-behind');
    expect(found).toMatchObject({
      state: 'warning',
      message: expect.stringMatching(/guard’s address for every visitor/),
    });
    expect(found.advice).toMatch(/RemoteIPHeader.*\/server-status with the host example\.com/);
    connector.addressSeen = undefined;
    connector.pages.clear();
    expect(about(await examine(), 'server-behind').state).toBe('skipped');
  });

  it('is a command with exit codes, text and JSON', async () => {
    const { dataDir, connect } = await site();
    const doctor = (...more: string[]) =>
      runInChild('doctor', '--data-dir', dataDir, '--connect', `127.0.0.1:${connect.port}`, ...more);
    // The command trusts only the system's authorities, so the test's certificate is the only problem.
    const asJson = await doctor('example-com', '--json');
    expect(asJson).toMatchObject({ status: 1, stderr: '' });
    const findings = JSON.parse(asJson.stdout) as Finding[];
    expect(findings.filter(({ state }) => state === 'problem').map(({ check }) => check)).toEqual(['certificate']);
    expect(findings[0]).toEqual({ check: 'guard', state: 'ok', message: expect.any(String), advice: null });
    const text = (await doctor('example-com')).stdout;
    expect(text).toMatch(/^PROBLEM {2}certificate {6}The certificate is not valid: .*\n +-> Renew it/m);
    expect(text).toMatch(/^Problems: 1, warnings: 0, skipped: 0\.$/m);
    expect(await doctor('other')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('No site has the id other'),
    });
    expect(await doctor()).toMatchObject({ status: 2, stderr: expect.stringContaining('Name one site') });
    expect(await doctor('example-com', '--mail', 'nobody')).toMatchObject({ status: 2 });
  });
});

describe('doctor and guard itself', () => {
  it('reports that guard does not run, and still checks the rest', async () => {
    const findings = await (await site({ stopped: true })).examine();
    expect(about(findings, 'guard')).toMatchObject({ state: 'problem', message: 'Guard is not running.' });
    expect(about(findings, 'connector').state).toBe('ok');
    expect(about(findings, 'client-address').state).toBe('skipped');
  });

  it('reports that the running guard does not serve the site', async () => {
    const { examine, dataDir } = await site();
    const file = join(dataDir, 'guard.sites');
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), served: [] }));
    expect(about(await examine(), 'guard')).toMatchObject({
      state: 'problem',
      advice: expect.stringContaining('systemctl reload'),
    });
  });

  it('reports why the key can’t be used, and sends no request with it', async () => {
    const { examine, dataDir } = await site({ stopped: true });
    await chmod(join(dataDir, 'sites', 'example-com.secret'), 0o644);
    const findings = await examine();
    expect(about(findings, 'key')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('others may read it; run chmod 600 on it'),
    });
    expect(findings.map(({ check }) => check)).toEqual(['guard', 'key']);
  });
});

describe('doctor and the connector', () => {
  it.each([
    [
      'is missing',
      (connector: FakeConnector) => Object.assign(connector, { mode: 'gone' }),
      /connector plugin is missing/,
    ],
    ['has a different key', (connector: FakeConnector) => Object.assign(connector, { secret: 'ab'.repeat(32) }), /key/],
    [
      'has a different version',
      (connector: FakeConnector) => Object.assign(connector, { version: '0.0.9' }),
      /has version 0\.0\.9, guard/,
    ],
    ['can’t be reached', (connector: FakeConnector) => void connector.close(), /WordPress/],
  ])('reports that it %s', async (_which, break_, message) => {
    const { connector, examine } = await site();
    break_(connector);
    expect(about(await examine(), 'connector')).toMatchObject({
      state: 'problem',
      message: expect.stringMatching(message),
      advice: expect.any(String),
    });
  });

  it('reports that WordPress runs another policy', async () => {
    const { connector, examine } = await site({ stopped: true });
    connector.policy = { hash: '0123456789abcdef', policy: {} };
    expect(about(await examine(), 'policy').state).toBe('problem');
  });
});

describe('doctor and direct requests', () => {
  it('reports that WordPress answers them although guard is required', async () => {
    const { connector, examine } = await site();
    connector.requireGuard = false;
    expect(about(await examine(), 'direct-requests')).toMatchObject({
      state: 'problem',
      message: 'WordPress answers direct requests (status 404), although the site requires guard.',
    });
  });

  it('warns where guard is not required yet, and names the next step', async () => {
    const { examine } = await site({ requireGuard: false });
    expect(about(await examine(), 'direct-requests')).toMatchObject({
      state: 'warning',
      advice: expect.stringContaining('with --require-guard when they come through guard.'),
    });
  });

  it('reports that the public address leads past guard to WordPress', async () => {
    const { connector, examine } = await site({ requireGuard: false });
    const { connect } = await webServerInFront({ target: connector.upstream }, '');
    expect(about(await examine({ connect }), 'public-address')).toMatchObject({
      state: 'problem',
      message: 'https://example.com leads past guard: WordPress answers by itself.',
    });
  });

  it('reports that another guard answers at the public address', async () => {
    const [here, elsewhere] = [await site(), await site()];
    expect(about(await here.examine({ connect: elsewhere.connect }), 'public-address')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('but not this one'),
    });
  });

  it('reports that nothing answers at the public address', async () => {
    const { examine } = await site();
    const finding = about(await examine({ connect: { host: '127.0.0.1', port: await freePort() } }), 'public-address');
    expect(finding).toMatchObject({
      state: 'problem',
      message: 'Nothing answers at https://example.com: nothing listens there.',
    });
  });
});

describe('doctor and the address of visitors', () => {
  it('reports which proxy is not trusted', async () => {
    const { examine } = await site({ trustedProxies: [] });
    expect(about(await examine(), 'client-address')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('The proxy at 127.0.0.1 is not trusted. All visitors share the address'),
      advice: expect.stringContaining('`trustedProxies`'),
    });
  });

  it('warns of a private address that may be a proxy', async () => {
    const { examine } = await site({ trustedProxies: [], front: { forwardedFor: 'none' } });
    expect(about(await examine(), 'client-address')).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('private address 127.0.0.1'),
    });
  });

  it('reports that a trusted proxy does not name visitors', async () => {
    const { examine } = await site({ front: { forwardedFor: 'none' } });
    expect(about(await examine(), 'client-address')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('does not say who visits'),
    });
  });

  it('reports that visitors can choose their address', async () => {
    const { examine } = await site({ front: { forwardedFor: 'pass' } });
    expect(about(await examine(), 'client-address')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('they can choose their address'),
    });
  });
});

describe('doctor and TLS', () => {
  it('reports that the site is reached by http only', async () => {
    const { examine, dataDir } = await site({ home: 'http://example.com', front: { forwardedProto: false } });
    const { listen: guard } = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
    const findings = await examine({ connect: { host: '127.0.0.1', port: Number(guard.split(':')[1]) } });
    expect(about(findings, 'https')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('passwords and session cookies travel unprotected'),
    });
    expect(about(findings, 'client-address')).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('No proxy is in between'),
    });
  });

  it('warns where http does not redirect to https', async () => {
    const { examine, connector } = await site({ requireGuard: false });
    const { port } = new URL(connector.upstream);
    expect(about(await examine({ connectByHttp: { host: '127.0.0.1', port: Number(port) } }), 'https')).toMatchObject({
      state: 'warning',
      message: 'By http the site answers with 200 and does not lead to https.',
    });
  });

  it('warns about a certificate that expires soon', async () => {
    const { examine } = await site({ front: { days: 10 } });
    expect(about(await examine(), 'certificate')).toMatchObject({
      state: 'warning',
      message: expect.stringMatching(/^The certificate ends in 9 days, on \d{4}-\d\d-\d\d\.$/),
    });
  });

  it.each([
    ['is not signed by a known authority', 'https://example.com', false, 'it is self-signed.'],
    ['is for another name', 'https://example.org', true, 'it belongs to other names.'],
  ])('reports that the certificate %s', async (_which, home, isKnown, fault) => {
    const { examine, connect } = await site({ home });
    const { ca, ...unknown } = connect;
    expect(about(await examine({ connect: isKnown ? connect : unknown }), 'certificate')).toMatchObject({
      state: 'problem',
      message: `The certificate is not valid: ${fault}`,
    });
  });

  it('reports that guard takes https for http', async () => {
    const { examine } = await site({ front: { forwardedProto: false } });
    expect(about(await examine(), 'scheme')).toMatchObject({
      state: 'problem',
      advice: expect.stringContaining('X-Forwarded-Proto'),
    });
  });
});

describe('doctor and the clocks', () => {
  it.each([
    [45_000, 'warning', /^The clock of WordPress’s machine is 4[456] seconds ahead of guard’s\.$/],
    [-45_000, 'warning', /4[456] seconds behind guard’s/],
    [300_000, 'problem', /(?:299|300|301) seconds ahead of guard’s\. WordPress believes no signature/],
  ])('reports that WordPress’s clock is %i ms ahead', async (ahead, state, message) => {
    const { connector, examine } = await site();
    connector.clockAhead = ahead;
    expect(about(await examine(), 'clock')).toMatchObject({ state, message: expect.stringMatching(message) });
  });
});

describe('doctor and caches in front', () => {
  it('reports that a cache answers the login page', async () => {
    const { examine } = await site({ front: { cached: ['/wp-login.php'] } });
    expect(about(await examine(), 'cache')).toMatchObject({
      state: 'problem',
      message: 'A cache in front of guard answers /wp-login.php (age: 17): no rule for logins is asked.',
    });
  });

  it('warns where a cache answers the first page', async () => {
    const { examine } = await site({ front: { cached: ['/'] } });
    expect(about(await examine(), 'cache')).toMatchObject({
      state: 'warning',
      message: 'A cache in front of guard answers / (age: 17): blocked visitors still get it.',
    });
  });
});

describe('doctor and the files', () => {
  const permissions = (findings: readonly Finding[]) => findings.filter(({ check }) => check === 'permissions');

  it.each([
    ['others may write in the data folder', (at: Site) => chmod(at.dataDir, 0o777), /^Others may write in /],
    ['others may read the database', (at: Site) => chmod(join(at.dataDir, 'guard.sqlite'), 0o644), /guard\.sqlite\.$/],
    [
      'more users may read the key in WordPress than wp-config.php',
      (at: Site) => chmod(join(at.plugins, 'security-optimizer', 'secret.php'), 0o644),
      /^More users may read secret\.php|^More users may read .*secret\.php/,
    ],
    [
      'any user may change the loader',
      (at: Site) => chmod(join(at.plugins, 'security-optimizer.php'), 0o666),
      /^Every user may change/,
    ],
    ['the loader is missing', (at: Site) => rm(join(at.plugins, 'security-optimizer.php')), /the loader .* is missing/],
    [
      'the key file contains a different key',
      (at: Site) => writeFile(join(at.plugins, 'security-optimizer', 'secret.php'), '<?php'),
      /does not hold the site’s key/,
    ],
  ])('reports that %s', async (_which, break_, message) => {
    const at = await site();
    await break_(at);
    expect(permissions(await at.examine())).toEqual([
      { check: 'permissions', state: 'problem', message: expect.stringMatching(message), advice: expect.any(String) },
    ]);
  });

  it('reports the free space of the disk', async () => {
    expect(about(await (await site({ stopped: true })).examine(), 'disk').message).toMatch(
      /^(?:Only )?[\d,]+ MB are free/,
    );
  });
});

describe('doctor and mails', () => {
  const smtp = (port: number) => ({ mail: { smtp: { host: '127.0.0.1', port, from: 'guard@example.com' } } });

  it('connects to the mail server and sends nothing', async () => {
    const { server, received } = await mailServer();
    const { examine } = await site({ stopped: true, config: smtp(server.port) });
    expect(about(await examine(), 'mail')).toMatchObject({
      state: 'ok',
      message: `The mail server 127.0.0.1:${server.port} answers and lets guard in.`,
    });
    expect(received).toEqual([]);
  });

  it('reports that the mail server does not answer', async () => {
    const { examine } = await site({ stopped: true, config: smtp(await freePort()) });
    expect(about(await examine(), 'mail')).toMatchObject({
      state: 'problem',
      advice: expect.stringContaining('mail.smtp'),
    });
  });

  it('sends a test mail to a given address, through the mail server or WordPress', async () => {
    const { server, received } = await mailServer();
    const bySmtp = await site({ stopped: true, config: smtp(server.port) });
    expect(about(await bySmtp.examine({ mailTo: 'anna@example.com' }), 'mail').state).toBe('ok');
    expect(received).toMatchObject([{ to: ['anna@example.com'] }]);
    const byWordPress = await site({ stopped: true });
    expect(about(await byWordPress.examine({ mailTo: 'anna@example.com' }), 'mail').state).toBe('ok');
    expect(byWordPress.connector.mails).toMatchObject([{ to: 'anna@example.com' }]);
    byWordPress.connector.mailFault = 'Could not instantiate mail function.';
    expect(about(await byWordPress.examine({ mailTo: 'anna@example.com' }), 'mail')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('Could not instantiate mail function.'),
    });
  });
});
