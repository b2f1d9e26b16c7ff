import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { closing, exchange, toBody, toStatus } from './raw-client.js';
import { scriptedServer, startGateway } from './running-gateway.js';
import { areInstalled, certificate, freePort, readExample, runNginx } from './support/front-proxy.js';

/**
 * Responses that tell a web server to send one of its own files (`X-Accel-Redirect`), with a real nginx in front by the
 * guide's example, which has such a file. Each request is sent twice, through guard and directly, to detect cases that
 * nginx would ignore anyway.
 */

const SECRET = 'a file of the machine in front';
const LOCATION = '/internal/secret';

/** Everything that is received for a request by TLS, until the server ends the connection or changes the protocol. */
function sendByTls(port: number, method = 'GET', more = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername: 'example.com', rejectUnauthorized: false });
    let received = '';
    socket.on('secureConnect', () => socket.write(closing(`${method} /page HTTP/1.1${more}`)));
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n/.test(received)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

/**
 * An nginx in front of guard, and the same in front of the upstream server.
 * @param response the response of that server, as bytes
 */
async function startProxies(response: string): Promise<{ guard: number; throughGuard: number; direct: number }> {
  const upstream = (await scriptedServer(response)).port;
  const gateway = await startGateway(upstream, { trustedProxies: ['127.0.0.1'] });
  const { folder, key, crt } = await certificate();
  const files = join(folder, 'internal');
  await mkdir(files);
  await writeFile(join(files, 'secret'), SECRET);
  const front = (tls: number, port: number) =>
    readExample('nginx-tls.conf', {
      'listen 443 ssl': `listen 127.0.0.1:${tls} ssl`,
      '/etc/ssl/example.com.crt': crt,
      '/etc/ssl/private/example.com.key': key,
      '127.0.0.1:8080': `127.0.0.1:${port}`,
      '\n  location / {': `\n  location /internal/ { internal; alias ${files}/; }\n  location / {`,
    });
  const [throughGuard, direct] = [await freePort(), await freePort()];
  const servers = [
    await front(throughGuard, gateway.port),
    // Distinct names in the same file.
    (await front(direct, upstream)).replace(/\bguard\b(?=;| \{)/g, 'behind').replaceAll('$guard_', '$behind_'),
  ];
  await runNginx(folder, servers, throughGuard);
  return { guard: gateway.port, throughGuard, direct };
}

/** A response with these lines in its head. */
const withLines = (lines: string, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\n${lines}\r\nX-Kept: kept\r\nContent-Length: 4\r\n\r\npage`;
const REQUESTED = `X-Accel-Redirect: ${LOCATION}`;

describe.skipIf(!areInstalled('nginx', 'openssl'))('an nginx in front of guard', () => {
  it.each([
    ['as usual', withLines(REQUESTED)],
    ['in lower case', withLines(REQUESTED.toLowerCase())],
    ['in upper case', withLines(`X-ACCEL-REDIRECT: ${LOCATION}`)],
    ['without a space', withLines(`X-Accel-Redirect:${LOCATION}`)],
    ['with more space', withLines(`X-Accel-Redirect:    ${LOCATION}   `)],
    ['percent-encoded', withLines('X-Accel-Redirect: /internal/%73ecret')],
    ['with a query', withLines(`${REQUESTED}?download=1`)],
    ['among other headers of its kind', withLines(`X-Accel-Limit-Rate: 100000\r\n${REQUESTED}\r\nX-Accel-Expires: 60`)],
    ['in a client error', withLines(REQUESTED, '404 Not Found')],
    ['in a server error', withLines(REQUESTED, '503 Service Unavailable')],
    ['in a redirect', withLines(`Location: /other\r\n${REQUESTED}`, '302 Found')],
    ['in a partial response', withLines(`Content-Range: bytes 0-3/9\r\n${REQUESTED}`, '206 Partial Content')],
    ['without a body', `HTTP/1.1 200 OK\r\n${REQUESTED}\r\nX-Kept: kept\r\nContent-Length: 0\r\n\r\n`],
    [
      'with a body in chunks',
      `HTTP/1.1 200 OK\r\n${REQUESTED}\r\nX-Kept: kept\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n`,
    ],
  ])(
    'sends no file of its own at the request of the upstream server, and hides its name: %s',
    async (_how, response) => {
      const { throughGuard, direct } = await startProxies(response);
      // Without guard it would.
      expect(toBody(await sendByTls(direct))).toBe(SECRET);
      const seen = await sendByTls(throughGuard);
      expect([toStatus(seen), seen.includes('X-Kept: kept')]).toEqual([toStatus(response), true]);
      expect(seen).not.toContain(SECRET);
      expect(seen).not.toMatch(/accel|internal/i);
    },
  );

  it('sends no such file for HEAD, a range or a conditional request', async () => {
    const { throughGuard, direct } = await startProxies(withLines(REQUESTED));
    const part = '\r\nRange: bytes=0-3';
    expect(await sendByTls(direct, 'HEAD')).toContain(`Content-Length: ${SECRET.length}`);
    expect(toBody(await sendByTls(direct, 'GET', part))).toBe(SECRET.slice(0, 4));
    const head = await sendByTls(throughGuard, 'HEAD');
    expect([toStatus(head), head.includes('X-Kept: kept'), toBody(head)]).toEqual([200, true, '']);
    expect(head).not.toMatch(/accel|internal/i);
    for (const more of [part, '\r\nIf-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT', '\r\nIf-None-Match: "a"']) {
      const seen = await sendByTls(throughGuard, 'GET', more);
      expect([more, toStatus(seen), toBody(seen).includes('page')]).toEqual([more, 200, true]);
      expect(seen).not.toMatch(/accel|internal/i);
    }
  });

  it('forwards 304 without the header', async () => {
    const { throughGuard, direct } = await startProxies(
      `HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n${REQUESTED}\r\nX-Kept: kept\r\n\r\n`,
    );
    expect(toBody(await sendByTls(direct))).toBe(SECRET);
    const seen = await sendByTls(throughGuard, 'GET', '\r\nIf-None-Match: "a"');
    expect([toStatus(seen), seen.includes('X-Kept: kept'), toBody(seen)]).toEqual([304, true, '']);
    expect(seen).not.toMatch(/accel|internal/i);
  });

  // Nginx's own behaviour for these differs by release; through guard none has an effect.
  it.each([
    ['twice', withLines(`${REQUESTED}\r\n${REQUESTED}`)],
    ['in a folded line', withLines(`X-Kept: a\r\n ${REQUESTED}`)],
    ['in a line that starts with white space', `HTTP/1.1 200 OK\r\n ${REQUESTED}\r\nContent-Length: 4\r\n\r\npage`],
    ['after a bare line feed', withLines(`X-Other: a\n${REQUESTED}`)],
    ['after a bare carriage return', withLines(`X-Other: a\r${REQUESTED}`)],
    ['with white space before its colon', withLines(`X-Accel-Redirect : ${LOCATION}`)],
    ['with underscores', withLines(`X_Accel_Redirect: ${LOCATION}`)],
    [
      'in an informational response before the final one',
      `HTTP/1.1 103 Early Hints\r\n${REQUESTED}\r\n\r\n${withLines('X-Other: a')}`,
    ],
    [
      'in 100 Continue before the final response',
      `HTTP/1.1 100 Continue\r\n${REQUESTED}\r\n\r\n${withLines('X-Other: a')}`,
    ],
    [
      'in a trailer',
      `HTTP/1.1 200 OK\r\nTrailer: X-Accel-Redirect\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npage\r\n0\r\n${REQUESTED}\r\n\r\n`,
    ],
    ['in a protocol upgrade', `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n${REQUESTED}\r\n\r\n`],
  ])('sends no file of its own however the header is hidden: %s', async (_how, response) => {
    const { throughGuard } = await startProxies(response);
    for (const more of ['', '\r\nUpgrade: websocket']) {
      const seen = await sendByTls(throughGuard, 'GET', more);
      expect(seen).toMatch(/^HTTP\/1\.1 (?:101|200|502) /);
      expect(seen).not.toContain(SECRET);
    }
  });

  it('gets the other headers of the upstream server, and shows them to no client', async () => {
    const words = [
      'X-Accel-Buffering: no',
      'X-Accel-Expires: 60',
      'X-Accel-Limit-Rate: 1000000',
      'X-Accel-Charset: utf-8',
    ];
    const others = [
      'X-Sendfile: /srv/secret',
      'X-LIGHTTPD-send-file: /srv/secret',
      'X-LiteSpeed-Location: /srv/secret',
    ];
    const { guard, throughGuard, direct } = await startProxies(withLines([...words, ...others].join('\r\n')));
    // For example for an event stream, which would be delayed otherwise.
    const handed = await exchange(guard, closing('GET /page HTTP/1.1'));
    for (const word of words) expect(handed).toContain(`\r\n${word}\r\n`);
    expect(await sendByTls(direct)).toContain('/srv/secret');
    expect(await sendByTls(throughGuard)).not.toMatch(/accel|\/srv\/secret/i);
  });
});
