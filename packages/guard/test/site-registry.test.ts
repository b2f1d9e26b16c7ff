import { once } from 'node:events';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInChild, type ServeProcess, serve } from './support/command-line.js';
import { withDatabase } from './support/database.js';
import { fakeConnector } from './support/fake-connector.js';
import { dataFolderFor } from './support/running-guard.js';
import { eventually } from './support/scratch.js';
import { SECRET } from './support/site-config.js';

interface Entry {
  readonly id: string;
  readonly hosts: readonly string[];
  readonly upstream: string;
}

/** A running guard whose first site is `one.example`. Each site has its own WordPress. */
async function runningSites() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector, { id: 'site', hosts: ['one.example'] });
  const guard = await serve(dataDir);
  return { connector, dataDir, guard, entry: { id: 'site', hosts: ['one.example'], upstream: connector.upstream } };
}

/** Writes the configuration as an editor does, atomically, and keys for the sites that have none yet. */
async function writeSites(dataDir: string, sites: readonly object[], more: object = {}): Promise<void> {
  for (const { id } of sites as readonly Entry[]) {
    await writeFile(join(dataDir, 'sites', `${id}.secret`), SECRET, { mode: 0o600 });
  }
  const file = join(dataDir, 'guard.json');
  const written = await withDatabase(dataDir, { listen: '127.0.0.1:0', sites, ...more });
  await writeFile(`${file}.new`, JSON.stringify(written));
  await rename(`${file}.new`, file);
}

/** Sends SIGHUP and waits until guard has written the result. */
async function reload(dataDir: string, { child }: ServeProcess) {
  const read = async () => JSON.parse(await readFile(join(dataDir, 'guard.sites'), 'utf8'));
  const { mtimeNs } = await import('node:fs/promises').then(({ stat }) =>
    stat(join(dataDir, 'guard.json'), { bigint: true }),
  );
  child.kill('SIGHUP');
  await eventually(async () => (await read()).configuration.writtenAt === String(mtimeNs));
  return read();
}

