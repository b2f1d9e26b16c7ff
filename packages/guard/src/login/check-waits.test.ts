import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { type ClientResponse, form, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';
import { eventually } from '../../test/support/scratch.js';
import { HUNG_AFTER_MS } from './concurrency-limiter.js';

describe('a login', () => {
  it('with a wrong password gets its response when the count is stored, and every other request at once', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    let store = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      store = resolve;
    });
    gateway.settled = () => waiting;
    const results: string[] = [];
    const noted = async (name: string, pending: Promise<ClientResponse>) => {
      const response = await pending;
      results.push(name);
      return response;
    };
    const wrong = noted('wrong', gateway.send('/wp-login.php', form('wrong')));
    await eventually(() => gateway.attempts.getEntry('site', '192.0.2.1').failures === 1);
    await gateway.send('/wp-login.php', { ...form('wrong'), leaveAfter: 60 }).catch(() => undefined);
    await noted('right', gateway.send('/wp-login.php', { ...form(PASSWORD), from: '192.0.2.9' }));
    await noted('a page', gateway.send('/'));
    expect(results).toEqual(['right', 'a page']);
    store();
    expect((await wrong).body).toContain('login page');
    expect(results.at(-1)).toBe('wrong');
    // The connection that was held back serves the next request.
    expect((await gateway.send('/')).body).toBe('a page');
  });

  it('does not wait for pages, streams and chats that hang', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    gateway.wordpress.hangs = true;
    let finished = 0;
    const chat = (options: RequestOptions) => {
      const count = (): number => finished++;
      gateway.send('/chat', options).then(count, count);
    };
    chat({ method: 'POST', body: 'poll=1' });
    for (let i = 0; i < 8; i++) chat({});
    await eventually(() => gateway.wordpress.reached.length === 9);
    gateway.advance(HUNG_AFTER_MS);
    for (let i = 0; i < 8; i++) chat({ method: 'POST', body: 'poll=1' });
    await eventually(() => gateway.wordpress.reached.length === 17);
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(200);
    expect(gateway.wordpress.checks).toHaveLength(1);
    expect(finished).toBe(0);
  });

  it('that can’t be checked now gets Retry-After, without a lock', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    let free = (): void => {};
    gateway.wordpress.held = new Promise((resolve) => {
      free = resolve;
    });
    const slow = Array.from({ length: 3 }, () => gateway.send('/wp-login.php', form(PASSWORD)));
    await eventually(() => gateway.wordpress.checks.length === 3);
    const response = await gateway.send('/wp-login.php', { ...form(PASSWORD), headers: { accept: 'text/html' } });
    expect([response.status, response.header('retry-after')]).toEqual([429, '10']);
    expect(response.body).toContain('You are not locked out');
    free();
    await Promise.all(slow);
    expect(gateway.attempts.size).toBe(0);
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(200);
  });

  it('for which the queue is too long is refused at once', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.checkMs = 300;
    const results = await Promise.all(
      Array.from({ length: 150 }, (_, i) => gateway.send('/wp-login.php', form(`w${i}`))),
    );
    const statuses = results.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(147);
  });
});
