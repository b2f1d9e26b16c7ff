import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closing, countResponses, RawClient, toStatus } from './raw-client.js';
import { webServer } from './running-gateway.js';
import { spawnServe } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { type PassedGuard, passedSocket } from './support/passed-socket.js';
import { dataFolderFor } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';

const KEEP_ALIVE = 'GET / HTTP/1.1\r\nHost: example.com\r\n\r\n';

async function started(supervisor: Awaited<ReturnType<typeof passedSocket>>): Promise<PassedGuard> {
  const guard = await supervisor.start();
  await eventually(() => guard.events().includes('guard-started'));
  return guard;
}

async function ended(guard: PassedGuard): Promise<void> {
  await eventually(() => guard.hasEnded());
}

describe('a socket that a supervisor passes', () => {
  it('is used in place of the configured address, which is logged', async () => {
    const dataDir = await dataFolderFor(await fakeConnector(), {}, { listen: '127.0.0.1:1' });
    const supervisor = await passedSocket({ dataDir });
    const guard = await started(supervisor);
    expect(guard.events()).toContain('socket-activated');
    expect(supervisor.log()).toContain(`"url":"http://127.0.0.1:${supervisor.port}"`);
    expect(toStatus(await new RawClient(supervisor.port).send(closing('GET / HTTP/1.1')).end())).toBe(200);
  });

  it('may be a Unix socket, whose peers are trusted if `unix` is', async () => {
    const path = join(await scratchFolder(), 'passed.sock');
    const upstream: (string | undefined)[] = [];
    const port = await webServer((seen, response) => {
      upstream.push(seen.headers['x-forwarded-for'] as string | undefined);
      response.end('hello');
    });
    const config = { listen: `unix:${path}`, trustedProxies: ['unix'] };
    const dataDir = await dataFolderFor({ upstream: `http://127.0.0.1:${port}` }, {}, config);
    const supervisor = await passedSocket({ dataDir, path });
    const guard = await started(supervisor);
    const forwarded = closing('GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.7');
    expect(toStatus(await new RawClient(path).send(forwarded).end())).toBe(200);
    expect(upstream).toContain('192.0.2.7');
    process.kill(guard.pid, 'SIGTERM');
    await ended(guard);
    // The supervisor's socket file remains.
    await started(supervisor);
    expect(toStatus(await new RawClient(path).send(forwarded).end())).toBe(200);
  });

  it('must be the only one, and is not assumed without its variables', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    const two = await passedSocket({ dataDir, count: 2 });
    await ended(await two.start());
    await eventually(() => two.log() !== '');
    expect(two.log()).toBe('Guard listens on one socket, and 2 were passed to it (LISTEN_FDS).\n');
    // Variables for another process.
    const own = spawnServe(dataDir, { LISTEN_PID: String(process.pid), LISTEN_FDS: '1' });
    await eventually(() => own.log().includes('guard-started'));
    expect(own.log()).not.toContain('socket-activated');
  });
});

