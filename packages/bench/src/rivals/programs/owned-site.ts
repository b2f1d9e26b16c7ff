/**
 * A cheap upstream with a connector that takes every caller of the API for the owner. Arguments: its port, the site's
 * secret.
 *
 * GET /     a page of 1,000 bytes
 * POST /    the response to the command `session`, the only one
 */
import { createServer } from 'node:http';
import { GUARD_HEADER, keyId, SIGNAL_HEADER, signedText } from '@security-optimizer/guard/testing';

const [port, secret = ''] = process.argv.slice(2);
const page = Buffer.from('x'.repeat(1000));
const headers = ['Content-Type', 'text/html; charset=utf-8', 'Content-Length', '1000'];
const roles = ['administrator'];
const session = { user: { id: 1, login: 'owner', name: 'Owner', roles, can_manage: true }, locale: 'en_US' };

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(200, headers);
    response.end(page);
    return;
  }
  const requestId = String(request.headers[GUARD_HEADER.toLowerCase()]).split(' ')[3];
  const fields = `1 ${keyId(secret)} ${requestId} - 0.1.0 m`;
  const known = request.url?.endsWith('/session') === true;
  request.resume();
  response.writeHead(known ? 200 : 404, {
    'Content-Type': 'application/json',
    [SIGNAL_HEADER]: `${fields} ${signedText(secret, `connector-signal\n${fields}`)}`,
  });
  response.end(JSON.stringify(known ? session : { code: 'rest_no_route' }));
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1');
