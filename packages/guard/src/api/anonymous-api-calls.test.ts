import { describe, expect, it } from 'vitest';
import { activitySite } from '../../test/support/activity-site.js';

describe('the Activity Log', () => {
  it('contains anonymous clients that call the API of this product, but no member who does', async () => {
    const { send, unknown, logged, guard } = await activitySite();
    const from = { 'x-forwarded-for': '198.51.100.7' };
    const anonymous = { ...from, cookie: null, 'x-wp-nonce': null };
    await send('/disable-feeds', { disable_feed: 1 }, { headers: anonymous });
    await send('/nothing', {}, { headers: { ...from, cookie: 'session=made-up' } });
    await fetch(`${guard.url}/?rest_route=/provider-settings/v1/update-settings`, { method: 'PUT', headers: from });
    await send('/disable-feeds', {}, { headers: { cookie: 'session=editor', 'x-wp-nonce': 'editor-nonce' } });
    await send('/disable-feeds', { disable_feed: 7 });
    await logged(3);
    const { entries } = await unknown();
    expect(entries.map(({ ip, page_visited, response }) => [ip, page_visited, response])).toEqual([
      ['198.51.100.7', '/?rest_route=/provider-settings/v1/update-settings', '403'],
      ['198.51.100.7', '/wp-json/security-optimizer/v1/nothing', '404'],
      ['198.51.100.7', '/wp-json/security-optimizer/v1/disable-feeds', '403'],
    ]);
  });

  it('contains no member whose nonce has expired', async () => {
    const { connector, send, visit, unknown, logged } = await activitySite();
    const session = { cookie: 'wordpress_logged_in_a=owner', 'x-wp-nonce': 'owner-nonce' };
    connector.users.set(session.cookie, { nonce: 'owner-nonce', can_manage: true, id: 1, login: 'owner' });
    expect((await send('/rate', {}, { headers: session })).http).toBe(200);
    expect((await send('/rate', {}, { headers: { ...session, 'x-wp-nonce': 'old' } })).http).toBe(403);
    await visit('/last');
    await logged(1);
    expect((await unknown()).entries.map(({ page_visited }) => page_visited)).toEqual(['/last']);
  });
});