describe('a restart with a socket that a supervisor passes', () => {
  it.each([
    ['one process', 1],
    ['two workers', 2],
  ])(
    'refuses and loses no request with %s, whether the next guard already waits or starts after the end',
    async (_which, processes) => {
      const upstream = `http://127.0.0.1:${await webServer((_request, response) => void response.end('hello'))}`;
      const dataDir = await dataFolderFor({ upstream }, {}, { processes, limits: { drainSeconds: 60 } });
      const supervisor = await passedSocket({ dataDir });
      const first = await started(supervisor);

      const failures: unknown[] = [];
      let [responses, announced, over] = [0, 0, false];
      const send = (agent: Agent | false) =>
        new Promise<void>((resolve) => {
          const outgoing = request({ host: '127.0.0.1', port: supervisor.port, agent, path: '/' }, (response) => {
            if (response.statusCode !== 200) failures.push(response.statusCode);
            if (agent !== false && response.headers.connection === 'close') announced++;
            response.resume().once('close', () => {
              responses++;
              if (!response.complete) failures.push('not whole');
              resolve();
            });
          });
          outgoing.once('error', (error) => {
            failures.push(error);
            resolve();
          });
          outgoing.end();
        });
      const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const clients = [false as const, false as const, false as const, ...agents].map(async (agent) => {
        while (!over) await send(agent);
      });
      const more = async (count: number) => {
        const from = responses;
        await eventually(() => responses >= from + count);
      };

      await more(100);
      const second = await supervisor.start();
      await eventually(() => second.events().includes('data-folder-awaited'));
      process.kill(first.pid, 'SIGTERM');
      await ended(first);
      await eventually(() => second.events().includes('guard-started'));
      await more(100);
      process.kill(second.pid, 'SIGTERM');
      await ended(second);
      const third = await started(supervisor);
      await more(100);
      process.kill(third.pid, 'SIGTERM');
      await started(supervisor);
      await more(100);

      over = true;
      await Promise.all(clients);
      for (const agent of agents) agent.destroy();
      expect(failures).toEqual([]);
      // Each client with a persistent connection was notified of each end, some on several connections.
      expect(announced).toBeGreaterThanOrEqual(3 * agents.length);
    },
  );

  it.each(['TCP', 'Unix'])('keeps all %s connections that arrive while no guard runs', async (kind) => {
    const config = { limits: { connectionsPerAddress: 10_000 }, trustedProxies: ['unix'] };
    const upstream = `http://127.0.0.1:${await webServer((_request, response) => void response.end('hello'))}`;
    const dataDir = await dataFolderFor({ upstream }, {}, config);
    const path = join(await scratchFolder(), 'passed.sock');
    const supervisor = await passedSocket(kind === 'TCP' ? { dataDir } : { dataDir, path });
    const first = await started(supervisor);
    process.kill(first.pid, 'SIGTERM');
    await ended(first);
    // More than the 511 that Node asks the kernel for.
    const clients = Array.from({ length: 700 }, () => new RawClient(kind === 'TCP' ? supervisor.port : path));
    const isWaiting = ({ socket, closed }: RawClient) => !closed && !socket.connecting;
    await eventually(() => clients.every(({ socket, closed }) => closed || !socket.connecting));
    expect(clients.filter((client) => !isWaiting(client)).length).toBe(0);
    for (const client of clients) client.send(closing('GET / HTTP/1.1'));
    await started(supervisor);
    const responses = await Promise.all(clients.map((client) => client.end()));
    expect(responses.filter((response) => toStatus(response) !== 200)).toEqual([]);
  });

  it('loses no request when the next guard does not start', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    const supervisor = await passedSocket({ dataDir });
    process.kill((await started(supervisor)).pid, 'SIGTERM');
    await eventually(() => supervisor.log().includes('guard-stopped'));
    const client = new RawClient(supervisor.port).send(closing('GET / HTTP/1.1'));
    const file = join(dataDir, 'guard.json');
    const valid = await readFile(file, 'utf8');
    await writeFile(file, '{');
    const broken = await supervisor.start();
    await ended(broken);
    expect(broken.events()).not.toContain('guard-started');
    expect(client.closed).toBe(false);
    await writeFile(file, valid);
    await started(supervisor);
    expect(toStatus(await client.end())).toBe(200);
  });

  const openConnection = async (drainSeconds: number) => {
    const dataDir = await dataFolderFor(await fakeConnector(), {}, { limits: { drainSeconds } });
    const supervisor = await passedSocket({ dataDir });
    const guard = await started(supervisor);
    const client = new RawClient(supervisor.port).send(KEEP_ALIVE);
    await client.until((text) => countResponses(text) === 1);
    const fresh = new RawClient(supervisor.port);
    // Guard accepts connections in order.
    await new RawClient(supervisor.port).send(closing('GET / HTTP/1.1')).end();
    process.kill(guard.pid, 'SIGTERM');
    await eventually(() => guard.events().includes('guard-stopping'));
    return { guard, client, fresh };
  };

  it('responds to one more request of an open connection', async () => {
    const { guard, client, fresh } = await openConnection(60);
    const received = await client.send(KEEP_ALIVE).end();
    expect(countResponses(received)).toBe(2);
    expect(received.match(/Connection: close/gi)).toHaveLength(1);
    expect(await fresh.send(KEEP_ALIVE).end()).toMatch(/^HTTP\/1\.1 200[\s\S]*Connection: close/i);
    await ended(guard);
  });

  it('ends silent connections', async () => {
    const { guard, client, fresh } = await openConnection(1);
    expect([countResponses(await client.end()), countResponses(await fresh.end())]).toEqual([1, 0]);
    await ended(guard);
  });

  it('serves new clients while earlier requests are under way, and announces the end to them', async () => {
    const held: (() => void)[] = [];
    const port = await webServer((request, response) => {
      if (request.url === '/held') held.push(() => response.end('held'));
      else response.end('hello');
    });
    const upstream = `http://127.0.0.1:${port}`;
    const dataDir = await dataFolderFor({ upstream }, {}, { limits: { drainSeconds: 1, shutdownSeconds: 600 } });
    const supervisor = await passedSocket({ dataDir });
    const guard = await started(supervisor);
    const slow = new RawClient(supervisor.port).send(KEEP_ALIVE.replace('/ ', '/held '));
    const silent = new RawClient(supervisor.port).send(KEEP_ALIVE);
    await eventually(() => held.length === 1 && countResponses(silent.received) === 1);
    process.kill(guard.pid, 'SIGTERM');
    await eventually(() => guard.events().includes('guard-stopping'));
    // For longer than silent connections stay open.
    for (let round = 0; !silent.closed || round < 3; round++) {
      const response = await new RawClient(supervisor.port).send(KEEP_ALIVE).end();
      expect(response).toMatch(/^HTTP\/1\.1 200[\s\S]*Connection: close/i);
    }
    expect(guard.hasEnded()).toBe(false);
    held[0]?.();
    expect(toStatus(await slow.end())).toBe(200);
    await ended(guard);
  });

  it('leaves new clients to the next guard when earlier requests take longer than half of the time', async () => {
    let held = 0;
    const port = await webServer((request, response) => {
      if (request.url === '/held') held++;
      else response.end('hello');
    });
    const limits = { drainSeconds: 1, shutdownSeconds: 4 };
    const dataDir = await dataFolderFor({ upstream: `http://127.0.0.1:${port}` }, {}, { limits });
    const supervisor = await passedSocket({ dataDir });
    const guard = await started(supervisor);
    const slow = new RawClient(supervisor.port).send(KEEP_ALIVE.replace('/ ', '/held '));
    await eventually(() => held === 1);
    process.kill(guard.pid, 'SIGTERM');
    const next = await supervisor.start();
    let over = false;
    const statuses: number[] = [];
    const visitor = async () => {
      while (!over) {
        statuses.push(toStatus(await new RawClient(supervisor.port).send(closing('GET / HTTP/1.1')).end()));
      }
    };
    const visits = visitor();
    await ended(guard);
    await eventually(() => next.events().includes('guard-started'));
    over = true;
    await visits;
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(guard.events()).toContain('shutdown-cut-requests');
    expect(slow.received).toBe('');
  });

  it('responds to all pipelined requests of a client, the last one with Connection: close', async () => {
    let release: (() => void) | null = null;
    const port = await webServer((request, response) => {
      if (request.url === '/held') release = () => response.end('held');
      else response.end('hello');
    });
    const upstream = `http://127.0.0.1:${port}`;
    const dataDir = await dataFolderFor({ upstream }, {}, { limits: { drainSeconds: 60 } });
    const supervisor = await passedSocket({ dataDir });
    const guard = await started(supervisor);
    const client = new RawClient(supervisor.port).send(KEEP_ALIVE.replace('/ ', '/held ') + KEEP_ALIVE + KEEP_ALIVE);
    await eventually(() => release !== null);
    process.kill(guard.pid, 'SIGTERM');
    await eventually(() => guard.events().includes('guard-stopping'));
    (release as unknown as () => void)();
    const received = await client.end();
    expect(received.match(/HTTP\/1\.1 200|Connection: close/gi)).toEqual([
      ...['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200'],
      'Connection: close',
    ]);
    await ended(guard);
  });
});

