import { expect, it } from 'vitest';
import { sendRaw } from '../../http/raw.js';
import { sendRequest } from '../../http/request.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import { expectRefused, toggleSuite } from './helpers.js';

const call = (method: string) =>
  `<?xml version="1.0"?><methodCall><methodName>${method}</methodName><params></params></methodCall>`;
const post = { method: 'POST', body: call('system.listMethods'), headers: { 'content-type': 'text/xml' } };
const SIGN = /<methodResponse>|XML-RPC server accepts|<rsd /;

toggleSuite({
  field: 'disable_xml_rpc',
  probes: () => [
    { target: '/xmlrpc.php', ...post },
    { target: '/xmlrpc.php' },
    { target: '/xmlrpc.php?rsd' },
    { target: '/hello-world/' },
    { target: '/' },
  ],
  whileEnabled({ stack }) {
    const host = new URL(stack.url).host;
    it.each(listSpellings('/xmlrpc.php'))('refuses a call to it spelled with $how: $target', async (spelling) => {
      expectRefused(await sendRequest(stack, toSpelledRequest(spelling, host, post)), SIGN);
    });

    it.each([
      ['GET', { method: 'GET', target: '/xmlrpc.php' }],
      ['PUT', { method: 'PUT', target: '/xmlrpc.php', body: call('demo.sayHello') }],
      ['OPTIONS', { method: 'OPTIONS', target: '/xmlrpc.php' }],
      ['really simple discovery', { target: '/xmlrpc.php?rsd' }],
      ['multicall', { ...post, target: '/xmlrpc.php', body: call('system.multicall') }],
      [
        'a method hidden by an override',
        { ...post, target: '/xmlrpc.php?_method=GET', headers: { 'x-http-method-override': 'GET' } },
      ],
    ] as const)('refuses %s', async (_name, request) => {
      expectRefused(await sendRequest(stack, request), SIGN);
    });

    it('refuses a chunked body', async () => {
      const bytes = `POST /xmlrpc.php HTTP/1.1\r\nhost: ${host}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
      const chunk = `${post.body.length.toString(16)}\r\n${post.body}\r\n0\r\n\r\n`;
      expectRefused(await sendRaw(stack.port, bytes + chunk), SIGN);
    });

    it('announces it nowhere', async () => {
      for (const target of ['/', '/hello-world/', '/sample-page/', '/no-such-page/', '/wp-login.php']) {
        const response = await sendRequest(stack, { target });
        expect(response.headers['x-pingback']).toBeUndefined();
        expect(response.body).not.toMatch(/xmlrpc\.php|rel=["']pingback/);
      }
    });
  },
});
