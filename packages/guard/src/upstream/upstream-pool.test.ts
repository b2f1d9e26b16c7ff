import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SlowDownloads } from './slow-downloads.js';
import { UploadLimiter, type UploadWaiter } from './upload-limiter.js';
import { UpstreamConnection } from './upstream-client.js';
import { ownConnections, toIdleMs } from './upstream-pool.js';

/** @param connections the pool's maximum */
function uploadLimiter(connections = 16) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const uploads = new UploadLimiter(connections);
  const granted: string[] = [];
  const refused: string[] = [];
  const enter = (from: string, received: () => number | null = () => 0): UploadWaiter => {
    const upload = {
      from,
      granted: () => void granted.push(from),
      refused: () => void refused.push(from),
      received,
    };
    uploads.acquire(upload);
    return upload;
  };
  return { uploads, granted, refused, enter };
}

describe('an idle connection to the web server', () => {
  it.each([
    ['does not announce a time', null, 4000],
    ['announces 0 seconds', 0, 0],
    ['keeps it for 1 second', 1, 500],
    ['keeps it for 2 seconds', 2, 1000],
    ['keeps it for 3 seconds', 3, 2000],
    ['keeps it for 5 seconds', 5, 4000],
    ['keeps it for a minute', 60, 4000],
  ])('is kept for a shorter time than the web server keeps it, which %s', (_what, seconds, idleMs) => {
    expect(toIdleMs(seconds)).toBe(idleMs);
  });
});

describe('the connections that each of several processes uses without asking', () => {
  it.each([
    ['half of them in all', 128, 2, 32],
    ['at least one for each address', 16, 2, 4],
    ['none if no address could use one', 15, 2, 0],
    ['none of a single connection', 1, 2, 0],
  ])('are %s', (_which, maximum, workers, own) => {
    expect(ownConnections(maximum, workers)).toBe(own);
  });
});

/** Two checks, so that a body that sends nothing is recognized as stalled. */
const TWO_CHECKS_MS = 2000;

describe('slow uploads', () => {
  it('get an eighth of the connections for one address, and half in total; the last permit is for an address without one', () => {
    const { granted, enter } = uploadLimiter();
    for (const from of ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e', 'f']) enter(from);
    expect(granted).toEqual(['a', 'a', 'b', 'b', 'c', 'c', 'd', 'e']);
  });

  it('are queued and skipped while their address is at its limit', () => {
    const { uploads, granted, enter } = uploadLimiter();
    const [first] = ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'e'].map((from) => enter(from));
    for (const from of ['b', 'f', 'a']) enter(from);
    uploads.release(first as UploadWaiter);
    expect(granted.slice(8)).toEqual(['f']);
  });

  it('leave the queue when their client closes the connection, and release their permit only once', () => {
    const { uploads, granted, enter } = uploadLimiter();
    const [one, two] = ['a', 'a'].map((from) => enter(from));
    const third = enter('a');
    uploads.release(third);
    uploads.release(one as UploadWaiter);
    uploads.release(one as UploadWaiter);
    uploads.release(two as UploadWaiter);
    expect(granted).toEqual(['a', 'a']);
    for (const from of ['a', 'a', 'a']) enter(from);
    expect(granted).toHaveLength(4);
  });

  it('are refused when the queue is full', () => {
    const { refused, enter } = uploadLimiter();
    for (let i = 0; i < 2 + 64; i++) enter('a');
    expect(refused).toEqual([]);
    enter('a');
    expect(refused).toEqual(['a']);
  });

  it('of four addresses with 145 stalled bodies each leave room for all other clients', () => {
    const { granted, refused, enter } = uploadLimiter(128);
    for (let i = 0; i < 4 * 145; i++) enter(`192.0.2.${i % 4}`);
    for (const from of ['198.51.100.1', '198.51.100.2', '203.0.113.3']) enter(from);
    expect(granted.slice(-3)).toEqual(['198.51.100.1', '198.51.100.2', '203.0.113.3']);
    expect(refused.filter((from) => !from.startsWith('192.0.2.'))).toEqual([]);
  });

  it('that have stalled in a whole network are cut for an address without one, the newest first', () => {
    const { granted, refused, enter } = uploadLimiter();
    for (let i = 0; i < 8 + 64; i++) enter(`192.0.2.${i}`);
    expect([granted.length, refused]).toEqual([8, []]);
    enter('198.51.100.1');
    // The last queued upload is refused to make room in the queue.
    expect(refused).toEqual(['192.0.2.71']);
    vi.advanceTimersByTime(30_000);
    expect(refused).toContain('192.0.2.7');
    expect(granted).toContain('198.51.100.1');
  });

  it.each([
    ['that keep arriving', (now: number) => now * 2],
    ['that WordPress does not read', () => null],
  ])('%s are never cut', (_what, received) => {
    const { granted, refused, enter } = uploadLimiter();
    for (let i = 0; i < 8; i++) enter(`192.0.2.${i}`, () => received(performance.now()));
    enter('198.51.100.1');
    vi.advanceTimersByTime(30_000);
    expect([granted.length, refused]).toEqual([8, []]);
  });

  it('that have stalled stay while only their own address is queued', () => {
    const { granted, refused, enter } = uploadLimiter();
    for (let i = 0; i < 10; i++) enter('192.0.2.1');
    vi.advanceTimersByTime(30_000);
    expect([granted.length, refused]).toEqual([2, []]);
  });

  it('are checked only while others are queued', () => {
    const { uploads, enter } = uploadLimiter();
    const held = ['a', 'a', 'a'].map((from) => enter(from));
    expect(vi.getTimerCount()).toBe(1);
    for (const upload of held) uploads.release(upload);
    vi.advanceTimersByTime(TWO_CHECKS_MS);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('slow downloads', () => {
  async function slowDownloads(connections: number) {
    const server = createServer((socket) => void socket.on('error', () => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const open: UpstreamConnection[] = [];
    onTestFinished(() => {
      for (const connection of open) connection.destroy();
      server.close();
    });
    const slow = new SlowDownloads(connections);
    const ended: string[] = [];
    const add = (from: string): boolean => {
      const connection = new UpstreamConnection(
        { host: '127.0.0.1', port },
        () => {},
        () => {},
      );
      open.push(connection);
      return slow.add(connection, from, () => void ended.push(from));
    };
    return { add, ended };
  }

  it('of one address are limited to half of the pool’s connections', async () => {
    const { add } = await slowDownloads(8);
    expect(Array.from({ length: 5 }, () => add('192.0.2.1'))).toEqual([true, true, true, true, false]);
    expect(add('192.0.2.2')).toBe(true);
  });

  it('end when there is no room for others, the newest of the largest share first', async () => {
    const { add, ended } = await slowDownloads(2);
    for (let i = 0; i < 15; i++) expect(add(`192.0.2.${i}`)).toBe(true);
    expect(add('198.51.100.1')).toBe(true);
    expect(add('203.0.113.1')).toBe(true);
    expect(ended).toEqual(['192.0.2.14']);
    // A new one of the largest share is itself refused.
    expect(add('192.0.2.99')).toBe(false);
  });
});
