import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawResponse, sendRaw } from '../../http/raw.js';
import { type TypedRequest, toBytes } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { change, createsSession, loginForm, recover, sendFrom } from './helpers.js';

const LIMIT = 5;
/** A local address that is a trusted proxy of guard. */
const PROXY = '127.0.39.1';

onUsualStack('visitors with IPv6 addresses', (stack) => {
  const file = join(stack.guardDir, 'guard.json');
  const before = readFileSync(file, 'utf8');
  let owner: Session;
  const wrong = (turn: number) => loginForm(`nobody-${turn}`, 'wrong');
  const right = () => loginForm(stack.user, stack.password);
  const withHeader = (request: TypedRequest, name: string, value: string): TypedRequest => ({
    ...request,
    headers: { ...request.headers, [name]: value },
  });
  /** A request of a visitor from that address, as forwarded by the reverse proxy. */
  const through = (address: string, request: TypedRequest): Promise<RawResponse> =>
    sendFrom(stack, PROXY, withHeader(request, 'x-forwarded-for', address));
  /** A request from this machine's own IPv6 address, over IPv6. */
  const direct = (request: TypedRequest): Promise<RawResponse> =>
    sendRaw(stack.port, toBytes(stack, request), { to: '::1' });

  beforeAll(async () => {
    await stopGuard(stack);
    writeFileSync(
      file,
      JSON.stringify({ ...JSON.parse(before), listen: `[::]:${stack.port}`, trustedProxies: [PROXY] }),
    );
    await startGuard(stack);
    owner = await logIn(stack);
    await change(stack, owner, '/limit-login-attempts', { login_attempts: LIMIT });
  });
  afterAll(async () => {
    await change(stack, owner, '/login-access', []);
    await recover(stack, 'unblock', '--all');
    await stopGuard(stack);
    writeFileSync(file, before);
    await startGuard(stack);
  });

  it('are served over IPv6, locked out by it, and unlocked by the command line', async () => {
    expect((await direct({ target: '/' })).status).toBe(200);
    for (let turn = 0; turn < LIMIT; turn++) expect((await direct(wrong(turn))).status).toBe(200);
    expect((await direct(right())).status).toBe(429);
    // The same machine over IPv4 is another visitor.
    expect(createsSession(await sendFrom(stack, '127.0.39.2', right()))).toBe(true);
    expect(await recover(stack, 'unblock', '::1')).toContain('Unlocked: ::/64');
    await until('the address may log in', async () => createsSession(await direct(right())));
  });

  it('count as one within a /64 and separately beyond it, however the address is written', async () => {
    const spelled = [
      '2001:db8:38:1::1',
      '2001:DB8:38:1:0:0:0:2',
      '2001:0db8:0038:0001:ffff:ffff:ffff:ffff',
      '[2001:db8:38:1::4]:51234',
      '2001:db8:38:1::192.0.2.5',
    ];
    for (const [turn, address] of spelled.entries()) {
      expect((await through(address, wrong(turn))).status, address).toBe(200);
    }
    expect((await through('2001:db8:38:1:abcd::77', right())).status).toBe(429);
    expect(createsSession(await through('2001:db8:38:2::1', right()))).toBe(true);
    // An IPv4 address inside an IPv6 one is that IPv4 address.
    expect(createsSession(await through('::ffff:198.51.100.7', right()))).toBe(true);
  });

  it('count as the IPv4 address that theirs contains, with translators and tunnels', async () => {
    const forms = [
      '64:ff9b::198.51.100.41',
      '2002:c633:6429::1',
      '2002:c633:6429:ffff::2',
      '2001:0:203:4:0:1:39cc:9bd6',
      '[64:ff9b:1::198.51.100.41]:4711',
    ];
    for (const [turn, address] of forms.entries()) {
      expect((await through(address, wrong(turn))).status, address).toBe(200);
    }
    for (const address of ['198.51.100.41', ...forms]) {
      expect((await through(address, right())).status, address).toBe(429);
    }
    // Another visitor behind the same translator.
    expect(createsSession(await through('64:ff9b::198.51.100.42', right()))).toBe(true);
    expect(await recover(stack, 'unblock', '2002:c633:6429::1')).toContain('Unlocked: 198.51.100.41.');
    await until('the address may log in', async () => createsSession(await through(forms[0] as string, right())));
  });

  it('can’t hide behind a forged address', async () => {
    for (let turn = 0; turn < LIMIT; turn++) {
      await sendFrom(stack, '127.0.39.9', withHeader(wrong(turn), 'x-forwarded-for', `2001:db8:39:${turn}::1`));
    }
    const forged = withHeader(right(), 'x-forwarded-for', '2001:db8:39:ff::1');
    expect((await sendFrom(stack, '127.0.39.9', forged)).status).toBe(429);
    // Behind the real proxy only its own entry counts, the last one.
    for (let turn = 0; turn < LIMIT; turn++) {
      await through(`2001:db8:3a:${turn}::1, 2001:db8:3b::9`, wrong(turn));
    }
    expect((await through('2001:db8:3c::1, 2001:db8:3b::9', right())).status).toBe(429);
    expect(createsSession(await through('2001:db8:3a:1::1', right()))).toBe(true);
  });

  describe('and the list of who may log in', () => {
    beforeAll(() =>
      change(stack, owner, '/login-access', {
        entries: ['127.0.0.1', '2001:db8:7::/48', '2001:db8:8::1', '::1', '198.51.100.50'],
      }),
    );

    it.each([
      '2001:db8:7::1',
      '2001:DB8:7:ffff::9',
      '[2001:db8:8::1]:443',
      '2001:db8:8:0:0:0:0:1',
      '64:ff9b::198.51.100.50',
    ])('contains %s', async (address) => expect(createsSession(await through(address, right()))).toBe(true));

    it.each([
      ...['2001:db8:9::1', '2001:db8:8::2', '::ffff:192.0.2.1', 'nonsense'],
      // Others may announce a route for these prefixes, and the last ones contain an address of the machine itself.
      ...['2002:c633:6432::1', '64:ff9b::127.0.0.1', '2002:7f00:1::1'],
    ])('does not contain %s', async (address) => {
      const responses = [await through(address, right()), await through(address, { target: '/wp-login.php' })];
      expect(responses.map(({ status }) => status)).toEqual([403, 403]);
    });

    it('recognises clients over IPv6', async () => {
      expect(createsSession(await direct(right()))).toBe(true);
    });
  });
});
