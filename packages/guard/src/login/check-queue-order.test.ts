import { describe, expect, it } from 'vitest';
import { type FakeWordPress, PASSWORD } from '../../test/support/fake-wordpress.js';
import { form, rawSocket, startLoginGateway } from '../../test/support/login-gateway.js';
import { eventually } from '../../test/support/scratch.js';

/** The limits in production while someone guesses, with a tenth of their times. */
const queueLimits = {
  guessThreshold: 0,
  maxConcurrentWhileGuessed: 2,
  pauseFactor: 3,
  maxPauseMs: 300,
  hungAfterMs: 500,
  maxWaiting: 20,
};
const anonymous = (n: number) => `198.51.100.${n}`;
/** For tests that hold checks without a time limit. */
const unlimited = { ...queueLimits, hungAfterMs: 60_000 };

/** Holds checks that begin from now on, until the returned function is called. */
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
  it('only two checks run at once, and most of the time none', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits });
    gateway.wordpress.checkMs = 40;
    const began = performance.now();
    const guesses = Array.from({ length: 12 }, async (_, n) => {
      return (await gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) })).status;
    });
    const statuses = await Promise.all(guesses);
    expect(statuses.every((status) => status === 200)).toBe(true);
    expect(gateway.wordpress.max).toBe(2);
    // Each permit is used six times. A check takes 40 ms, followed by a pause of 120 ms.
    expect(performance.now() - began).toBeGreaterThan(6 * 40 + 5 * 120);
  });

  it('a correct password beside a guess in the same request does not shorten the pause', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits });
    gateway.wordpress.checkMs = 20;
    const began = performance.now();
    const mixed = Array.from({ length: 8 }, (_, n) =>
      gateway.send('/xmlrpc.php', { method: 'POST', body: `reader ${PASSWORD}\nowner guess`, from: anonymous(n) }),
    );
    await Promise.all(mixed);
    // Each permit is used four times. A check takes 40 ms, followed by a pause of 120 ms.
    expect(performance.now() - began).toBeGreaterThan(4 * 40 + 3 * 120);
  });

  it('a known browser does not wait in the queue', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits: unlimited });
    const first = await gateway.send('/wp-login.php', form(PASSWORD));
    const cookie = first.headers.flatMap((header) => (header.startsWith('set-cookie: ') ? header.slice(12) : []));
    const known = cookie.map((value) => value.split(';')[0]).join('; ');
    const free = holdChecks(gateway.wordpress);
    const guesses = Array.from({ length: 10 }, (_, n) =>
      gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) }),
    );
    await eventually(() => gateway.wordpress.checks.length === 3);
    gateway.wordpress.held = null;
    // No waiting client gets a permit before the two are free. In the queue this request would be refused.
    const response = await gateway.send('/wp-login.php', { ...form(PASSWORD), headers: { cookie: known } });
    expect(response.status).toBe(200);
    free();
    await Promise.all(guesses);
  });

  it('the cookie of a known browser does not let many addresses skip the queue', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 }, { queueLimits });
    const { headers } = await gateway.send('/wp-login.php', form(PASSWORD));
    const cookie = /known_device=[^;]+/.exec(headers.join('\n'))?.[0] ?? '';
    const free = holdChecks(gateway.wordpress);
    const guess = (n: number) =>
      gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n), headers: { cookie } });
    const guesses = Array.from({ length: 12 }, (_, n) => guess(n));
    await new Promise((resolve) => setTimeout(resolve, 250));
    // The login before, three that the browser's own limit allows, and two of the queue.
    expect(gateway.wordpress.checks.length).toBeLessThanOrEqual(1 + 3 + 2);
    free();
    await Promise.all(guesses);
  });

  it('a client without failures is served before those with failures', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits });
    const guess = (n: number) => gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) });
    for (let n = 0; n < 8; n++) gateway.attempts.recordFailure('site', anonymous(n), 5, Date.now());
    const free = holdChecks(gateway.wordpress);
    const order: string[] = [];
    const guesses = Array.from({ length: 8 }, (_, n) => guess(n).then(() => order.push('guess')));
    await eventually(() => gateway.wordpress.checks.length === 2);
    const owner = gateway.send('/wp-login.php', form(PASSWORD)).then(() => order.push('owner'));
    await eventually(() => gateway.attempts.limiter.countHeld('site 192.0.2.1') === 1);
    free();
    gateway.wordpress.checkMs = 60;
    await owner;
    expect(order.indexOf('owner')).toBeLessThanOrEqual(3);
    await Promise.all(guesses);
  });

  it('a client that sends its request slowly holds no permit', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits: unlimited });
    for (let n = 0; n < 6; n++) {
      rawSocket(gateway.port).write(
        `POST /wp-login.php HTTP/1.1\r\nHost: example.com\r\nX-Forwarded-For: ${anonymous(n)}\r\n` +
          'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 30\r\n\r\nlog=owner&',
      );
    }
    await eventually(() =>
      Array.from({ length: 6 }, (_, n) => n).every(
        (n) => gateway.attempts.limiter.countHeld(`site ${anonymous(n)}`) === 1,
      ),
    );
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(200);
  });

  it('a request that is too large to be buffered has a separate queue, and reaches WordPress complete', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits });
    const padding = 'x'.repeat(200_000);
    const large = { ...form(PASSWORD), body: `log=owner&pwd=${PASSWORD}&more=${padding}` };
    expect((await gateway.send('/wp-login.php', large)).status).toBe(200);
    expect(gateway.wordpress.reached[0]?.body).toHaveLength(large.body.length);
    expect(gateway.wordpress.checks).toHaveLength(1);
  });

  it('a client that waits too long gets Retry-After, and no failure is counted', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits: { ...unlimited, maxWaiting: 2 } });
    const free = holdChecks(gateway.wordpress);
    const first = [0, 1, 2, 3].map((n) => gateway.send('/wp-login.php', { ...form('wrong'), from: anonymous(n) }));
    await eventually(() => gateway.wordpress.checks.length === 2);
    const response = await gateway.send('/wp-login.php', { ...form(PASSWORD), from: anonymous(9) });
    expect([response.status, response.header('retry-after')]).toEqual([429, '10']);
    expect(gateway.attempts.getEntry('site', anonymous(9)).failures).toBe(0);
    expect(gateway.attempts.limiter.countHeld(`site ${anonymous(9)}`)).toBe(0);
    free();
    await Promise.all(first);
  });

  it('a client that disconnects while waiting releases everything it holds', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 }, { queueLimits: unlimited });
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