describe('serve --wait', () => {
  const awaiting = async (dataDir: string, seconds: string) => {
    const waiting = spawnServe(dataDir, {}, ['--wait', seconds]);
    await eventually(() => waiting.log().includes('data-folder-awaited'));
    return waiting;
  };

  it('takes over from a guard that ends', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    const first = spawnServe(dataDir);
    await eventually(() => first.log().includes('guard-started'));
    const second = await awaiting(dataDir, '300');
    expect(second.log()).toContain(`"pid":${first.child.pid}`);
    first.child.kill('SIGTERM');
    await eventually(() => second.log().includes('guard-started'));
  });

  it('exits after the wait, at a signal, and with an invalid number', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    const first = spawnServe(dataDir);
    await eventually(() => first.log().includes('guard-started'));
    const late = await awaiting(dataDir, '1');
    const stopped = await awaiting(dataDir, '300');
    stopped.child.kill('SIGTERM');
    await eventually(() => late.child.exitCode !== null && stopped.child.exitCode !== null);
    expect([late.child.exitCode, stopped.child.exitCode]).toEqual([1, 0]);
    expect(late.log()).toContain(`Another guard runs on this data folder (process ${first.child.pid}).`);
    const wrong = spawnServe(dataDir, {}, ['--wait', 'long']);
    expect(await once(wrong.child, 'close')).toEqual([2, null]);
    expect(wrong.log()).toContain('--wait: use a whole number of seconds.');
  });
});