/** The status of guard's response to a request for a host. */
async function getStatus(url: string, host: string, path = '/', headers: object = {}): Promise<number | undefined> {
  const outgoing = request(url + path, { headers: { host, ...headers } }).end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

describe('SIGHUP', () => {
  it('starts to serve an added site, with its log and settings, while the others continue', async () => {
    const { dataDir, guard, entry } = await runningSites();
    const second = await fakeConnector();
    expect(await getStatus(guard.url, 'two.example')).toBe(404);

    await writeSites(dataDir, [entry, { id: 'two', hosts: ['two.example'], upstream: second.upstream }]);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['site', 'two'], quarantined: [] });

    expect(await getStatus(guard.url, 'two.example')).toBe(200);
    expect(await getStatus(guard.url, 'two.example', '//xmlrpc.php')).toBe(403);
    expect(await getStatus(guard.url, 'two.example', '/feed/')).toBe(200);
    expect((await callThrough(guard.url, 'two.example', '/disable-feeds', '{"disable_feed":1}')).status).toBe(200);
    expect(await getStatus(guard.url, 'two.example', '/feed/')).toBe(404);
    expect(await getStatus(guard.url, 'one.example', '/feed/')).toBe(200);
  });

  it('stops serving a site that was removed from the file, and completes its running requests', async () => {
    const { dataDir, guard, entry } = await runningSites();
    const second = await fakeConnector();
    await writeSites(dataDir, [entry, { id: 'two', hosts: ['two.example'], upstream: second.upstream }]);
    await reload(dataDir, guard);
    const { received, finish } = await slowUpload(guard.url, 'two.example');

    await writeSites(dataDir, [entry]);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['site'] });

    expect(await getStatus(guard.url, 'two.example')).toBe(404);
    finish();
    expect(await received).toMatch(/^HTTP\/1\.1 200 /);
    expect(await getStatus(guard.url, 'one.example')).toBe(200);
  });

  it('keeps the settings of a site that changes its hosts and its upstream', async () => {
    const { dataDir, guard, entry } = await runningSites();
    expect((await callThrough(guard.url, 'one.example', '/disable-feeds', '{"disable_feed":1}')).status).toBe(200);
    const moved = await fakeConnector();
    await writeSites(dataDir, [{ ...entry, hosts: ['new.example'], upstream: moved.upstream }]);
    await reload(dataDir, guard);

    expect(await getStatus(guard.url, 'one.example')).toBe(404);
    expect(await getStatus(guard.url, 'new.example')).toBe(200);
    expect(await getStatus(guard.url, 'new.example', '/feed/')).toBe(404);
  });

  it('changes nothing when the file has faults, and reports them', async () => {
    const { dataDir, guard, entry } = await runningSites();
    const second = await fakeConnector();
    const two = { id: 'two', hosts: ['two.example'], upstream: second.upstream };
    await writeSites(dataDir, [entry, two], { limits: { idleSeconds: 'long' } });
    expect(await reload(dataDir, guard)).toMatchObject({
      served: ['site'],
      configuration: { mistakes: [expect.stringContaining('limits.idleSeconds')] },
    });
    expect(await getStatus(guard.url, 'one.example')).toBe(200);
    expect(await getStatus(guard.url, 'two.example')).toBe(404);
    expect(guard.log()).toContain('configuration-reload-failed');
  });

  it('applies all other entries when one has mistakes: a served site keeps its last valid entry, a new one is quarantined', async () => {
    const { dataDir, guard, entry } = await runningSites();
    const second = await fakeConnector();
    const two = { id: 'two', hosts: ['two.example'], upstream: second.upstream };
    const broken = { ...entry, upstream: 'ftp://127.0.0.1' };
    await writeSites(dataDir, [broken, two, { ...two, id: 'three', hosts: ['three.example'], colour: 'blue' }]);
    expect(await reload(dataDir, guard)).toMatchObject({
      served: ['site', 'two'],
      quarantined: ['three'],
      configuration: { mistakes: [], kept: [{ id: 'site', reason: expect.stringContaining('sites[0].upstream') }] },
    });
    expect(guard.log()).toContain('site-entry-kept');
    const statuses = () => Promise.all(['one', 'two', 'three'].map((name) => getStatus(guard.url, `${name}.example`)));
    expect(await statuses()).toEqual([200, 200, 503]);
    const { stdout } = await runInChild('status', '--data-dir', dataDir);
    expect(stdout).toMatch(/Site site: Guard serves it by its last valid configuration.*sites\[0\]\.upstream/);
    expect(stdout).toMatch(/Site three: Visitors get 503.*sites\[2\]\.colour/);
    // Another site takes the host, so the last valid entry can’t be kept any longer.
    await writeSites(dataDir, [
      { ...broken, hosts: ['other.example'] },
      { ...two, hosts: ['one.example'] },
    ]);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['two'], quarantined: ['site'] });
    expect(await statuses()).toEqual([200, 404, 404]);
    expect(await getStatus(guard.url, 'other.example')).toBe(503);
    await writeSites(dataDir, [entry, two]);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['two', 'site'], quarantined: [] });
    expect(await statuses()).toEqual([200, 200, 404]);
  });

  it('causes an immediate check of a missing connector each time, even without a change', async () => {
    const { connector, dataDir, guard, entry } = await runningSites();
    let hellos = 0;
    connector.onRequest = (command) => {
      if (command === 'hello') hellos++;
    };
    connector.mode = 'gone';
    await writeSites(dataDir, [{ ...entry, requireGuard: false }]);
    // The pauses between guard's own checks double, so five of them would take a quarter of an hour.
    for (let time = 1; time <= 5; time++) {
      const before = hellos;
      // A check that is under way is not repeated.
      await eventually(() => reload(dataDir, guard).then(() => hellos > before));
    }
    expect(guard.log()).toContain('connector-missing');
    connector.mode = 'ok';
    await eventually(() => reload(dataDir, guard).then(() => guard.log().split('"connector-ok"').length > 2));
  });

  it('quarantines only a site with a bad key, and serves it once the key is valid', async () => {
    const { dataDir, guard, entry } = await runningSites();
    const second = await fakeConnector();
    await writeSites(dataDir, [entry, { id: 'two', hosts: ['two.example'], upstream: second.upstream }]);
    await chmod(join(dataDir, 'sites', 'two.secret'), 0o644);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['site'], quarantined: ['two'] });
    expect(await getStatus(guard.url, 'two.example')).toBe(503);
    expect(await getStatus(guard.url, 'one.example')).toBe(200);

    await chmod(join(dataDir, 'sites', 'two.secret'), 0o600);
    await writeSites(dataDir, [entry, { id: 'two', hosts: ['two.example'], upstream: second.upstream }]);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['site', 'two'], quarantined: [] });
    expect(await getStatus(guard.url, 'two.example')).toBe(200);
  });

  it('reads changed lists of trusted proxies, for all sites and for one, and keeps the last valid one', async () => {
    const { connector, dataDir, guard, entry } = await runningSites();
    const list = join(dataDir, 'cdn.txt');
    let address: unknown;
    connector.onRequest = (command, request) => {
      if (command === null) address = request.headers['x-real-ip'];
    };
    const seen = async () => {
      // A new connection, since a connection keeps the trust with which it began.
      await getStatus(guard.url, 'one.example', '/', { 'x-forwarded-for': '198.51.100.7', connection: 'close' });
      return address;
    };
    const sites = [{ ...entry, trustedProxies: ['file:cdn.txt'] }];
    const inConfiguration = [expect.stringContaining('cdn.txt')];
    for (const [more, reported] of [
      [{ sites }, { mistakes: [], kept: [{ id: 'site', reason: inConfiguration[0] }] }],
      [{ trustedProxies: ['file:cdn.txt'] }, { mistakes: inConfiguration }],
    ] as const) {
      await writeFile(list, '192.0.2.0/24\n');
      await writeSites(dataDir, [entry], more);
      expect(await reload(dataDir, guard)).toMatchObject({ configuration: { mistakes: [], restartKeys: [] } });
      expect(await seen()).toBe('127.0.0.1');
      await writeFile(list, '192.0.2.0/24\n127.0.0.0/8\n');
      await writeSites(dataDir, [entry], more);
      await reload(dataDir, guard);
      expect(await seen()).toBe('198.51.100.7');
      await writeFile(list, '');
      await writeSites(dataDir, [entry], more);
      expect(await reload(dataDir, guard)).toMatchObject({ configuration: reported });
      expect(await seen()).toBe('198.51.100.7');
    }
  });

  it('reports the keys that take effect after a restart only', async () => {
    const { dataDir, guard, entry } = await runningSites();
    await writeSites(dataDir, [entry], { limits: { idleSeconds: 61 } });
    expect(await reload(dataDir, guard)).toMatchObject({ configuration: { restartKeys: ['limits'] } });
    expect(guard.log()).toContain('restart-needed');
  });

  it('applies a changed log level at once, also to a log that SIGUSR2 has switched', async () => {
    const { dataDir, guard, entry } = await runningSites();
    const change = async (logLevel: string) => {
      await writeSites(dataDir, [entry], { logLevel });
      return reload(dataDir, guard);
    };
    const refuse = async (path: string) => getStatus(guard.url, 'one.example', path);
    expect(await change('debug')).toMatchObject({ configuration: { restartKeys: [] } });
    await refuse('/%zz');
    await eventually(() => guard.log().includes('"event":"request-refused"'));
    expect(guard.log()).toMatch(/"to":"debug".*by the configuration/);
    await change('warn');
    guard.child.kill('SIGUSR2');
    await eventually(() => guard.log().split('"to":"debug"').length === 3);
    // The switch stays on, and its end brings the level that is configured then.
    await change('error');
    guard.child.kill('SIGUSR2');
    await eventually(() => guard.log().includes('"to":"error"'));
    const levels = [...guard.log().matchAll(/"event":"log-level-changed","to":"(\w+)"/g)].map(([, level]) => level);
    expect(levels).toEqual(['debug', 'warn', 'debug', 'error']);
  });

  it('loses no response for visitors of other sites, however often it is sent', async () => {
    const { dataDir, guard, entry } = await runningSites();
    const second = await fakeConnector();
    const both = [entry, { id: 'two', hosts: ['two.example'], upstream: second.upstream }];
    let going = true;
    const seen = new Set<number | undefined>();
    let responseCount = 0;
    const visitor = async () => {
      while (going) {
        seen.add(await getStatus(guard.url, 'one.example'));
        responseCount++;
      }
    };
    const visiting = visitor();
    for (let round = 0; round < 10; round++) {
      await writeSites(dataDir, round % 2 === 0 ? both : [entry]);
      await reload(dataDir, guard);
    }
    going = false;
    await visiting;
    expect([...seen]).toEqual([200]);
    expect(responseCount).toBeGreaterThan(10);
  });
});

