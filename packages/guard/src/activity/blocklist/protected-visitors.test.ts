import { describe, expect, it } from 'vitest';
import { activitySite, blocked, findVisitorId, names } from '../../../test/support/activity-site.js';

const OWNER = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };

describe('a protected visitor', () => {
  const reasons: readonly (readonly [string, string])[] = [
    ['203.0.113.5', 'This is your own address. Blocking it would shut you out.'],
    ['203.0.113.0/24', 'Your own address is in this range. Blocking it would shut you out.'],
    ['127.0.0.1', 'This is an address of your server. Your site needs it to work.'],
    ['0.0.0.0/0', 'Your own address is in this range. Blocking it would shut you out.'],
    ['::1', 'This is an address of your server. Your site needs it to work.'],
    ['198.51.100.200', 'Your hosting provider watches over your site from this address.'],
    ['198.51.100.192/26', 'Your hosting provider watches over your site from an address in this range.'],
    ['192.0.2.99', 'All visitors come through this address. Blocking it would close your site.'],
    ['192.0.2.164', 'All visitors come through this address. Blocking it would close your site.'],
  ];
  it('is refused with the reason, and nothing is stored', async () => {
    const site = await activitySite(
      { trustedProxies: ['127.0.0.1', '192.0.2.99'], activity: { monitors: ['198.51.100.200'] } },
      { trustedProxies: ['192.0.2.160/28'] },
    );
    const headers = { ...OWNER, 'x-forwarded-for': '203.0.113.5' };
    for (const [address, reason] of reasons) {
      const { http, body } = await site.send('/block-addresses', { address }, { headers });
      expect([address, http, body.code, body.message]).toEqual([address, 400, 'must_not_be_blocked', reason]);
    }
    expect(names(await blocked(site))).toEqual([]);
    const own = await findVisitorId(site, '203.0.113.5');
    const { http } = await site.send(`/block-ip/${own}`, { block: 1 }, { headers });
    expect(http).toBe(400);
    const { body } = await site.send(`/get-visitor-status/${own}`, {}, { headers });
    expect(body.data).toMatchObject({ block: 0, do_not_block: 1, reason: reasons[0]?.[1] });
    // Another administrator with another address may block it.
    expect((await site.send(`/block-ip/${own}`, { block: 1 })).http).toBe(200);
  });

  it.each([0, 4711, 999_999_999_999, 1_000_000_000_001])('is not found by the unknown id %i', async (id) => {
    const site = await activitySite();
    for (const suffix of ['/get-visitor-status/', '/block-ip/', '/block-user/']) {
      const { http, body } = await site.send(suffix + id, { block: 1 });
      expect([suffix, http, body.code]).toEqual([suffix, 404, 'not_found']);
    }
  });
});
