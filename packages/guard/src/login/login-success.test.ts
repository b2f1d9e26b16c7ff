import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { type ClientResponse, form, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';

const as = (log: string, pwd: string): RequestOptions => ({
  method: 'POST',
  body: new URLSearchParams({ log, pwd }).toString(),
});
const getCookie = (response: ClientResponse): string =>
  response.headers.find((line) => line.startsWith('set-cookie: known_device='))?.slice('set-cookie: '.length) ?? '';

describe('a correct password of one account', () => {
  it('forgives no guess at another account', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      statuses.push((await gateway.send('/wp-login.php', form(`guess${i}`))).status);
      await gateway.send('/wp-login.php', as('reader', PASSWORD));
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it('forgives no failure in the same request', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (let i = 0; i < 6; i++) {
      await gateway.send('/xmlrpc.php', { method: 'POST', body: `reader ${PASSWORD}\nowner guess${i}` });
    }
    expect(gateway.wordpress.checks).toHaveLength(6);
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(429);
  });

  it('forgives failures at its own account and at unknown names, and no others', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    for (const login of ['owner', 'reader', 'reader', 'nobody'])
      await gateway.send('/wp-login.php', as(login, 'wrong'));
    await gateway.send('/wp-login.php', as('reader', PASSWORD));
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(1);
    await gateway.send('/wp-login.php', form(PASSWORD));
    expect(gateway.attempts.size).toBe(0);
  });

  it('does not protect a browser that then guesses at other accounts from many addresses', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    const cookie = getCookie(await gateway.send('/wp-login.php', as('reader', PASSWORD))).split(';')[0] as string;
    const known: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      const from = `198.51.100.${i}`;
      await gateway.send('/wp-login.php', { ...as(i % 2 ? 'owner' : 'nobody', 'guess'), from, headers: { cookie } });
      known.push(gateway.wordpress.reached.at(-1)?.context?.devices);
    }
    expect(known).toEqual([[2], [2], [2], undefined, undefined]);
  });
});
