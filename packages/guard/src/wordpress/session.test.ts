import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { SessionResponse } from './connector-responses.js';
import { createSessions } from './session.js';

const sender = { host: 'example.com', scheme: 'https', address: '192.0.2.1', requestId: '0'.repeat(16) } as const;
const [one, two] = [siteConfig({ id: 'one' }), siteConfig({ id: 'two' })];
const owner = { cookie: 'session=owner', nonce: 'owner-nonce', sender, isRegisteredUser: true, isWanted: () => true };
const user = { id: 1, login: 'owner', name: 'Owner', roles: ['administrator'], can_manage: true };

/** WordPress knows the owner of site one, by this cookie and this nonce together, for as long as `known` says. */
function underTest() {
  const fake = { now: 1_000_000, known: true, asked: 0 };
  const client = {
    async session(site: { id: string }, { cookie, nonce }: { cookie: string; nonce: string | null }) {
      fake.asked++;
      const right = site.id === 'one' && cookie === owner.cookie && nonce === owner.nonce;
      return { user: right && fake.known ? user : null } as SessionResponse;
    },
  };
  const sessions = createSessions({ client, clock: () => fake.now });
  return { fake: fake, sessions };
}

describe('the answer who is calling', () => {
  it.each([
    ['another cookie', one, { ...owner, cookie: 'session=nobody' }],
    ['another nonce', one, { ...owner, nonce: 'older' }],
    ['another site', two, owner],
    ['cookie and nonce that look alike in a row', one, { ...owner, cookie: 'session=owner","owner-nonce', nonce: '' }],
  ])('is remembered for nobody with %s', async (_what, site, credentials) => {
    const { fake, sessions } = underTest();
    expect(await sessions.getUser(one, owner, false)).toEqual(user);
    expect(await sessions.getUser(site, credentials, false)).toBeNull();
    expect(fake.asked).toBe(2);
    expect(await Promise.all([sessions.getUser(one, owner, true), sessions.getUser(site, credentials, false)])).toEqual(
      [user, null],
    );
  });

  it('is believed for five seconds, whatever happens in WordPress meanwhile, and no longer', async () => {
    const { fake, sessions } = underTest();
    await sessions.getUser(one, owner, false);
    fake.known = false;
    fake.now += 4999;
    expect(await sessions.getUser(one, owner, false)).toEqual(user);
    fake.now += 1;
    expect(await sessions.getUser(one, owner, false)).toBeNull();
    expect(fake.asked).toBe(2);
  });

  it('is not believed any longer because the clock was set back', async () => {
    const { fake, sessions } = underTest();
    await sessions.getUser(one, owner, false);
    fake.known = false;
    fake.now -= 3_600_000;
    expect(await sessions.getUser(one, owner, false)).toBeNull();
  });

  it('that is no is never remembered, and takes back a yes', async () => {
    const { fake, sessions } = underTest();
    await sessions.getUser(one, owner, false);
    fake.known = false;
    expect(await sessions.getUser(one, owner, true)).toBeNull();
    expect(await sessions.getUser(one, owner, false)).toBeNull();
    fake.known = true;
    expect(await sessions.getUser(one, owner, false)).toEqual(user);
  });

  it('is asked for anew by what changes something, also while the same question is under way', async () => {
    const { fake, sessions } = underTest();
    const early = sessions.getUser(one, owner, false);
    fake.known = false;
    // The question under way was asked before: its answer may be older than a log-out.
    expect(await sessions.getUser(one, owner, true)).toBeNull();
    expect(await early).toEqual(user);
    expect(fake.asked).toBe(2);
  });

  it('is shared by calls that arrive together, and forgotten with its site', async () => {
    const { fake, sessions } = underTest();
    await Promise.all([1, 2, 3].map(() => sessions.getUser(one, owner, false)));
    expect(fake.asked).toBe(1);
    sessions.clear('two');
    await sessions.getUser(one, owner, false);
    expect(fake.asked).toBe(1);
    sessions.clear('one');
    await sessions.getUser(one, owner, false);
    expect(fake.asked).toBe(2);
  });
});