describe('a wildcard host', () => {
  it('matches every subdomain, at any depth, that no other site names', async () => {
    const { dataDir, guard, connector, entry } = await runningSites();
    const second = await fakeConnector();
    await writeSites(dataDir, [
      { ...entry, hosts: ['*.network.example', 'network.example'] },
      { id: 'two', hosts: ['shop.network.example', '*.deep.network.example'], upstream: second.upstream },
    ]);
    await reload(dataDir, guard);
    const send = async (host: string) => {
      const hits = { one: 0, two: 0 };
      connector.onRequest = (command) => void (command === null && hits.one++);
      second.onRequest = (command) => void (command === null && hits.two++);
      const status = await getStatus(guard.url, host);
      return status === 404 ? null : hits.one > 0 ? 'one' : 'two';
    };
    expect(await send('network.example')).toBe('one');
    expect(await send('a.network.example')).toBe('one');
    expect(await send('A.B.Network.Example.:8080')).toBe('one');
    expect(await send('shop.network.example')).toBe('two');
    expect(await send('x.deep.network.example')).toBe('two');
    expect(await send('deep.network.example')).toBe('one');
    expect(await send('evilnetwork.example')).toBe(null);
    expect(await send('.network.example')).toBe(null);
    expect(await send('network.example.evil.example')).toBe(null);
  });
});

