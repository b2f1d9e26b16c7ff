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

/** So long after the last one, milliseconds, the connector is asked for the next lost report at once. */
const APART_MS = 500;

/** Asks so many times, one after the other, and none of them has to wait for the time between two queries. */
async function sendSeparately(gate: LoginGateway, turns: number, what: (round: number) => [string, RequestOptions]) {
  for (let round = 0; round < turns; round++) {
    await gate.send(...what(round));
    gate.advance(APART_MS);
  }
}

describe('without the connector', () => {
  for (const [route, guess] of Object.entries(guesses)) {
    it(`each guess by ${route} is a failure, since nothing says otherwise`, async () => {
      const gate = await startLoginGateway({ login_attempts: LIMIT });
      gate.wordpress.bare = true;
      for (let round = 0; round < TRIES; round++) await gate.send(...guess(round));
      expect(gate.wordpress.checks).toHaveLength(LIMIT);
      expect((await gate.send('/wp-login.php', form('right'))).status).toBe(429);
    });

    it(`each guess by ${route} has the connector looked at`, async () => {
      const gate = await startLoginGateway({ login_attempts: LIMIT });
      gate.wordpress.bare = true;
      await gate.send(...guess(0));
      expect(gate.lostNotes).toEqual(['site']);
    });
  }

  it('a session that the login form sets proves the password right', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.bare = true;
    for (let round = 0; round < TRIES; round++)
      expect((await gate.send('/wp-login.php', form('right'))).status).toBe(200);
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('credentials of the web server itself, sent with every page, are no failures', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.bare = true;
    for (let round = 0; round < TRIES; round++) await gate.send('/', { headers: basic('staging') });
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('forms that may hold a password or not lock nobody', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.bare = true;
    for (let round = 0; round < TRIES; round++) await gate.send(...innocent);
    expect((await gate.send('/wp-login.php', form('right'))).status).toBe(200);
  });
});

describe('an answer whose report is lost on its way', () => {
  const losses = [502, 504, 500, 403, 200, 'cut off'] as const;

  for (const status of losses) {
    it(`counts the failure behind it, at any form: ${status}`, async () => {
      const gate = await startLoginGateway({ login_attempts: LIMIT });
      gate.wordpress.lose = { status, when: 'checked' };
      await sendSeparately(gate, TRIES, (round) => shop(`wrong${round}`));
      await gate.whenReportsQueried();
      expect(gate.wordpress.checks).toHaveLength(LIMIT);
      gate.wordpress.lose = null;
      expect((await gate.send('/wp-login.php', form('right'))).status).toBe(429);
      await gate.send(...shop('right'));
      expect(gate.wordpress.checks).toHaveLength(LIMIT);
    });

    it(`costs nothing where no password was checked: ${status}`, async () => {
      const gate = await startLoginGateway({ login_attempts: LIMIT });
      gate.wordpress.lose = { status, when: 'always' };
      await sendSeparately(gate, TRIES, () => innocent);
      await gate.whenReportsQueried();
      gate.wordpress.lose = null;
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gate.send('/wp-login.php', form('right'))).status).toBe(200);
    });
  }

  it('counts guesses that came at once, and checks no more than five of them', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'checked' };
    await Promise.all(Array.from({ length: 40 }, (_, round) => gate.send(...shop(`wrong${round}`))));
    expect(gate.wordpress.checks.length).toBeLessThanOrEqual(LIMIT);
  });

  it('counts a check in the midst of which PHP ended', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 'cut off', when: 'checked', unfinished: true };
    await sendSeparately(gate, TRIES, (round) => shop(`wrong${round}`));
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
  });

  it('is a failure at the login form where the connector knows of the check', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'always' };
    await sendSeparately(gate, TRIES, (round) => ['/wp-login.php', form(`wrong${round}`)]);
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
    expect((await gate.send('/wp-login.php')).status).toBe(429);
  });

  it('makes an account slow that many addresses try, as reports do', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'checked' };
    for (let round = 0; round < 21; round++) {
      const [path, options] =
        round % 2 === 0 ? shop(`wrong${round}`) : (['/wp-login.php', form(`wrong${round}`)] as const);
      await gate.send(path, { ...options, from: `192.0.2.${round + 10}` });
      await gate.whenReportsQueried();
      gate.advance(APART_MS);
    }
    expect(gate.throttledUsers.at(-1)).toEqual([1]);
  });

  it('leaves the account of its right password as it was: a success behind it is one', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    await sendSeparately(gate, LIMIT - 1, (round) => shop(`wrong${round}`));
    gate.wordpress.lose = { status: 502, when: 'checked' };
    await gate.send(...shop('right'));
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('keeps its place while the connector cannot be asked, so that nobody guesses meanwhile', async () => {
    const { pass } = passingTime();
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'checked' };
    gate.wordpress.down = true;
    for (let round = 0; round < TRIES; round++) await gate.send(...shop(`wrong${round}`));
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
    gate.wordpress.down = false;
    // The pause after a query without an answer.
    pass(3000);
    await gate.whenReportsQueried();
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(LIMIT);
  });
});

