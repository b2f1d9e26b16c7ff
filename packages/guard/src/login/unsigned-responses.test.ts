import { describe, expect, it } from 'vitest';
import {
  type AskOptions,
  form,
  type LoginGateUnderTest,
  loginGateUnderTest,
} from '../../test/support/login-gateway.js';
import { passingTime } from '../../test/support/passing-time.js';

const LIMIT = 5;
const TRIES = 12;
const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`owner:${password}`).toString('base64')}`,
});
const guesses: Record<string, (turn: number) => [path: string, options: AskOptions]> = {
  'the login form': (turn) => ['/wp-login.php', form(`wrong${turn}`)],
  'XML-RPC': (turn) => ['/xmlrpc.php', { method: 'POST', body: `wrong${turn}` }],
  'REST with basic authentication': (turn) => ['/wp-json/wp/v2/users/me', { headers: basic(`wrong${turn}`) }],
  'a form with basic authentication': (turn) => ['/', { method: 'POST', body: 'a=b', headers: basic(`wrong${turn}`) }],
};
const shop = (password: string): [string, AskOptions] => ['/shop/account', form(password)];
const innocent: [string, AskOptions] = ['/shop/account', { method: 'POST', body: 'add-to-cart=5' }];

/** So long after the last one, milliseconds, the connector is asked for the next lost report at once. */
const APART_MS = 500;

/** Asks so many times, one after the other, and none of them has to wait for the time between two queries. */
async function askApart(gate: LoginGateUnderTest, turns: number, what: (turn: number) => [string, AskOptions]) {
  for (let turn = 0; turn < turns; turn++) {
    await gate.ask(...what(turn));
    gate.advance(APART_MS);
  }
}

describe('without the connector', () => {
  for (const [route, guess] of Object.entries(guesses)) {
    it(`each guess by ${route} is a failure, since nothing says otherwise`, async () => {
      const gate = await loginGateUnderTest({ login_attempts: LIMIT });
      gate.wordpress.bare = true;
      for (let turn = 0; turn < TRIES; turn++) await gate.ask(...guess(turn));
      expect(gate.wordpress.checks).toHaveLength(LIMIT);
      expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(429);
    });

    it(`each guess by ${route} has the connector looked at`, async () => {
      const gate = await loginGateUnderTest({ login_attempts: LIMIT });
      gate.wordpress.bare = true;
      await gate.ask(...guess(0));
      expect(gate.lostNotes).toEqual(['site']);
    });
  }

  it('a session that the login form sets proves the password right', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.bare = true;
    for (let turn = 0; turn < TRIES; turn++) expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(200);
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('credentials of the web server itself, sent with every page, are no failures', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.bare = true;
    for (let turn = 0; turn < TRIES; turn++) await gate.ask('/', { headers: basic('staging') });
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('forms that may hold a password or not lock nobody', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.bare = true;
    for (let turn = 0; turn < TRIES; turn++) await gate.ask(...innocent);
    expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(200);
  });
});

describe('an answer whose report is lost on its way', () => {
  const losses = [502, 504, 500, 403, 200, 'cut off'] as const;

  for (const status of losses) {
    it(`counts the failure behind it, at any form: ${status}`, async () => {
      const gate = await loginGateUnderTest({ login_attempts: LIMIT });
      gate.wordpress.lose = { status, when: 'checked' };
      await askApart(gate, TRIES, (turn) => shop(`wrong${turn}`));
      await gate.asked();
      expect(gate.wordpress.checks).toHaveLength(LIMIT);
      gate.wordpress.lose = null;
      expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(429);
      await gate.ask(...shop('right'));
      expect(gate.wordpress.checks).toHaveLength(LIMIT);
    });

    it(`costs nothing where no password was checked: ${status}`, async () => {
      const gate = await loginGateUnderTest({ login_attempts: LIMIT });
      gate.wordpress.lose = { status, when: 'always' };
      await askApart(gate, TRIES, () => innocent);
      await gate.asked();
      gate.wordpress.lose = null;
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(200);
    });
  }

  it('counts guesses that came at once, and checks no more than five of them', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'checked' };
    await Promise.all(Array.from({ length: 40 }, (_, turn) => gate.ask(...shop(`wrong${turn}`))));
    expect(gate.wordpress.checks.length).toBeLessThanOrEqual(LIMIT);
  });

  it('counts a check in the midst of which PHP ended', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 'cut off', when: 'checked', unfinished: true };
    await askApart(gate, TRIES, (turn) => shop(`wrong${turn}`));
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
  });

  it('is a failure at the login form where the connector knows of the check', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'always' };
    await askApart(gate, TRIES, (turn) => ['/wp-login.php', form(`wrong${turn}`)]);
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
    expect((await gate.ask('/wp-login.php')).status).toBe(429);
  });

  it('makes an account slow that many addresses try, as reports do', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'checked' };
    for (let turn = 0; turn < 21; turn++) {
      const [path, options] =
        turn % 2 === 0 ? shop(`wrong${turn}`) : (['/wp-login.php', form(`wrong${turn}`)] as const);
      await gate.ask(path, { ...options, from: `192.0.2.${turn + 10}` });
      await gate.asked();
      gate.advance(APART_MS);
    }
    expect(gate.throttledUsers.at(-1)).toEqual([1]);
  });

  it('leaves the account of its right password as it was: a success behind it is one', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    await askApart(gate, LIMIT - 1, (turn) => shop(`wrong${turn}`));
    gate.wordpress.lose = { status: 502, when: 'checked' };
    await gate.ask(...shop('right'));
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });

  it('keeps its place while the connector cannot be asked, so that nobody guesses meanwhile', async () => {
    const { pass } = passingTime();
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 502, when: 'checked' };
    gate.wordpress.down = true;
    for (let turn = 0; turn < TRIES; turn++) await gate.ask(...shop(`wrong${turn}`));
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
    gate.wordpress.down = false;
    // The pause after a query without an answer.
    pass(3000);
    await gate.asked();
    expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(LIMIT);
  });
});

/** What a web server answers by itself: dead PHP, `limit_req`, maintenance, a firewall, a body that is too large. */
const UNASKED = [502, 503, 504, 429, 403, 413, 500, 'cut off'] as const;
const ROUTES: Record<string, (password: string) => [path: string, options: AskOptions]> = {
  'the login form': (password) => ['/wp-login.php', form(password)],
  'XML-RPC': (password) => ['/xmlrpc.php', { method: 'POST', body: password }],
  'REST with basic authentication': (password) => ['/wp-json/wp/v2/users/me', { headers: basic(password) }],
};

describe('an answer that the web server gives before WordPress checks anything', () => {
  for (const status of UNASKED) {
    it.each(Object.entries(ROUTES))(`is no failure at %s: ${status}`, async (_name, ask) => {
      const gate = await loginGateUnderTest({ login_attempts: LIMIT });
      gate.wordpress.unasked = status;
      await askApart(gate, TRIES, () => ask('right'));
      await gate.asked();
      gate.wordpress.unasked = null;
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(200);
    });

    it(`while the connector can't be asked either, calls no password wrong and locks nobody: ${status}`, async () => {
      const { pass } = passingTime();
      const gate = await loginGateUnderTest({ login_attempts: LIMIT });
      gate.wordpress.unasked = status;
      gate.wordpress.down = true;
      for (let turn = 0; turn < LIMIT; turn++) await gate.ask('/wp-login.php', form('right'));
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      gate.wordpress.unasked = null;
      gate.wordpress.down = false;
      // The pause after a query without an answer.
      pass(3000);
      await gate.asked();
      expect(gate.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
      expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(200);
    });
  }

  it('locks no neighbour of one who only asks for the form until the web server limits both', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.unasked = 503;
    await askApart(gate, TRIES, (turn) => ['/wp-login.php', turn % 2 === 0 ? {} : form('right')]);
    await gate.asked();
    gate.wordpress.unasked = null;
    expect((await gate.ask('/wp-login.php', form('right'))).status).toBe(200);
  });

  it('leaves no more guesses under way than an address may fail, while nobody knows', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.lose = { status: 503, when: 'checked' };
    gate.wordpress.down = true;
    await Promise.all(Array.from({ length: TRIES }, (_, turn) => gate.ask('/wp-login.php', form(`wrong${turn}`))));
    expect(gate.wordpress.checks).toHaveLength(LIMIT);
  });

  it('holds no place in the queue of the site, where other addresses wait', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT }, { line: { atOnce: 1, guessThreshold: 1000 } });
    gate.wordpress.unasked = 503;
    gate.wordpress.down = true;
    await gate.ask('/wp-login.php', form('right'));
    gate.wordpress.unasked = null;
    expect((await gate.ask('/wp-login.php', { ...form('right'), from: '192.0.2.2' })).status).toBe(200);
  });

  it('has the connector keep its records until it can be asked', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    gate.wordpress.unasked = 503;
    gate.wordpress.down = true;
    await gate.ask('/wp-login.php', form('right'));
    gate.advance(3600_000);
    await gate.ask('/');
    expect(gate.wordpress.reached.map(({ context }) => Number(context?.keep ?? 0) >= 4200)).toEqual([false, true]);
  });
});

describe('an answer that the connector vouches for', () => {
  it('is neutral when it reports no password check, at any form and with any credentials', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    for (let turn = 0; turn < TRIES; turn++) {
      await gate.ask(...innocent);
      await gate.ask('/xmlrpc.php', { method: 'POST', body: '' });
      await gate.ask('/wp-login.php', { method: 'POST', body: 'action=lostpassword' });
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
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    expect((await gate.ask(path, { headers })).status).toBe(status);
    expect(gate.wordpress.reached).toHaveLength(status === 200 ? 1 : 0);
  });

  it('leaves room for a way back in the query of the form that posts a password', async () => {
    const gate = await loginGateUnderTest({ login_attempts: LIMIT });
    const ask = (length: number) => gate.ask(`/wp-login.php?redirect_to=${'a'.repeat(length)}`, form('right'));
    expect((await ask(1500)).status).toBe(200);
    expect((await ask(2100)).status).toBe(414);
  });
});
