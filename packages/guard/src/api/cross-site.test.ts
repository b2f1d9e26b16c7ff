import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type FakeConnector, fakeConnector, OTHER_SECRET } from '../../test/support/fake-connector.js';
import { dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';

const OWNER = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };
const THEIRS = { cookie: 'session=their-owner', 'x-wp-nonce': 'their-nonce' };

describe('two sites behind one guard', () => {
  let url: string;
  let ours: FakeConnector;
  let theirs: FakeConnector;

  beforeEach(async () => {
    ours = await fakeConnector();
    theirs = await fakeConnector();
    theirs.secret = OTHER_SECRET;
    theirs.users.clear();
    theirs.users.set(THEIRS.cookie, { nonce: 'their-nonce', can_manage: true, id: 1, login: 'owner' });
    const sites = [
      { id: 'site', hosts: ['ours.example'], upstream: ours.upstream },
      { id: 'theirs', hosts: ['theirs.example'], upstream: theirs.upstream },
    ];
    const dataDir = await dataFolderFor(ours, {}, { sites, trustedProxies: ['127.0.0.1'] });
    await writeFile(join(dataDir, 'sites', 'theirs.secret'), OTHER_SECRET, { mode: 0o600 });
    url = (await runningGuard(dataDir)).url;
    await eventually(() => ours.policy !== null && theirs.policy !== null);
  });

  /** `fetch` does not allow a custom Host header. */
  const send = (host: string, path: string, headers: Record<string, string>, body?: object) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const sent = request(url + path, { method, headers: { host, ...headers } }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  const visit = async (host: string, address: string) =>
    (await send(host, '/seen', { 'x-forwarded-for': address })).status;
  const call = async (host: string, suffix: string, body: object = {}, as: Record<string, string> = OWNER) => {
    const { status, text } = await send(host, `/wp-json/security-optimizer/v1${suffix}`, as, body);
    return { status, body: JSON.parse(text) };
  };
  const callFirst = (suffix: string, body?: object) => call('ours.example', suffix, body);
  const callSecond = (suffix: string, body?: object) => call('theirs.example', suffix, body, THEIRS);
  const rows = async (list: typeof callFirst) => (await list('/activity-unknown')).body.data.entries;

  it('each accept their own owner only, whatever the host', async () => {
    for (const host of ['ours.example', 'OURS.example.', 'ours.example:80']) {
      expect((await call(host, '/rate', {}, OWNER)).status).toBe(200);
      expect((await call(host, '/rate', {}, THEIRS)).body.code).toBe('rest_cookie_invalid_nonce');
    }
    for (const as of [OWNER, { ...THEIRS, cookie: OWNER.cookie }, { ...THEIRS, 'x-wp-nonce': 'owner-nonce' }]) {
      expect((await call('theirs.example', '/rate', {}, as)).body.code).toBe('rest_cookie_invalid_nonce');
    }
    const elsewhere = await send('elsewhere.example', '/wp-json/security-optimizer/v1/rate', OWNER, {});
    expect(elsewhere.status).toBe(404);
  });

  it('have separate visitors, blocks, recipients and settings', async () => {
    await visit('ours.example', '192.0.2.7');
    await visit('theirs.example', '192.0.2.8');
    await eventually(async () => (await rows(callFirst)).length === 1 && (await rows(callSecond)).length === 1);
    const [{ visitor_id: id, id: row }] = await rows(callFirst);

    for (const suffix of [`/get-visitor-status/${id}`, `/block-ip/${id}`, `/block-user/${id}`]) {
      const response = await callSecond(suffix, { block: 1 });
      expect([suffix, response.status]).toEqual([suffix, 404]);
    }
    const cursor = `${row}.${row + 1}.1`;
    const read = (await callSecond('/activity-unknown', { cursor })).body.data.entries as { ip: string }[];
    expect(read.filter(({ ip }) => ip === '192.0.2.7')).toEqual([]);

    expect((await callFirst(`/block-ip/${id}`, { block: 1 })).status).toBe(200);
    expect([await visit('ours.example', '192.0.2.7'), await visit('theirs.example', '192.0.2.7')]).toEqual([403, 200]);
    expect((await callSecond('/blocked-users')).body.data.entries).toEqual([]);
    expect((await callSecond(`/block-ip/${id}`, { block: 0 })).status).toBe(404);
    expect(await visit('ours.example', '192.0.2.7')).toBe(403);

    await callFirst('/notification-emails', { entries: ['owner@example.com'] });
    await callFirst('/disable-feeds', { disable_feed: 1 });
    expect((await callSecond('/weekly-report')).body.data.entries).toEqual([]);
    expect((await callSecond('/fetch-options', { page: 'security' })).body.data.disable_feed).toBe(0);
  });
});
