import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { SessionResponse } from './connector-responses.js';
import { createSessions } from './session.js';

const sender = { host: 'example.com', scheme: 'https', address: '192.0.2.1', requestId: '0'.repeat(16) } as const;
const [one, two] = [siteConfig({ id: 'one' }), siteConfig({ id: 'two' })];
const owner = { cookie: 'session=owner', nonce: 'owner-nonce', sender, isRegisteredUser: true, isWanted: () => true };
const user = { id: 1, login: 'owner', name: 'Owner', roles: ['administrator'], can_manage: true };

/**
 * WordPress recognises the owner of site one by the combination of this cookie and this nonce, while `known` is true.
 */
function underTest() {
  const fake = { now: 1_000_000, known: true, queries: 0 };
  const client = {
    async session(site: { id: string }, { cookie, nonce }: { cookie: string; nonce: string | null }) {
      fake.queries++;
      const right = site.id === 'one' && cookie === owner.cookie && nonce === owner.nonce;
      return { user: right && fake.known ? user : null } as SessionResponse;
    },
  };
  const sessions = createSessions({ client, clock: () => fake.now });
  return { fake: fake, sessions };
}

describe('the user of a session', () => {
  it.each([
    ['another cookie', one, { ...owner, cookie: 'session=nobody' }],
    ['another nonce', one, { ...owner, nonce: 'older' }],
    ['another site', two, owner],
    [
      'cookie and nonce that are equal when joined',
      one,
      { ...owner, cookie: 'session=owner","owner-nonce', nonce: '' },
    ],
  ])('is not returned from the cache for %s', async (_what, site, credentials) => {
    const { fake, sessions } = underTest();
    expect(await sessions.getUser(one, owner, false)).toEqual(user);
    expect(await sessions.getUser(site, credentials, false)).toBeNull();
    expect(fake.queries).toBe(2);
    expect(await Promise.all([sessions.getUser(one, owner, true), sessions.getUser(site, credentials, false)])).toEqual(
      [user, null],
    );
  });

  it('is cached for five seconds, even when WordPress no longer accepts the session, and no longer', async () => {
    const { fake, sessions } = underTest();
    await sessions.getUser(one, owner, false);
    fake.known = false;
    fake.now += 4999;
    expect(await sessions.getUser(one, owner, false)).toEqual(user);
    fake.now += 1;
    expect(await sessions.getUser(one, owner, false)).toBeNull();
    expect(fake.queries).toBe(2);
  });

  it('is not cached for longer when the clock is set back', async () => {
    const { fake, sessions } = underTest();
    await sessions.getUser(one, owner, false);
    fake.known = false;
    fake.now -= 3_600_000;
    expect(await sessions.getUser(one, owner, false)).toBeNull();
  });

  it('that WordPress refuses is never cached, and replaces a cached user', async () => {
    const { fake, sessions } = underTest();
    await sessions.getUser(one, owner, false);
    fake.known = false;
    expect(await sessions.getUser(one, owner, true)).toBeNull();
    expect(await sessions.getUser(one, owner, false)).toBeNull();
    fake.known = true;
    expect(await sessions.getUser(one, owner, false)).toEqual(user);
  });

  it('is queried again for requests that change something, even while the same query is under way', async () => {
    const { fake, sessions } = underTest();
    const early = sessions.getUser(one, owner, false);
    fake.known = false;
    // The query under way started earlier: its response may predate a logout.
    expect(await sessions.getUser(one, owner, true)).toBeNull();
    expect(await early).toEqual(user);
    expect(fake.queries).toBe(2);
  });

  it('is queried once for concurrent requests, and cleared with its site', async () => {
    const { fake, sessions } = underTest();
    await Promise.all([1, 2, 3].map(() => sessions.getUser(one, owner, false)));
    expect(fake.queries).toBe(1);
    sessions.clear('two');
    await sessions.getUser(one, owner, false);
    expect(fake.queries).toBe(1);
    sessions.clear('one');
    await sessions.getUser(one, owner, false);
    expect(fake.queries).toBe(2);
  });
});
