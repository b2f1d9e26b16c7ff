import { randomBytes } from 'node:crypto';
import {
  anyEnd,
  awaitEnd,
  awaitResponse,
  disconnect,
  finish,
  linger,
  pause,
  readNothing,
  reset,
  send,
  sendSlowly,
  type Visit,
} from './client.js';
import { joined, type Kind, post, postHead, request, several, verbatim } from './requests.js';

const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
const login = request({ method: 'POST', path: '/wp-login.php', headers: form, body: 'log=owner&pwd=wrong' });
const chunked = postHead('Transfer-Encoding: chunked\r\n');
const connectHead = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n';
const noHost = 'GET / HTTP/1.1\r\n\r\n';
const unknownExpect = request({ headers: 'Expect: the-unexpected\r\n' });
const upgrade = (protocol: string, headers = '') => `Connection: Upgrade${headers}\r\nUpgrade: ${protocol}\r\n`;
const h2c = request({ headers: `${upgrade('h2c', ', HTTP2-Settings')}HTTP2-Settings: AAMAAABkAAQAAP__\r\n` });
const webSocketHeaders = `${upgrade('websocket')}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n`;
const webSocket = request({ path: '/socket', headers: webSocketHeaders });
const api = '/wp-json/security-optimizer/v1';
const sessionHeaders = `Cookie: wordpress_logged_in_0=invented\r\nX-WP-Nonce: 0123456789\r\nContent-Type: application/json\r\n`;
const settingsCall = (body: string) =>
  request({ method: 'POST', path: `${api}/disable-xml-rpc`, headers: sessionHeaders, body });
const tlsHello = Buffer.from(`16030100c8010000c40303${'5a'.repeat(32)}00${'1301'.repeat(20)}`, 'hex');
const multicall = `<?xml version="1.0"?><methodCall><methodName>system.multicall</methodName><params><param><value><array><data>${'<value>x</value>'.repeat(50)}</data></array></value></param></params></methodCall>`;

/** A whole request with some of its bytes changed, dropped or doubled. */
const mutated = (visit: Visit): Buffer => {
  const { random } = visit;
  const bytes = [
    ...Buffer.from(random.pick([request(), login, webSocket, postHead('Expect: 100-continue\r\n')])(visit)),
  ];
  for (let n = random.between(1, 6); n > 0; n--) {
    const index = random.between(0, bytes.length - 1);
    bytes.splice(index, random.between(0, 2), ...random.bytes(random.between(0, 2)));
  }
  return Buffer.from(bytes);
};

