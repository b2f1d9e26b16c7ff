import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { version } from '@security-optimizer/guard/testing';

/** The connector's side of docs/developer/connector-protocol.md, as far as a guard that is never configured needs it. */
export function fakeConnector(secret: string) {
  const mac = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  const key = createHash('sha256').update(`security-optimizer key id\n${secret}`).digest('hex').slice(0, 8);
  let policy: string | null = null;
  const commandHandlers: Readonly<Record<string, (body: never) => object>> = {
    hello: () => ({
      connector: version,
      ...{ wordpress: '6.5.5', php: '8.2.0', multisite: false, timezone: 'UTC', locale: 'en_US', policy },
      ...{ home: 'http://example.com', site_url: 'http://example.com' },
      paths: {
        ...{ admin: '/wp-admin', includes: '/wp-includes', content: '/wp-content' },
        ...{ uploads: '/wp-content/uploads', rest: '/wp-json' },
      },
    }),
    session: () => ({ user: null, code: 'rest_cookie_invalid_nonce' }),
    policy: ({ hash }: { hash: string }) => {
      policy = hash;
      return { policy: hash, notes: [] };
    },
    events: () => ({ events: [], more: false }),
  };
  return {
    sign(request: IncomingMessage, response: ServerResponse): void {
      const id = String(request.headers['x-security-optimizer-guard']).split(' ')[3];
      const signal = `1 ${key} ${id} ${policy ?? '-'} ${version} -`;
      response.setHeader('X-Security-Optimizer-Signal', `${signal} ${mac(`connector-signal\n${signal}`)}`);
      if (request.method !== 'POST' || request.url?.startsWith('/wp-login.php') !== true) return;
      const report = { failed: [{ user: 'nobody', id: null, route: 'form' }], refused: 0, ok: null, factor: null };
      const login = `1 ${id} ${Buffer.from(JSON.stringify(report)).toString('base64url')}`;
      response.setHeader('X-Security-Optimizer-Login', `${login} ${mac(`connector-login\n${login}`)}`);
    },
    handleCommand(command: string, request: IncomingMessage, response: ServerResponse): void {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const answer = commandHandlers[command]?.(JSON.parse(Buffer.concat(pieces).toString() || '{}') as never);
        response.setHeader('Content-Type', 'application/json');
        response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? { code: 'rest_no_route' }));
      });
    },
  };
}
