import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { credentialsOf } from './credentials.js';
import type { Credentials } from './request-facts.js';

/** What is read from a request with these header lines, sent over a real socket. */
async function read(...lines: string[]): Promise<Credentials> {
  let found: Credentials | undefined;
  const server = createServer((request, response) => {
    found = credentialsOf(request);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(['GET / HTTP/1.1', 'Host: example.com', 'Connection: close', ...lines, '', ''].join('\r\n'));
  await new Promise((resolve) => socket.on('close', resolve).resume());
  return found as Credentials;
}

describe('the credentials of a request', () => {
  it('hold a login cookie by any name that PHP takes for one', async () => {
    for (const cookie of [
      'wordpress_logged_in_0a=x',
      'a=b; wordpress_sec_0a=x',
      'wordpress_0a=x',
      'wordpress.logged.in_0a=x',
      'wordpress%5flogged_in_0a=x',
      'wordpress[logged_in=x',
    ]) {
      expect((await read(`Cookie: ${cookie}`)).hasLoginCookie, cookie).toBe(true);
    }
    for (const cookie of ['wordpress_test_cookie=1', 'wp-settings-1=x', 'a=wordpress_logged_in_x', 'xwordpress_a=1']) {
      expect((await read(`Cookie: ${cookie}`)).hasLoginCookie, cookie).toBe(false);
    }
  });

  it('hold Basic in any letters and in any of several headers', async () => {
    for (const lines of [
      ['Authorization: Basic eA=='],
      ['authorization: bAsIc eA=='],
      ['Authorization: Bearer x', 'Authorization: Basic eA=='],
      ['Authorization: Bearer x, Basic eA=='],
    ]) {
      expect(await read(...lines)).toMatchObject({ hasBasic: true, hasAuthorization: true });
    }
    expect(await read('Authorization: Bearer basic-token')).toMatchObject({ hasBasic: false, hasAuthorization: true });
    expect(await read()).toMatchObject({ hasBasic: false, hasAuthorization: false });
  });
});