/** Every kind of visit, all with the same probability. */
export const kinds: readonly Kind[] = [
  ['a page', send(request()), awaitResponse(), disconnect],
  ['a page, all of it', send(request({ headers: 'Connection: close\r\n' })), awaitEnd(), disconnect],
  [
    'three pages after one another',
    send(request()),
    awaitResponse(),
    send(request()),
    pause(50),
    send(request()),
    anyEnd,
  ],
  ['a page, then reset', send(request()), pause(0, 30), reset],
  ['a page, then FIN', send(request()), finish],
  ['an answer that streams, then reset', send(request()), awaitResponse(), pause(0, 60), reset],
  ['an answer that streams, then FIN', send(request()), awaitResponse(), finish],
  ['a reader that never reads', send(request({ path: '/big' })), readNothing(1500), disconnect],
  ['a reader that reads late', send(request({ path: '/big' })), readNothing(600), awaitEnd(800), disconnect],
  ['an answer that is never taken, held', send(request({ path: '/big' })), readNothing(200), anyEnd],

  ['nothing at all', linger],
  ['nothing at all, then reset', pause(0, 50), reset],
  ['reset as soon as it is connected', reset],
  ['a page, reset in the same moment', send(request()), reset],
  ['a page, reset at the first byte of its answer', send(request()), awaitResponse(), reset],
  ['half a body, then reset', send(postHead('Content-Length: 200000\r\n')), send('u'.repeat(100_000)), reset],
  [
    'half a body, then reset a little later',
    send(postHead('Content-Length: 200000\r\n')),
    send('u'.repeat(100_000)),
    pause(0, 60),
    reset,
  ],
  ['the head of a POST, then reset', send(postHead('Content-Length: 10\r\n')), pause(0, 20), reset],
  ['half a chunk, then reset', send(chunked), send('ff\r\nabc'), pause(0, 20), reset],
  ['half a head and silence', send((visit) => `GET / HTTP/1.1\r\nHost: ${visit.host}\r\nX-Half`), linger],
  ['half a head, then FIN', send('GET / HTTP/1.1\r\nHo'), finish],
  ['half a head, then reset', send('GET / HTTP/1.1\r\nHo'), pause(0, 20), reset],
  ['head in single bytes', sendSlowly(request(), 60, 10), anyEnd],
  ['a head that never ends', sendSlowly((visit) => request()(visit).slice(0, -2), 40, 60), linger],

  ['CONNECT, then reset', send(connectHead), reset],
  ['CONNECT, then reset a little later', send(connectHead), pause(0, 20), reset],
  ['CONNECT, then FIN', send(connectHead), finish],
  ['CONNECT, then silence', send(connectHead), linger],
  ['CONNECT with a page behind it', send(joined(verbatim(connectHead), request())), anyEnd],
  ['a page with CONNECT behind it', send(joined(request(), verbatim(connectHead))), anyEnd],

  ['no Host', send(noHost), anyEnd],
  ['no Host, then silence', send(noHost), linger],
  ['no Host and a WebSocket in one packet', send(joined(verbatim(noHost), webSocket)), anyEnd],
  ['no Host and h2c in one packet', send(joined(verbatim(noHost), h2c)), anyEnd],
  ['two Hosts', send(request({ headers: 'Host: other.example\r\n' })), anyEnd],
  ['a Host that is none', send('GET / HTTP/1.1\r\nHost: a b\\c\r\n\r\n'), anyEnd],
  ['a strange Expect', send(unknownExpect), anyEnd],
  ['a strange Expect and a WebSocket in one packet', send(joined(unknownExpect, webSocket)), anyEnd],
  ['a strange Expect and h2c in one packet', send(joined(unknownExpect, h2c)), anyEnd],
  ['a strange Expect with a body', send(post('log=a&pwd=b', `${form}Expect: tea\r\n`)), anyEnd],
  ['Expect: 100-continue, then gone', send(postHead('Expect: 100-continue\r\nContent-Length: 10\r\n')), anyEnd],
  [
    'Expect: 100-continue, and the body',
    send(postHead('Expect: 100-continue\r\nContent-Length: 10\r\n')),
    awaitResponse(300),
    send('0123456789'),
    anyEnd,
  ],
  ['Expect: 100-continue and silence', send(postHead('Expect: 100-continue\r\nContent-Length: 10\r\n')), linger],
  ['Expect: 100-continue without a body', send(request({ headers: 'Expect: 100-continue\r\n' })), anyEnd],

  ['two requests in one packet', send(several(2, request())), anyEnd],
  ['three hundred requests, left at once', send(several(300, request())), pause(0, 60), reset],
  ['three hundred requests, then FIN', send(several(300, request())), finish],
  ['three hundred requests, never read', send(several(300, request())), readNothing(800), disconnect],
  ['a page with a WebSocket behind it', send(joined(request(), webSocket)), anyEnd],
  ['a page with h2c behind it', send(joined(request(), h2c)), anyEnd],
  ['a page with garbage behind it', send((visit) => `${request()(visit)}\0\0garbage\r\n\r\n`), anyEnd],
  ['a page with half a request behind it', send(joined(request(), verbatim('GET /half HT'))), anyEnd],
  ['HEAD, a page and no Host', send(joined(request({ method: 'HEAD' }), request(), verbatim(noHost))), anyEnd],
  ['POSTs in one packet, one of them a login', send(joined(post('a=1'), login, post('b=2'))), anyEnd],
  ['ten logins in one packet', send(several(10, login)), anyEnd],
  ['a last request with another behind it', send(several(2, request({ headers: 'Connection: close\r\n' }))), anyEnd],

  ['h2c, then FIN', send(h2c), finish],
  ['h2c, then reset', send(h2c), pause(0, 20), reset],
  // Not with an event stream, which a client may read without a limit.
  ['h2c, then silence', send((visit) => h2c({ ...visit, behaviour: 'normal' })), linger],
  ['h2c twice in one packet', send(several(2, h2c)), anyEnd],
  ['h2c with a body', send(post('a=1', upgrade('h2c'))), anyEnd],
  ['h2c with half a body', send(postHead(`${upgrade('h2c')}Content-Length: 100\r\n`)), send('half'), anyEnd],
  [
    'h2c with a body in chunks',
    send(postHead(`${upgrade('h2c')}Transfer-Encoding: chunked\r\n`)),
    send('3\r\nabc\r\n'),
    anyEnd,
  ],
  ['h2c with Expect', send(postHead(`${upgrade('h2c')}Expect: 100-continue\r\nContent-Length: 3\r\n`)), anyEnd],
  ['an upgrade to an unknown protocol', send(request({ headers: upgrade('tea/1') })), anyEnd],
  ['WebSocket, then reset', send(webSocket), pause(0, 30), reset],
  ['WebSocket open, then reset', send(webSocket), awaitResponse(), reset],
  ['WebSocket, then FIN', send(webSocket), finish],
  ['WebSocket open, then FIN', send(webSocket), awaitResponse(), finish],
  ['WebSocket, then garbage', send(webSocket), awaitResponse(), send(({ random }) => random.bytes(500)), anyEnd],
  ['WebSocket with garbage in the same packet', send((visit) => `${webSocket(visit)}\x81\x85garbage`), anyEnd],
  [
    'WebSocket that is never read',
    send(webSocket),
    awaitResponse(),
    send('x'.repeat(500_000)),
    readNothing(500),
    anyEnd,
  ],
  ['WebSocket by POST', send(post('a=1', webSocketHeaders)), anyEnd],
  ['WebSocket at the login', send(request({ path: '/wp-login.php', headers: webSocketHeaders })), anyEnd],
  ['two WebSockets in one packet', send(several(2, webSocket)), anyEnd],

  ['a slow body', send(postHead('Content-Length: 400\r\n')), sendSlowly(verbatim('x'.repeat(400)), 20, 60), anyEnd],
  ['a body that stops', send(postHead('Content-Length: 400\r\n')), send('a part'), linger],
  ['a body that is cut', send(postHead('Content-Length: 400\r\n')), send('a part'), finish],
  ['a body that is reset', send(postHead('Content-Length: 400\r\n')), send('a part'), pause(0, 30), reset],
  ['a body longer than said', send(postHead('Content-Length: 3\r\n')), send('abcdefgh\r\n\r\n'), anyEnd],
  [
    'a whole upload',
    send(postHead('Content-Length: 1000000\r\n')),
    send('u'.repeat(1_000_000)),
    awaitResponse(),
    anyEnd,
  ],
  [
    'an upload that is cut',
    send(postHead('Content-Length: 4000000\r\n')),
    send('u'.repeat(1_000_000)),
    pause(0, 40),
    anyEnd,
  ],
  ['two lengths', send(postHead('Content-Length: 3\r\nContent-Length: 4\r\n')), send('abcd'), anyEnd],
  ['a length that is none', send(postHead('Content-Length: -1\r\n')), send('abcd'), anyEnd],
  [
    'a length and chunks',
    send(postHead('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n')),
    send('0\r\n\r\n'),
    anyEnd,
  ],
  ['chunks of another spelling', send(postHead('Transfer-Encoding: gzip, chunKed\r\n')), send('0\r\n\r\n'), anyEnd],
  [
    'chunks named twice',
    send(postHead('Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n')),
    send('0\r\n\r\n'),
    anyEnd,
  ],
  ['chunks', send(chunked), send('3\r\nabc\r\n0\r\n\r\n'), awaitResponse(), anyEnd],
  ['broken chunks', send(chunked), send('zz\r\nabc\r\n'), anyEnd],
  ['chunks that are cut', send(chunked), send('ff\r\nabc'), anyEnd],
  ['chunks that stop', send(chunked), send('3\r\nabc\r\n'), linger],
  ['chunks with extensions', send(chunked), send('3;a=b;c="d"\r\nabc\r\n0\r\n\r\n'), anyEnd],
  ['chunks with a long extension', send(chunked), send(`3;${'a'.repeat(40_000)}\r\nabc\r\n0\r\n\r\n`), anyEnd],
  ['chunks with trailers', send(chunked), send('3\r\nabc\r\n0\r\nHost: other\r\nX-Trailer: 1\r\n\r\n'), anyEnd],

  ['huge headers', send(request({ headers: `X-Huge: ${'h'.repeat(100_000)}\r\n` })), anyEnd],
  ['a cookie of 100 KB', send(request({ headers: `Cookie: a=${'c'.repeat(100_000)}\r\n` })), anyEnd],
  ['three thousand headers', send(request({ headers: 'A: b\r\n'.repeat(3000) })), anyEnd],
  ['a long target', send(request({ path: `/${'a'.repeat(20_000)}` })), anyEnd],
  ['a NUL in a header', send(request({ headers: 'X-Nul: a\0b\r\n' })), anyEnd],
  ['a NUL in the target', send(request({ path: '/\0' })), anyEnd],
  ['bare line feeds', send((visit) => request()(visit).replaceAll('\r\n', '\n')), anyEnd],
  ['bare carriage returns', send((visit) => request()(visit).replaceAll('\r\n', '\r')), anyEnd],
  ['a folded header', send(request({ headers: 'X-Folded: a\r\n b\r\n' })), anyEnd],
  ['a space before the colon', send(request({ headers: 'X-Space : a\r\n' })), anyEnd],
  ['HTTP/0.9', send('GET /\r\n'), anyEnd],
  ['HTTP/1.0 without Host', send('GET / HTTP/1.0\r\n\r\n'), anyEnd],
  ['HTTP/1.0 kept open', send(request({ version: '1.0', headers: 'Connection: keep-alive\r\n' })), anyEnd],
  ['HTTP/3.7', send(request({ version: '3.7' })), anyEnd],
  ['the preface of HTTP/2', send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'), anyEnd],
  ['a TLS greeting', send(tlsHello), anyEnd],
  ['a TLS greeting and silence', send(tlsHello), linger],
  ['random bytes', send(({ random }) => random.bytes(random.between(1, 600))), anyEnd],
  ['a request with some bytes wrong', send(mutated), anyEnd],
  ['empty lines', send('\r\n'.repeat(200)), anyEnd],

  ['absolute form', send((visit) => request()(visit).replace(' /', ` http://${visit.host}/`)), anyEnd],
  ['OPTIONS *', send((visit) => `OPTIONS * HTTP/1.1\r\nHost: ${visit.host}\r\n\r\n`), anyEnd],
  ['TRACE', send(request({ method: 'TRACE' })), anyEnd],
  ['HEAD', send(request({ method: 'HEAD' })), awaitResponse(), anyEnd],
  [
    'QUERY',
    send(request({ method: 'QUERY', path: `${api}/fetch-options`, headers: sessionHeaders, body: '{}' })),
    anyEnd,
  ],
  ['an unknown method', send(request({ method: 'BREW' })), anyEnd],
  ['Range', send(request({ path: '/photo.jpg', headers: 'Range: bytes=0-99\r\n' })), awaitResponse(), anyEnd],
  ['an ambiguous path', send(request({ path: '/%2e%2e/%zz' })), anyEnd],
  ['a hash in the target', send(request({ path: '/wp-login.php?x#y' })), anyEnd],

  ['the login page', send(request({ path: '/wp-login.php' })), awaitResponse(), anyEnd],
  ['a login', send(login), awaitResponse(), anyEnd],
  ['a login, then reset', send(login), pause(0, 20), reset],
  ['a login in slow bytes', sendSlowly(login, 20, 40), anyEnd],
  ['a login that stops', send((visit) => login(visit).slice(0, -3)), linger],
  [
    'XML-RPC with many calls',
    send(request({ method: 'POST', path: '/xmlrpc.php', headers: 'Content-Type: text/xml\r\n', body: multicall })),
    anyEnd,
  ],
  [
    'Basic credentials',
    send(request({ path: '/wp-json/wp/v2/users/me', headers: 'Authorization: Basic YTpi\r\n' })),
    anyEnd,
  ],
  ['wp-admin', send(request({ path: '/wp-admin/' })), awaitResponse(), anyEnd],

  ['the API with broken JSON', send(settingsCall('{"disable_xml_rpc":')), awaitResponse(), anyEnd],
  ['the API with an invented session', send(settingsCall('{"disable_xml_rpc":1}')), awaitResponse(), anyEnd],
  ['the API, reset at once', send(settingsCall('{"disable_xml_rpc":1}')), pause(0, 10), reset],
  ['the API, ten calls in one packet', send(several(10, settingsCall('{"disable_xml_rpc":1}'))), anyEnd],
  [
    'the API with a body that stops',
    send((visit) => settingsCall('{"disable_xml_rpc":1}')(visit).slice(0, -4)),
    linger,
  ],
  [
    'the API with a body that is cut',
    send((visit) => settingsCall('{"disable_xml_rpc":1}')(visit).slice(0, -4)),
    anyEnd,
  ],
  ['the API with a body of another type', send(request({ method: 'POST', path: `${api}/2fa`, body: 'a=b' })), anyEnd],
  ['the API with a huge body', send(settingsCall(`"${'a'.repeat(2_000_000)}"`)), anyEnd],
  [
    'the API in chunks',
    send(request({ method: 'POST', path: `${api}/2fa`, headers: 'Transfer-Encoding: chunked\r\n' })),
    send('2\r\n{}\r\n0\r\n\r\n'),
    anyEnd,
  ],
  [
    'a command of guard’s own',
    send(
      request({ method: 'POST', path: '/index.php?rest_route=/security-optimizer-connector/v1/policy', body: '{}' }),
    ),
    anyEnd,
  ],
];
