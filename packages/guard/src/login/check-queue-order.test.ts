import { describe, expect, it } from 'vitest';
import { type FakeWordPress, PASSWORD } from '../../test/support/fake-wordpress.js';
import { form, rawSocket, startLoginGateway } from '../../test/support/login-gateway.js';
import { eventually } from '../../test/support/scratch.js';

/** As in service while somebody guesses, but for times that are a tenth. */
const line = {
  guessThreshold: 0,
  atOnceWhileGuessed: 2,
  pauseFactor: 3,
  maxPauseMs: 300,
  hungAfterMs: 500,
  maxWaiting: 20,
};
const anonymous = (n: number) => `198.51.100.${n}`;
/** For tests that hold checks up as long as they like. */
const patient = { ...line, hungAfterMs: 60_000 };

/** Checks that begin from now on end when the answer is called. */
function holdChecks(wordpress: FakeWordPress): () => void {
  let free = (): void => {};
  wordpress.held = new Promise((resolve) => {
    free = resolve;
  });
  return () => {
    wordpress.held = null;
    free();
  };
}

describe('while many addresses guess passwords', () => {
  it('only two checks are under way, and most of the time none', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line });
    gateway.wordpress.checkMs = 40;
    const began = performance.now();
    const guesses = Array.from({ length: 12 }, async (_, n) => {
      return (await gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) })).status;
    });
    const statuses = await Promise.all(guesses);
    expect(statuses.every((status) => status === 200)).toBe(true);
    expect(gateway.wordpress.most).toBe(2);
    // Six at a place: each takes 40 ms, and 120 ms of rest stand between them.
    expect(performance.now() - began).toBeGreaterThan(6 * 40 + 5 * 120);
  });

  it('a right password beside a guess in the same request wins it no time', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line });
    gateway.wordpress.checkMs = 20;
    const began = performance.now();
    const mixed = Array.from({ length: 8 }, (_, n) =>
      gateway.send('/xmlrpc.php', { method: 'POST', body: `reader ${PASSWORD}\nowner guess`, from: anonymous(n) }),
    );
    await Promise.all(mixed);
    // Four at a place: each takes 40 ms, and 120 ms of rest stand between them.
    expect(performance.now() - began).toBeGreaterThan(4 * 40 + 3 * 120);
  });

  it('a browser that has logged in before waits for nobody', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line: patient });
    const first = await gateway.send('/wp-login.php', form(PASSWORD));
    const cookie = first.headers.flatMap((header) => (header.startsWith('set-cookie: ') ? header.slice(12) : []));
    const known = cookie.map((value) => value.split(';')[0]).join('; ');
    const free = holdChecks(gateway.wordpress);
    const guesses = Array.from({ length: 10 }, (_, n) =>
      gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) }),
    );
    await eventually(() => gateway.wordpress.checks.length === 3);
    gateway.wordpress.held = null;
    // Nobody in line gets a place before the two are free: who stood there would be sent away.
    const response = await gateway.send('/wp-login.php', { ...form(PASSWORD), headers: { cookie: known } });
    expect(response.status).toBe(200);
    free();
    await Promise.all(guesses);
  });

  it('a cookie of such a browser takes no crowd of addresses past the line', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 }, { line });
    const { headers } = await gateway.send('/wp-login.php', form(PASSWORD));
    const cookie = /known_device=[^;]+/.exec(headers.join('\n'))?.[0] ?? '';
    const free = holdChecks(gateway.wordpress);
    const guess = (n: number) =>
      gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n), headers: { cookie } });
    const guesses = Array.from({ length: 12 }, (_, n) => guess(n));
    await new Promise((resolve) => setTimeout(resolve, 250));
    // The login before, three that its own limit leaves to the browser, and two of the line.
    expect(gateway.wordpress.checks.length).toBeLessThanOrEqual(1 + 3 + 2);
    free();
    await Promise.all(guesses);
  });

  it('who has not failed yet goes before those who have', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line });
    const guess = (n: number) => gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) });
    for (let n = 0; n < 8; n++) gateway.attempts.recordFailure('site', anonymous(n), 5, Date.now());
    const free = holdChecks(gateway.wordpress);
    const order: string[] = [];
    const guesses = Array.from({ length: 8 }, (_, n) => guess(n).then(() => order.push('guess')));
    await eventually(() => gateway.wordpress.checks.length === 2);
    const owner = gateway.send('/wp-login.php', form(PASSWORD)).then(() => order.push('owner'));
    await eventually(() => gateway.attempts.limiter.held('site 192.0.2.1') === 1);
    free();
    gateway.wordpress.checkMs = 60;
    await owner;
    expect(order.indexOf('owner')).toBeLessThanOrEqual(3);
    await Promise.all(guesses);
  });

  it('who sends a request slowly holds no place', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line: patient });
    for (let n = 0; n < 6; n++) {
      rawSocket(gateway.port).write(
        `POST /wp-login.php HTTP/1.1\r\nHost: example.com\r\nX-Forwarded-For: ${anonymous(n)}\r\n` +
          'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 30\r\n\r\nlog=owner&',
      );
    }
    await eventually(() =>
      Array.from({ length: 6 }, (_, n) => n).every((n) => gateway.attempts.limiter.held(`site ${anonymous(n)}`) === 1),
    );
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(200);
  });

  it('what is too big to be kept has a line of its own, and reaches WordPress whole', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line });
    const padding = 'x'.repeat(200_000);
    const large = { ...form(PASSWORD), body: `log=owner&pwd=${PASSWORD}&more=${padding}` };
    expect((await gateway.send('/wp-login.php', large)).status).toBe(200);
    expect(gateway.wordpress.reached[0]?.body).toHaveLength(large.body.length);
    expect(gateway.wordpress.checks).toHaveLength(1);
  });

  it('who waits too long is asked to try again, and nothing is counted', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line: { ...patient, maxWaiting: 2 } });
    const free = holdChecks(gateway.wordpress);
    const first = [0, 1, 2, 3].map((n) => gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) }));
    await eventually(() => gateway.wordpress.checks.length === 2);
    const response = await gateway.send('/wp-login.php', { ...form(PASSWORD), from: anonymous(9) });
    expect([response.status, response.header('retry-after')]).toEqual([429, '10']);
    expect(gateway.attempts.getEntry('site', anonymous(9)).failures).toBe(0);
    expect(gateway.attempts.limiter.held(`site ${anonymous(9)}`)).toBe(0);
    free();
    await Promise.all(first);
  });

  it('who leaves the line gives everything back', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { line: patient });
    const free = holdChecks(gateway.wordpress);
    const send = (n: number, leaveAfter?: number) =>
      gateway
        .send('/wp-login.php', {
          ...form('wrong'),
          from: anonymous(n),
          ...(leaveAfter !== undefined && { leaveAfter }),
        })
        .catch(() => undefined);
    const first = [send(0), send(1)];
    await eventually(() => gateway.wordpress.checks.length === 2);
    await Promise.all([send(2, 50), send(3, 50)]);
    await eventually(() => gateway.visits.length === 2);
    free();
    await Promise.all(first);
    await eventually(() => gateway.attempts.limiter.size === 0);
    expect(gateway.wordpress.checks).toHaveLength(2);
    expect(gateway.visits.filter((visit) => visit.startsWith('499'))).toHaveLength(2);
  });
});
