import { describe, expect, it } from 'vitest';
import { form, type LoginGateway, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';
import { passingTime } from '../../test/support/passing-time.js';

const LIMIT = 5;
const TRIES = 12;
const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`owner:${password}`).toString('base64')}`,
});
const guesses: Record<string, (round: number) => [path: string, options: RequestOptions]> = {
  'the login form': (round) => ['/wp-login.php', form(`wrong${round}`)],
  'XML-RPC': (round) => ['/xmlrpc.php', { method: 'POST', body: `wrong${round}` }],
  'REST with basic authentication': (round) => ['/wp-json/wp/v2/users/me', { headers: basic(`wrong${round}`) }],
  'a form with basic authentication': (round) => [
    '/',
    { method: 'POST', body: 'a=b', headers: basic(`wrong${round}`) },
  ],
};
const shop = (password: string): [string, RequestOptions] => ['/shop/account', form(password)];
const innocent: [string, RequestOptions] = ['/shop/account', { method: 'POST', body: 'add-to-cart=5' }];

/** This long after the last query, milliseconds, the next missing report is queried at once. */
const INTERVAL_MS = 500;

/** Sends requests one after the other, with enough time between them that no query has to wait for the last one. */
async function sendSeparately(gateway: LoginGateway, turns: number, what: (round: number) => [string, RequestOptions]) {
  for (let round = 0; round < turns; round++) {
    await gateway.send(...what(round));
    gateway.advance(INTERVAL_MS);
  }
}

describe('without the connector', () => {
  for (const [route, guess] of Object.entries(guesses)) {
    it(`each guess by ${route} is a failure, since nothing proves otherwise`, async () => {
      const gateway = await startLoginGateway({ login_attempts: LIMIT });
      gateway.wordpress.bare = true;
      for (let round = 0; round < TRIES; round++) await gateway.send(...guess(round));
      expect(gateway.wordpress.checks).toHaveLength(LIMIT);
      expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(429);
    });

    it(`each guess by ${route} causes a check of the connector`, async () => {
      const gateway = await startLoginGateway({ login_attempts: LIMIT });
      gateway.wordpress.bare = true;
      await gateway.send(...guess(0));
      expect(gateway.recheckedSites).toEqual(['site']);
    });
  }

  it('a session that the login form sets proves that the password was correct', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.bare = true;
    for (let round = 0; round < TRIES; round++)
      expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(200);
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('credentials of the web server itself, sent with every page, are no failures', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.bare = true;
    for (let round = 0; round < TRIES; round++) await gateway.send('/', { headers: basic('staging') });
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('forms that may or may not hold a password lock no address', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.bare = true;
    for (let round = 0; round < TRIES; round++) await gateway.send(...innocent);
    expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(200);
  });
});

describe('a response whose report is lost', () => {
  const statuses = [502, 504, 500, 403, 200, 'cut off'] as const;

  for (const status of statuses) {
    it(`is counted as a failure, at any form: ${status}`, async () => {
      const gateway = await startLoginGateway({ login_attempts: LIMIT });
      gateway.wordpress.lostResponse = { status, when: 'checked' };
      await sendSeparately(gateway, TRIES, (round) => shop(`wrong${round}`));
      await gateway.whenReportsQueried();
      expect(gateway.wordpress.checks).toHaveLength(LIMIT);
      gateway.wordpress.lostResponse = null;
      expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(429);
      await gateway.send(...shop('right'));
      expect(gateway.wordpress.checks).toHaveLength(LIMIT);
    });

    it(`counts no failure where no password was checked: ${status}`, async () => {
      const gateway = await startLoginGateway({ login_attempts: LIMIT });
      gateway.wordpress.lostResponse = { status, when: 'always' };
      await sendSeparately(gateway, TRIES, () => innocent);
      await gateway.whenReportsQueried();
      gateway.wordpress.lostResponse = null;
      expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(200);
    });
  }

  it('counts concurrent guesses, and allows no more than five checks of them', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.lostResponse = { status: 502, when: 'checked' };
    await Promise.all(Array.from({ length: 40 }, (_, round) => gateway.send(...shop(`wrong${round}`))));
    expect(gateway.wordpress.checks.length).toBeLessThanOrEqual(LIMIT);
  });

  it('counts a check during which PHP ended', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.lostResponse = { status: 'cut off', when: 'checked', unfinished: true };
    await sendSeparately(gateway, TRIES, (round) => shop(`wrong${round}`));
    expect(gateway.wordpress.checks).toHaveLength(LIMIT);
  });

  it('is a failure at the login form where the connector has a record of the check', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.lostResponse = { status: 502, when: 'always' };
    await sendSeparately(gateway, TRIES, (round) => ['/wp-login.php', form(`wrong${round}`)]);
    expect(gateway.wordpress.checks).toHaveLength(LIMIT);
    expect((await gateway.send('/wp-login.php')).status).toBe(429);
  });

  it('throttles an account that many addresses try, as reports do', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.lostResponse = { status: 502, when: 'checked' };
    for (let round = 0; round < 21; round++) {
      const [path, options] =
        round % 2 === 0 ? shop(`wrong${round}`) : (['/wp-login.php', form(`wrong${round}`)] as const);
      await gateway.send(path, { ...options, from: `192.0.2.${round + 10}` });
      await gateway.whenReportsQueried();
      gateway.advance(INTERVAL_MS);
    }
    expect(gateway.throttledUsers.at(-1)).toEqual([1]);
  });

  it('is recorded as a success when the password was correct', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    await sendSeparately(gateway, LIMIT - 1, (round) => shop(`wrong${round}`));
    gateway.wordpress.lostResponse = { status: 502, when: 'checked' };
    await gateway.send(...shop('right'));
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('keeps its permit while the connector cannot be queried, so that no further guess is checked', async () => {
    const { pass } = passingTime();
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.lostResponse = { status: 502, when: 'checked' };
    gateway.wordpress.down = true;
    for (let round = 0; round < TRIES; round++) await gateway.send(...shop(`wrong${round}`));
    expect(gateway.wordpress.checks).toHaveLength(LIMIT);
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
    gateway.wordpress.down = false;
    // The pause after a failed query.
    pass(3000);
    await gateway.whenReportsQueried();
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(LIMIT);
  });
});

/** Responses of a web server by itself: PHP is down, `limit_req`, maintenance, a firewall, a body that is too large. */
const UNSIGNED = [502, 503, 504, 429, 403, 413, 500, 'cut off'] as const;
const ROUTES: Record<string, (password: string) => [path: string, options: RequestOptions]> = {
  'the login form': (password) => ['/wp-login.php', form(password)],
  'XML-RPC': (password) => ['/xmlrpc.php', { method: 'POST', body: password }],
  'REST with basic authentication': (password) => ['/wp-json/wp/v2/users/me', { headers: basic(password) }],
};

describe('a response that the web server sends before WordPress checks anything', () => {
  for (const status of UNSIGNED) {
    it.each(Object.entries(ROUTES))(`is no failure at %s: ${status}`, async (_name, send) => {
      const gateway = await startLoginGateway({ login_attempts: LIMIT });
      gateway.wordpress.unsignedStatus = status;
      await sendSeparately(gateway, TRIES, () => send('right'));
      await gateway.whenReportsQueried();
      gateway.wordpress.unsignedStatus = null;
      expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(200);
    });

    it(`while the connector can’t be queried either, counts no failure and locks no address: ${status}`, async () => {
      const { pass } = passingTime();
      const gateway = await startLoginGateway({ login_attempts: LIMIT });
      gateway.wordpress.unsignedStatus = status;
      gateway.wordpress.down = true;
      for (let round = 0; round < LIMIT; round++) await gateway.send('/wp-login.php', form('right'));
      expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      gateway.wordpress.unsignedStatus = null;
      gateway.wordpress.down = false;
      // The pause after a failed query.
      pass(3000);
      await gateway.whenReportsQueried();
      expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(200);
    });
  }

  it('does not lock an address that only opens the form until the web server limits it', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.unsignedStatus = 503;
    await sendSeparately(gateway, TRIES, (round) => ['/wp-login.php', round % 2 === 0 ? {} : form('right')]);
    await gateway.whenReportsQueried();
    gateway.wordpress.unsignedStatus = null;
    expect((await gateway.send('/wp-login.php', form('right'))).status).toBe(200);
  });

  it('allows no more concurrent guesses than an address may fail, while the outcome is unknown', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.lostResponse = { status: 503, when: 'checked' };
    gateway.wordpress.down = true;
    await Promise.all(
      Array.from({ length: TRIES }, (_, round) => gateway.send('/wp-login.php', form(`wrong${round}`))),
    );
    expect(gateway.wordpress.checks).toHaveLength(LIMIT);
  });

  it('occupies no position in the queue of the site, where other addresses wait', async () => {
    const gateway = await startLoginGateway(
      { login_attempts: LIMIT },
      { queueLimits: { maxConcurrent: 1, guessThreshold: 1000 } },
    );
    gateway.wordpress.unsignedStatus = 503;
    gateway.wordpress.down = true;
    await gateway.send('/wp-login.php', form('right'));
    gateway.wordpress.unsignedStatus = null;
    expect((await gateway.send('/wp-login.php', { ...form('right'), from: '192.0.2.2' })).status).toBe(200);
  });

  it('makes the connector keep its records until it can be queried', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    gateway.wordpress.unsignedStatus = 503;
    gateway.wordpress.down = true;
    await gateway.send('/wp-login.php', form('right'));
    gateway.advance(3600_000);
    await gateway.send('/');
    expect(gateway.wordpress.reached.map(({ context }) => Number(context?.keep ?? 0) >= 4200)).toEqual([false, true]);
  });
});

describe('a response with the connector’s signature', () => {
  it('is neutral when it reports no password check, at any form and with any credentials', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    for (let round = 0; round < TRIES; round++) {
      await gateway.send(...innocent);
      await gateway.send('/xmlrpc.php', { method: 'POST', body: '' });
      await gateway.send('/wp-login.php', { method: 'POST', body: 'action=lostpassword' });
    }
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
    expect(gateway.recheckedSites).toEqual([]);
  });
});

describe('request data that WordPress repeats in its response headers', () => {
  it.each([
    ['/', { origin: `http://${'a'.repeat(600)}` }, 400],
    ['/wp-json/x', { origin: `http://${'a'.repeat(600)}` }, 400],
    ['/', { origin: `https://${'a'.repeat(253)}:65535` }, 200],
    [`/wp-login.php?wp_lang=${'a'.repeat(65)}`, {}, 400],
    [`/wp-login.php?wp%5flang[]=${'%61'.repeat(65)}`, {}, 400],
    ['/wp-login.php?wp_lang=de_DE_formal', {}, 200],
  ])('is bounded in the request: %s', async (path, headers, status) => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    expect((await gateway.send(path, { headers })).status).toBe(status);
    expect(gateway.wordpress.reached).toHaveLength(status === 200 ? 1 : 0);
  });

  it('may be as long as a redirect target in the query of the form that posts a password', async () => {
    const gateway = await startLoginGateway({ login_attempts: LIMIT });
    const send = (length: number) => gateway.send(`/wp-login.php?redirect_to=${'a'.repeat(length)}`, form('right'));
    expect((await send(1500)).status).toBe(200);
    expect((await send(2100)).status).toBe(414);
  });
});
