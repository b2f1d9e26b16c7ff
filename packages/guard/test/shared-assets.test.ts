import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closing, exchange } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';
import { scratchFolder } from './support/scratch.js';

const ASSETS = '/wp-content/mu-plugins/security-optimizer/assets';

/** Guard in front of a site whose connector is shared, in two releases. */
async function site(isShared = true) {
  const shared = await scratchFolder();
  for (const [release, name] of [
    ['000000000001', 'dashboard-Old1.js'],
    ['000000000002', 'dashboard-New2.js'],
  ] as const) {
    const assets = join(shared, release, 'assets');
    await mkdir(join(assets, 'icons'), { recursive: true });
    await writeFile(join(assets, name), `script ${name}`);
    await writeFile(join(assets, 'icons', 'bell.svg'), '<svg/>');
    await writeFile(join(assets, 'entrypoints.json'), '{}');
    await mkdir(join(shared, release, 'includes'));
    await writeFile(join(shared, release, 'includes', 'class-hooks.js'), 'no asset');
  }
  const { port, seen } = await recordingServer();
  const upstream = `http://127.0.0.1:${port}`;
  const own = { id: 'site', hosts: ['*'], upstream, ...(isShared && { sharedConnector: shared }) };
  const gateway = await startGateway(port, { sites: [own] });
  const send = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, { method, headers });
    return { response, text: await response.text() };
  };
  return { send: send, seen, gateway };
}

describe('the dashboard’s files of a shared connector', () => {
  it('are served by guard, for every release, without a request to WordPress', async () => {
    const { send, seen, gateway } = await site();
    const { response, text } = await send(`${ASSETS}/dashboard-New2.js?ver=1`);
    expect([response.status, text]).toEqual([200, 'script dashboard-New2.js']);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect((await send(`${ASSETS}/dashboard-Old1.js`)).text).toBe('script dashboard-Old1.js');
    expect((await send(`/blog${ASSETS}/icons/bell.svg`)).response.headers.get('content-type')).toBe('image/svg+xml');
    expect([seen, gateway.visits]).toEqual([[], []]);
  });

  it('are served compressed, without a body for HEAD, and with 304 for a known version', async () => {
    const { send } = await site();
    const path = `${ASSETS}/dashboard-New2.js`;
    const first = (await send(path, { 'accept-encoding': 'gzip' })).response;
    expect(first.headers.get('content-encoding')).toBe('gzip');
    expect((await send(path, { 'accept-encoding': 'identity' })).response.headers.get('content-encoding')).toBeNull();
    expect((await send(path, {}, 'HEAD')).text).toBe('');
    const etag = first.headers.get('etag') as string;
    expect((await send(path, { 'if-none-match': etag })).response.status).toBe(304);
  });

  it.each([
    ['a file that is in no release', `${ASSETS}/dashboard-None.js`],
    ['the list of entry points', `${ASSETS}/entrypoints.json`],
    ['a file outside the assets', `${ASSETS}/../includes/class-hooks.js`],
    ['a name in another letter case', `${ASSETS}/DASHBOARD-new2.js`],
    ['an encoded parent folder', `${ASSETS}/%2e%2e/includes/class-hooks.js`],
    ['an encoded name', `${ASSETS}/dashboard%2DNew2.js`],
  ])('do not include %s', async (_which, path) => {
    const { seen, gateway } = await site();
    const response = await exchange(gateway.port, closing(`GET ${path} HTTP/1.1`));
    expect(response).not.toContain('script dashboard');
    expect(response).not.toContain('no asset');
    expect(seen.length + (response.startsWith('HTTP/1.1 4') ? 1 : 0)).toBe(1);
  });

  it('are served by the web server for a site with its own copy', async () => {
    const { send, seen } = await site(false);
    await send(`${ASSETS}/dashboard-New2.js`);
    expect(seen).toHaveLength(1);
  });
});
