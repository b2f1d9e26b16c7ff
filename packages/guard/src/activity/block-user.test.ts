import { describe, expect, it } from 'vitest';
import { activitySite } from '../testing/activity-site.js';
import { blocked, idOf, idOfUser, names, status } from '../testing/blocking.js';
import { eventually } from '../testing/scratch.js';

const OWNER = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };
const OTHER = { cookie: 'session=other', 'x-wp-nonce': 'other-nonce' };

describe('a blocked user', () => {
  const EDITOR = { id: 2, login: 'editor' };

  it('is kept out by WordPress, loses every session, and gets everything back', async () => {
    const site = await activitySite();
    const { connector } = site;
    const id = await idOfUser(site, EDITOR);
    expect(await status(site, id)).toMatchObject({ block: 0, type: 'user', name: 'editor', roles: ['editor'] });
    await site.call(`/block-user/${id}`, { block: 1 });
    expect(connector.policy?.policy.blocked_users).toBe('2');
    expect(connector.endedSessions.map(({ body }) => body)).toEqual([{ users: [2] }]);
    expect(await status(site, id)).toMatchObject({ block: 1, type: 'user' });
    expect((await blocked(site)).entries).toMatchObject([{ user: 'editor', type: 'user', visitor_id: id }]);
    const other = await site.call('/hide-wp-version', { wp_remove_version: 0 });
    expect([other, connector.policy?.policy.blocked_users]).toEqual([{ wp_remove_version: 0 }, '2']);
    await site.call(`/block-user/${id}`, { block: 0 });
    expect(connector.policy?.policy.blocked_users).toBe('');
    expect((await status(site, id)).block).toBe(0);
  });

  it('may be an administrator as long as another one is left, and can be unblocked again', async () => {
    const site = await activitySite();
    site.connector.members.set(3, { login: 'other', administrator: true });
    const id = await idOfUser(site, { id: 3, login: 'other' });
    await site.call(`/block-user/${id}`, { block: 1 });
    expect(await status(site, id)).toMatchObject({ block: 1, do_not_block: 0, reason: '' });
    await site.call(`/block-user/${id}`, { block: 1 });
    await site.call(`/block-user/${id}`, { block: 0 });
    expect((await status(site, id)).block).toBe(0);
  });

  it('stays blocked over a restart', async () => {
    const site = await activitySite();
    await site.call(`/block-user/${await idOfUser(site, EDITOR)}`, { block: 1 });
    await site.restart(() => {
      site.connector.policy = null;
    });
    await eventually(() => site.connector.policy?.policy.blocked_users === '2');
  });

  it('is never the one who asks, nor an address’s id, nor a user who is gone', async () => {
    const site = await activitySite();
    const me = await idOfUser(site, { id: 1, login: 'owner' });
    const own = await site.send(`/block-user/${me}`, { block: 1 });
    expect([own.http, own.body.message]).toEqual([400, 'This is you. Blocking yourself would shut you out.']);
    const address = await idOf(site, '192.0.2.7');
    expect((await site.send(`/block-user/${address}`, { block: 1 })).http).toBe(404);
    expect((await site.send(`/block-ip/${me}`, { block: 1 })).http).toBe(404);
    const gone = await idOfUser(site, { id: 77, login: 'gone' });
    expect((await site.send(`/block-user/${gone}`, { block: 1 })).http).toBe(404);
    expect(site.connector.policy?.policy.blocked_users).toBe('');
  });

  it.each(['end-sessions', 'users-info', 'policy'])(
    'is not blocked by half when WordPress fails at %s',
    async (command) => {
      const site = await activitySite();
      const id = await idOfUser(site, EDITOR);
      site.connector.failing.add(command);
      expect((await site.send(`/block-user/${id}`, { block: 1 })).http).toBe(503);
      site.connector.failing.delete(command);
      expect((await status(site, id)).block).toBe(0);
      expect(names(await blocked(site))).toEqual([]);
      // What WordPress took although its answer was lost is put right by its next signal.
      await eventually(async () => {
        await site.visit('/');
        return site.connector.policy?.policy.blocked_users === '';
      });
    },
  );

  it('can’t be the last administrator, even when two block each other at the same time', async () => {
    const site = await activitySite();
    const { connector } = site;
    connector.members.set(3, { login: 'other', administrator: true });
    connector.users.set('session=other', { nonce: 'other-nonce', can_manage: true, id: 3, login: 'other' });
    const me = await idOfUser(site, { id: 1, login: 'owner' });
    const other = await idOfUser(site, { id: 3, login: 'other' });
    const answers = await Promise.all([
      site.send(`/block-user/${other}`, { block: 1 }, { headers: OWNER }),
      site.send(`/block-user/${me}`, { block: 1 }, { headers: OTHER }),
    ]);
    expect(answers.map(({ http }) => http === 200).sort()).toEqual([false, true]);
    expect(connector.policy?.policy.blocked_users).toMatch(/^[13]$/);
    expect(names(await blocked(site))).toHaveLength(1);
  });
});
