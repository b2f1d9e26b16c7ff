import { describe, expect, it } from 'vitest';
import { activitySite } from '../../test/support/activity-site.js';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { form, startLoginGateway } from '../../test/support/login-gateway.js';

/** Addresses that all mean 192.0.2.1. */
const FORMS = [
  ...['192.0.2.1', '::ffff:192.0.2.1', '64:ff9b::192.0.2.1', '64:ff9b:1::c000:201', '2002:c000:201::5'],
  ...['2002:c000:201:7::9', '2001:0:203:4:0:1:3fff:fdfe', '::ffff:0:192.0.2.1'],
];

describe('wrong passwords from an address in several forms', () => {
  it('lock it in all forms, and no other address', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (const from of FORMS.slice(2, 5)) await gateway.send('/wp-login.php', { ...form('wrong'), from });
    for (const from of FORMS)
      expect((await gateway.send('/wp-login.php', { ...form(PASSWORD), from })).status, from).toBe(429);
    for (const from of ['192.0.2.2', '64:ff9b::192.0.2.2', '2002:c000:202::5', '64:ff9b::127.0.0.1']) {
      expect((await gateway.send('/wp-login.php', { ...form(PASSWORD), from })).status, from).toBe(200);
    }
  });

  it('cause at most 5 password checks when 100 are sent at once', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    gateway.wordpress.checkMs = 20;
    const addresses = Array.from({ length: 100 }, (_, i) =>
      i % 2 === 0 ? `2002:c000:201:${i.toString(16)}::1` : (FORMS[i % FORMS.length] as string),
    );
    await Promise.all(addresses.map((from, i) => gateway.send('/wp-login.php', { ...form(`wrong${i}`), from })));
    expect(gateway.wordpress.checks.length).toBeGreaterThan(0);
    expect(gateway.wordpress.checks.length).toBeLessThanOrEqual(5);
  });

  it('lock no other client of the same translator', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (let i = 0; i < 3; i++)
      await gateway.send('/wp-login.php', { ...form('wrong'), from: '64:ff9b::198.51.100.7' });
    const at = async (from: string) => (await gateway.send('/wp-login.php', { ...form(PASSWORD), from })).status;
    expect(await at('64:ff9b::198.51.100.7')).toBe(429);
    expect(await at('64:ff9b::198.51.100.8')).toBe(200);
  });
});

describe('Login Access', () => {
  const opens = async (list: readonly string[], from: string) => {
    const gateway = await startLoginGateway({ login_access: [...list] });
    return (await gateway.send('/wp-login.php', { from })).status;
  };

  it.each(['64:ff9b::192.0.2.1', '64:ff9b:1::192.0.2.1', '::ffff:0:192.0.2.1', '::ffff:192.0.2.1'])(
    'admits %s, which only the server’s own network can translate, for 192.0.2.1',
    async (from) => {
      expect(await opens(['192.0.2.1'], from)).toBe(200);
      expect(await opens(['192.0.2.0/24'], from)).toBe(200);
      expect(await opens(['198.51.100.1'], from)).toBe(403);
    },
  );

  it.each(['2002:c000:201::5', '2001:0:203:4:0:1:3fff:fdfe'])(
    'does not admit %s for 192.0.2.1, because others may announce its route, but admits it when it is listed',
    async (from) => {
      expect(await opens(['192.0.2.1'], from)).toBe(403);
      expect(await opens(['192.0.2.0/24', '64:ff9b::/96'], from)).toBe(403);
      expect(await opens([from], from)).toBe(200);
      expect(await opens([`${from}/48`], from)).toBe(200);
    },
  );

  it('with 192.0.2.1 in an IPv6 form admits that client', async () => {
    expect(await opens(['64:ff9b::c000:201'], '192.0.2.1')).toBe(200);
    expect(await opens(['2002:c000:201::/48'], '192.0.2.1')).toBe(200);
    expect(await opens(['64:ff9b::c000:201'], '192.0.2.2')).toBe(403);
  });

  it.each(['64:ff9b::a00:1', '2002:a00:1::1', '64:ff9b::7f00:1', '2002:7f00:1::1', '::127.0.0.1'])(
    'does not treat %s as an address of a private network or of this machine',
    async (from) => {
      expect(await opens(['10.0.0.0/8', '127.0.0.0/8'], from)).toBe(403);
    },
  );

  it.each([
    ['192.0.2.1', '2002:c000:201::5', 409],
    ['2002::/16', '2002:c000:201::5', 200],
    ['2002:c000:201::/48', '2002:c000:201::5', 200],
    ['192.0.2.1', '64:ff9b::192.0.2.1', 200],
    ['64:ff9b::192.0.2.1', '192.0.2.1', 200],
    ['198.51.100.7', '64:ff9b::192.0.2.1', 409],
  ])('with %s requires confirmation from the owner at %s if it would exclude the owner', async (line, from, status) => {
    const site = await activitySite();
    const { http } = await site.send('/login-access', [line], { headers: { 'x-forwarded-for': from } });
    expect(http).toBe(status);
  });
});
