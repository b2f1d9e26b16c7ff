import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { eventually } from '../../test/support/scratch.js';
import type { DownloadFile } from '../feature.js';
import { ApiError } from '../lib/api-error.js';
import { createApi } from './api-app.js';

/** The API on a socket of its own, with one download that a test provides. */
async function serve(write: () => DownloadFile) {
  const log = recordedLog();
  const user = { id: 1, login: 'owner', name: 'Owner', roles: ['administrator'], can_manage: true };
  const api = await createApi({
    nonces: { consume: async () => false },
    endpoints: { handlers: {} as never, pages: {} as never, downloads: { activityExport: async () => write() } },
    sessions: { getUser: async () => user },
    clock: Date.now,
    logger: log.logger,
  });
  const site = { id: 'site' } as never;
  const facts = {
    site,
    namespace: 'plugin',
    address: '192.0.2.1',
    scheme: 'http',
    requestId: '0'.repeat(16),
    isRegisteredUser: false,
    onRegisteredUser() {},
  } as const;
  const server = createServer((request, response) => {
    const [, query = ''] = (request.url ?? '').split('?');
    const host = request.headers.host ?? '';
    api.handle(request, response, { ...facts, host, route: '/activity-export', query });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await api.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?list=unknown`;
  const get = (signal?: AbortSignal) =>
    fetch(url, { headers: { cookie: 'a=1', 'x-wp-nonce': 'n' }, ...(signal && { signal }) });
  return { get, log };
}

const file = (content: AsyncIterable<string>): DownloadFile => ({ name: 'a.csv', mediaType: 'text/csv', content });

describe('a file that is created while it is sent', () => {
  it('is complete, and never interpreted as a page', async () => {
    const { get } = await serve(() =>
      file(
        (async function* () {
          yield '\ufeffa\r\n';
          yield 'b\r\n';
        })(),
      ),
    );
    const response = await get();
    expect(Buffer.from(await response.arrayBuffer()).toString()).toBe('\ufeffa\r\nb\r\n');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="a.csv"');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('is aborted when it can’t be completed, and the log has the reason', async () => {
    const { get, log } = await serve(() =>
      file(
        (async function* () {
          yield 'half a line';
          throw new ApiError('storage_unavailable', { cause: new Error('disk gone') });
        })(),
      ),
    );
    const response = await get();
    await expect(response.text()).rejects.toThrow();
    await eventually(() => log.events().includes('api-failed'));
    expect(log.text()).toContain('disk gone');
  });

  it('is replaced by an error response when it can’t be begun', async () => {
    const { get } = await serve(() => {
      throw new ApiError('storage_unavailable');
    });
    const response = await get();
    expect([response.status, await response.json()]).toEqual([
      503,
      expect.objectContaining({ data: null, code: 'storage_unavailable', status: 503 }),
    ]);
  });

  it('waits for a slow client, and is given up when the client disconnects', async () => {
    let written = 0;
    let ended = false;
    const { get, log } = await serve(() =>
      file(
        (async function* () {
          try {
            for (; written < 10_000; written++) yield 'x'.repeat(64 * 1024);
          } finally {
            ended = true;
          }
        })(),
      ),
    );
    const abort = new AbortController();
    const response = await get(abort.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    // Counted in polls instead of time: while the machine is stalled, so is the file.
    let [before, still] = [-1, 0];
    await eventually(() => {
      still = written === before ? still + 1 : 0;
      before = written;
      return still === 10;
    });
    expect(written).toBeLessThan(1000);
    abort.abort();
    await eventually(() => ended);
    expect(written).toBeLessThan(1000);
    expect(log.events()).not.toContain('api-failed');
  });
});
