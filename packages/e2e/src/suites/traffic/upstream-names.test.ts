import { describe, expect, it } from 'vitest';
import { sendRaw } from '../../http/raw.js';
import { sendRequest, sendUpstream } from '../../http/request.js';
import { onEveryStack } from '../../stacks/stack.js';
import { behindProxy } from '../activity/helpers.js';

onEveryStack('the name of the web server behind guard', (stack) => {
  const { host } = new URL(stack.url);

  it.runIf(stack.kind === 'nginx-defaults')('is in redirects of nginx with its defaults', async () => {
    const { headers } = await sendUpstream(stack, { target: '/wp-admin' });
    expect(headers.location).toBe(`http://127.0.0.1:${stack.upstreamPort}/wp-admin/`);
  });

  it('is not in the redirect of GET /wp-admin, which has the client’s scheme and authority', async () => {
    const { status, headers } = await sendRequest(stack, { target: '/wp-admin?a=1' });
    expect(status).toBe(301);
    // Some web servers redirect to a path, which is equivalent.
    expect(new URL(headers.location ?? '', stack.url).href).toBe(`${stack.url}/wp-admin/?a=1`);
  });

  it('is not in responses to HTTP/1.0, and guard itself responds to a request without a host', async () => {
    for (const target of ['/', '/wp-admin', '/wp-login.php', '/feed/', '/readme.html', '/wp-content']) {
      const nameless = await sendRaw(stack.port, `GET ${target} HTTP/1.0\r\n\r\n`);
      expect([target, nameless.status, nameless.body]).toEqual([target, 200, 'ok\n']);
      const { head, status } = await sendRequest(stack, { target, version: '1.0' });
      expect(status).toBeLessThan(500);
      expect([target, head]).toEqual([target, expect.not.stringMatching(/^host:|^x-forwarded|^x-real/im)]);
      expect([target, head]).toEqual([target, expect.not.stringContaining(String(stack.upstreamPort))]);
    }
  });

  describe('behind a proxy that ends TLS', () => {
    behindProxy(stack);

    it('is not in the redirect of GET /wp-admin, which stays on https', async () => {
      const { headers } = await sendRequest(stack, { target: '/wp-admin', headers: { 'x-forwarded-proto': 'https' } });
      expect(new URL(headers.location ?? '', `https://${host}`).href).toBe(`https://${host}/wp-admin/`);
    });
  });
});