describe('sites', () => {
  it('list, show and export print the configuration without keys', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector, { id: 'site', hosts: ['one.example', 'www.one.example'] });
    const list = await runInChild('sites', 'list', '--data-dir', dataDir);
    expect(list).toMatchObject({ status: 0, stderr: '' });
    expect(list.stdout).toMatch(/^site +one\.example,www\.one\.example +http:\/\/127\.0\.0\.1:\d+ +refused +-$/m);
    const shown = await runInChild('sites', 'show', 'site', '--data-dir', dataDir);
    expect(JSON.parse(shown.stdout)).toMatchObject({ id: 'site', upstream: connector.upstream });
    const exported = await runInChild('sites', 'export', '--data-dir', dataDir);
    expect(JSON.parse(exported.stdout)).toMatchObject({
      sites: [{ id: 'site', hosts: ['one.example', 'www.one.example'] }],
    });
    for (const { stdout } of [list, shown, exported]) expect(stdout).not.toContain(SECRET.trim());
  });

  it('show reports an unknown site', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    expect(await runInChild('sites', 'show', 'other', '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: 'No site has the id other.\n',
    });
  });

  it('import refuses a file with a fault as a whole, and names the key of the fault', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    const file = join(dataDir, 'import.json');
    await writeFile(file, JSON.stringify({ sites: [{ hosts: ['x.example'], upstream: 'nonsense' }] }));
    const before = await readFile(join(dataDir, 'guard.json'), 'utf8');
    const { status, stderr } = await runInChild('sites', 'import', file, '--data-dir', dataDir);
    expect(status).toBe(1);
    expect(stderr).toContain('sites.0.upstream');
    expect(await readFile(join(dataDir, 'guard.json'), 'utf8')).toBe(before);
  });
});

async function callThrough(url: string, host: string, suffix: string, body: string) {
  const { port } = new URL(url);
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path: `/wp-json/security-optimizer/v1${suffix}`,
    method: 'POST',
    headers: { host, cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce', 'content-type': 'application/json' },
  });
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  response.resume();
  await once(response, 'end');
  return { status: response.statusCode as number };
}

/** Begins a request with a body and ends it when the test calls the returned function. */
async function slowUpload(url: string, host: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  let text = '';
  const received = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
  });
  socket.write(`POST /form HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 4\r\n\r\nab`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  return { received, finish: () => void socket.write('cd') };
}
