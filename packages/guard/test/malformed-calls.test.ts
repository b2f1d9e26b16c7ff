import { METHODS } from 'node:http';
import { describe, expect, it } from 'vitest';
import { RawClient, toBody, toStatus } from './raw-client.js';
import { fakeConnector } from './support/fake-connector.js';
import { recordedLog } from './support/logs.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually } from './support/scratch.js';

const OWNER = ['Cookie: session=owner', 'X-WP-Nonce: owner-nonce'];
const BASE = '/wp-json/security-optimizer/v1';

async function start() {
  const log = recordedLog();
  const connector = await fakeConnector();
  const guard = await runningGuard(await dataFolderFor(connector), log.logger);
  const port = Number(new URL(guard.url).port);
  const write = (line: string, headers: readonly string[], body = ''): RawClient =>
    new RawClient(port).send(
      [`${line} HTTP/1.1`, 'Host: example.com', 'Connection: close', ...headers, '', body].join('\r\n'),
    );
  /** Status and code of the response. The code is `not in the envelope` when its body has another form. */
  const send = async (line: string, headers: readonly string[], body = ''): Promise<[number, string]> => {
    const received = await write(line, headers, body).end();
    return [toStatus(received), codeIn(received)];
  };
  /** Lines of the log that require attention. */
  const errors = (): string[] =>
    log
      .text()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));
  return { write, send, errors };
}

function codeIn(received: string): string {
  try {
    const body = JSON.parse(toBody(received)) as { code?: string; status?: number; data?: unknown };
    return body.status === toStatus(received) && 'data' in body ? (body.code ?? '') : 'not in the envelope';
  } catch {
    return 'not in the envelope';
  }
}

/** Request line, further headers, body, and the response of each. */
const malformed: readonly [what: string, line: string, headers: readonly string[], body: string, answer: unknown][] = [
  ['QUERY', `QUERY ${BASE}/rate`, [], '', [404, 'rest_no_route']],
  ['QUERY by the owner', `QUERY ${BASE}/rate`, OWNER, '', [404, 'rest_no_route']],
  ['QUERY with a body', `QUERY ${BASE}/rate`, ['Content-Length: 2'], '{}', [404, 'rest_no_route']],
  ['QUERY by rest_route', 'QUERY /?rest_route=/security-optimizer/v1/rate', [], '', [404, 'rest_no_route']],
  ['QUERY of the provider’s API', 'QUERY /wp-json/provider-settings/v1/x', [], '', [404, 'rest_no_route']],
  ['a length of zero in two digits', `POST ${BASE}/none`, ['Content-Length: 00'], '', [404, 'rest_no_route']],
  ['the same for an existing route', `POST ${BASE}/rate`, [...OWNER, 'Content-Length: 00'], '', [200, '']],
  [
    'an invalid media type',
    `POST ${BASE}/none`,
    ['Content-Type: //', 'Content-Length: 2'],
    '{}',
    [404, 'rest_no_route'],
  ],
  ['an empty media type', `POST ${BASE}/none`, ['Content-Type:', 'Content-Length: 2'], '{}', [404, 'rest_no_route']],
  ['a body that is not JSON', `POST ${BASE}/none`, ['Content-Length: 1'], '{', [400, 'invalid_json']],
  [
    'a body that is too large',
    `POST ${BASE}/none`,
    ['Content-Length: 70000'],
    'x'.repeat(70_000),
    [413, 'body_too_large'],
  ],
  ['a route with a broken escape', 'GET /?rest_route=/security-optimizer/v1/%25zz', [], '', [404, 'rest_no_route']],
  [
    'a route with an incomplete UTF-8 sequence',
    'GET /?rest_route=/security-optimizer/v1/%25ff',
    [],
    '',
    [404, 'rest_no_route'],
  ],
  ['a route with a question mark', 'GET /?rest_route=/security-optimizer/v1/a%3fb', [], '', [404, 'rest_no_route']],
  ['a route with a fragment', 'GET /?rest_route=/security-optimizer/v1/a%23b', [], '', [404, 'rest_no_route']],
  ['a route with a semicolon', 'GET /?rest_route=/security-optimizer/v1/a%3bb', [], '', [404, 'rest_no_route']],
  ['a route with spaces', 'GET /?rest_route=/security-optimizer/v1/a%20b', [], '', [404, 'rest_no_route']],
  [
    'a route with non-ASCII characters',
    'GET /?rest_route=/security-optimizer/v1/%e2%82%ac',
    [],
    '',
    [404, 'rest_no_route'],
  ],
  ['a route with dots', 'GET /?rest_route=/security-optimizer/v1/../../x', [], '', [404, 'rest_no_route']],
  ['a parameter that is too long', `POST ${BASE}/block-ip/${'1'.repeat(2000)}`, OWNER, '', [404, 'rest_no_route']],
  ['a parameter named __proto__', `POST ${BASE}/block-ip/__proto__`, OWNER, '', [400, 'invalid_input']],
  ['an Accept-Version header', `GET ${BASE}/none`, ['Accept-Version: 9'], '', [404, 'rest_no_route']],
  ['a deeply nested query', `GET ${BASE}/rate?a${'[b]'.repeat(2000)}=1`, OWNER, '', [200, '']],
];

describe('a malformed API request', () => {
  it.each(malformed)(
    'with %s gets a response in the envelope and is not logged as an error',
    async (_what, line, headers, body, response) => {
      const { send, errors } = await start();
      expect(await send(line, headers, body)).toEqual(response);
      expect(errors()).toEqual([]);
    },
  );

  it('with any HTTP method gets a status below 500, and none is logged as an error', async () => {
    const { write, errors } = await start();
    const sent = METHODS.filter((method) => method !== 'CONNECT').flatMap((method) =>
      [[], OWNER].flatMap((who) =>
        [[], ['Content-Length: 0'], ['Content-Length: 00'], ['Transfer-Encoding: chunked']].map(
          (framing) => [method, [...who, ...framing], framing[0]?.startsWith('T') ? '0\r\n\r\n' : ''] as const,
        ),
      ),
    );
    for (const [method, headers, body] of sent) {
      const status = toStatus(await write(`${method} ${BASE}/rate`, headers, body).end());
      expect([method, headers, status < 500]).toEqual([method, headers, true]);
      expect(status).toBeGreaterThanOrEqual(200);
    }
    expect(errors()).toEqual([]);
  });

  it.each([
    ['with a length', ['Content-Length: 10'], '{"a"'],
    ['in chunks', ['Transfer-Encoding: chunked'], '5\r\n{"a"'],
  ])('whose body is cut off (%s) is not logged as an error', async (_how, headers, body) => {
    const { write, send, errors } = await start();
    for (const who of [[], OWNER]) {
      for (const suffix of ['none', 'disable-feeds']) {
        const client = write(`POST ${BASE}/${suffix}`, [...who, ...headers], body);
        await eventually(() => client.socket.bytesWritten > 0);
        // Guard has read the head, and waits for the rest.
        await send(`GET ${BASE}/none`, []);
        client.socket.resetAndDestroy();
      }
    }
    await send(`GET ${BASE}/rate`, OWNER);
    await send(`GET ${BASE}/rate`, OWNER);
    expect(errors()).toEqual([]);
  });
});