/** What a web server answers by itself: dead PHP, `limit_req`, maintenance, a firewall, a body that is too large. */
const UNASKED = [502, 503, 504, 429, 403, 413, 500, 'cut off'] as const;
const ROUTES: Record<string, (password: string) => [path: string, options: RequestOptions]> = {
  'the login form': (password) => ['/wp-login.php', form(password)],
  'XML-RPC': (password) => ['/xmlrpc.php', { method: 'POST', body: password }],
  'REST with basic authentication': (password) => ['/wp-json/wp/v2/users/me', { headers: basic(password) }],
};

describe('an answer that the web server gives before WordPress checks anything', () => {
  for (const status of UNASKED) {
    it.each(Object.entries(ROUTES))(`is no failure at %s: ${status}`, async (_name, send) => {
      const gate = await startLoginGateway({ login_attempts: LIMIT });
      gate.wordpress.unasked = status;
      await sendSeparately(gate, TRIES, () => send('right'));
      await gate.whenReportsQueried();
      gate.wordpress.unasked = null;
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gate.send('/wp-login.php', form('right'))).status).toBe(200);
    });

    it(`while the connector can't be asked either, calls no password wrong and locks nobody: ${status}`, async () => {
      const { pass } = passingTime();
      const gate = await startLoginGateway({ login_attempts: LIMIT });
      gate.wordpress.unasked = status;
      gate.wordpress.down = true;
      for (let round = 0; round < LIMIT; round++) await gate.send('/wp-login.php', form('right'));
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      gate.wordpress.unasked = null;
      gate.wordpress.down = false;
      // The pause after a query without an answer.
      pass(3000);
      await gate.whenReportsQueried();
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gate.send('/wp-login.php', form('right'))).status).toBe(200);
    });
  }

  it('locks no neighbour of one who only asks for the form until the web server limits both', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.unasked = 503;
    await sendSeparately(gate, TRIES, (round) => ['/wp-login.php', round % 2 === 0 ? {} : form('right')]);
    await gate.whenReportsQueried();
    gate.wordpress.unasked = null;
    expect((await gate.send('/wp-login.php', form('right'))).status).toBe(200);
  });

  it('leaves no more guesses under way than an address may fail, while nobody knows', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 503, when: 'checked' };
    gate.wordpress.down = true;
    await Promise.all(Array.from({ length: TRIES }, (_, round) => gate.send('/wp-login.php', form(`wrong${round}`))));
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
  });

  it('holds no place in the queue of the site, where other addresses wait', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT }, { line: { atOnce: 1, guessThreshold: 1000 } });
    gate.wordpress.unasked = 503;
    gate.wordpress.down = true;
    await gate.send('/wp-login.php', form('right'));
    gate.wordpress.unasked = null;
    expect((await gate.send('/wp-login.php', { ...form('right'), from: '192.0.2.2' })).status).toBe(200);
  });

  it('has the connector keep its records until it can be asked', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    gate.wordpress.unasked = 503;
    gate.wordpress.down = true;
    await gate.send('/wp-login.php', form('right'));
    gate.advance(3600_000);
    await gate.send('/');
    expect(gate.wordpress.reached.map(({ context }) => Number(context?.keep ?? 0) >= 4200)).toEqual([false, true]);
  });
});

describe('an answer that the connector vouches for', () => {
  it('is neutral when it reports no password check, at any form and with any credentials', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    for (let round = 0; round < TRIES; round++) {
      await gate.send(...innocent);
      await gate.send('/xmlrpc.php', { method: 'POST', body: '' });
      await gate.send('/wp-login.php', { method: 'POST', body: 'action=lostpassword' });
    }
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
    expect(gate.lostNotes).toEqual([]);
  });
});

describe('what WordPress repeats in the head of its answers', () => {
  it.each([
    ['/', { origin: `http://${'a'.repeat(600)}` }, 400],
    ['/wp-json/x', { origin: `http://${'a'.repeat(600)}` }, 400],
    ['/', { origin: `https://${'a'.repeat(253)}:65535` }, 200],
    [`/wp-login.php?wp_lang=${'a'.repeat(65)}`, {}, 400],
    [`/wp-login.php?wp%5flang[]=${'%61'.repeat(65)}`, {}, 400],
    ['/wp-login.php?wp_lang=de_DE_formal', {}, 200],
  ])('is bounded on its way in: %s', async (path, headers, status) => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    expect((await gate.send(path, { headers })).status).toBe(status);
    expect(gate.wordpress.reached).toHaveLength(status === 200 ? 1 : 0);
  });

  it('leaves room for a way back in the query of the form that posts a password', async () => {
    const gate = await startLoginGateway({ login_attempts: LIMIT });
    const send = (length: number) => gate.send(`/wp-login.php?redirect_to=${'a'.repeat(length)}`, form('right'));
    expect((await send(1500)).status).toBe(200);
    expect((await send(2100)).status).toBe(414);
  });
});
