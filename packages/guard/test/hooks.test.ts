import { describe, expect, it } from 'vitest';
import type { Exchange, RequestHooks, ResponseHook } from '../src/hooks.js';
import { RawClient, toStatus } from './raw-client.js';
import { startGateway, webServer } from './running-gateway.js';
import { eventually } from './support/scratch.js';

const GET = 'GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** A hook for the response that records its calls. */
function recordingHook(calls: string[], change: Partial<ResponseHook> = {}): ResponseHook {
  return {
    outlivesClient: false,
    onReport(report, status) {
      calls.push(`report ${report} ${status}`);
      return null;
    },
    onHead(status) {
      calls.push(`head ${status}`);
      return 'send';
    },
    onNoResponse(sent) {
      calls.push(`no response, sent ${sent}`);
      return null;
    },
    ...change,
  };
}

/** The gateway with hooks, in front of a web server that returns the requested target. */
async function gatewayWith(hooks: Partial<RequestHooks>) {
  const reached: string[] = [];
  const port = await webServer((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    response.setHeader('X-Powered-By', 'PHP');
    response.end('from WordPress');
  });
  return { gateway: await startGateway(port, { hooks }), reached };
}

describe('a feature that responds to a request itself', () => {
  const responding: RequestHooks['onPage'] = (exchange) => {
    if (exchange.allowed.facts.path !== '/page') return false;
    exchange.prepareResponse();
    exchange.response.end('from a feature');
    return true;
  };

  it('sends its response with the headers of the rules, and WordPress gets nothing', async () => {
    const { gateway, reached } = await gatewayWith({ onPage: responding });
    gateway.rule({ options: { xss_protection: 1 } });
    const received = await new RawClient(gateway.port).send(GET).end();
    expect(received).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nContent-Security-Policy: [\s\S]*from a feature/i);
    expect(reached).toEqual([]);
    expect(gateway.visits.map(({ target, status, rule }) => `${target} ${status} ${rule}`)).toEqual(['/page 200 null']);
  });

  it('gets the body from a client that waits for 100 Continue', async () => {
    const { gateway } = await gatewayWith({ onPage: responding });
    const head =
      'POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n';
    const client = new RawClient(gateway.port).send(head);
    await client.until((text) => text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    expect(await client.send('ok').end()).toContain('from a feature');
  });

  it('leaves all other requests to WordPress', async () => {
    const { gateway, reached } = await gatewayWith({ onPage: responding });
    await new RawClient(gateway.port).send(GET.replace('/page', '/other')).end();
    expect(reached).toEqual(['GET /other']);
  });
});

describe('a feature that admits requests', () => {
  it('can allow a request later, and its response hook gets the report first and the head second', async () => {
    const calls: string[] = [];
    const { gateway, reached } = await gatewayWith({
      onAllowed: (_exchange, next) => void setTimeout(() => next.allow(null, recordingHook(calls)), 20),
    });
    expect(await new RawClient(gateway.port).send(GET).end()).toContain('from WordPress');
    expect(reached).toEqual(['GET /page']);
    expect(calls).toEqual(['report null 200', 'head 200']);
  });

  it('needs no hook for the response', async () => {
    const { gateway } = await gatewayWith({ onAllowed: (_exchange, next) => next.allow(null, null) });
    expect(await new RawClient(gateway.port).send(GET).end()).toContain('from WordPress');
  });

  it('can refuse a request with its own rule, which is recorded', async () => {
    const { gateway, reached } = await gatewayWith({
      onAllowed: (_exchange, next) =>
        next.refuse('login-limit', { kind: 'locked', until: Date.now() + 60_000, stage: 1 }),
    });
    expect(toStatus(await new RawClient(gateway.port).send(GET).end())).toBe(429);
    expect(gateway.visits.map(({ status, rule }) => `${status} ${rule}`)).toEqual(['429 login-limit']);
    expect(reached).toEqual([]);
  });

  it('can report that the client has disconnected, which is recorded', async () => {
    const { gateway, reached } = await gatewayWith({
      onAllowed: ({ response }, next) => void response.once('close', () => next.clientClosed()),
    });
    const client = new RawClient(gateway.port).send(GET);
    await eventually(() => gateway.server.connections === 1);
    client.socket.destroy();
    await eventually(() => gateway.visits.length === 1);
    expect(gateway.visits.map(({ status, rule }) => `${status} ${rule}`)).toEqual(['499 null']);
    expect(reached).toEqual([]);
  });

  it('has its response hook called when the gateway refuses the request afterwards', async () => {
    const calls: string[] = [];
    const { gateway, reached } = await gatewayWith({
      onAllowed: (_exchange, next) => next.allow({ path: `/${'x'.repeat(9000)}` }, recordingHook(calls)),
    });
    expect(toStatus(await new RawClient(gateway.port).send(GET).end())).toBe(414);
    expect(calls).toEqual(['no response, sent nothing']);
    expect(reached).toEqual([]);
  });

  it('has its response hook called when there is no response', async () => {
    const calls: string[] = [];
    const port = await webServer((request) => void request.socket.destroy());
    const gateway = await startGateway(port, {
      hooks: { onAllowed: (_exchange, next) => next.allow(null, recordingHook(calls)) },
    });
    expect(toStatus(await new RawClient(gateway.port).send(GET.replace('GET', 'DELETE')).end())).toBe(502);
    expect(calls).toEqual(['no response, sent whole']);
  });

  it('can distinguish the requests of one connection', async () => {
    const seen: Exchange[] = [];
    const { gateway } = await gatewayWith({
      onAllowed(exchange, next) {
        seen.push(exchange);
        next.allow(null, null);
      },
    });
    await new RawClient(gateway.port).send(`GET /first HTTP/1.1\r\nHost: a\r\n\r\n${GET}`).end();
    expect(seen.map(({ allowed }) => allowed.target)).toEqual(['/first', '/page']);
    expect(new Set(seen.map(({ requestId }) => requestId)).size).toBe(2);
  });
});

describe('a hook of a response', () => {
  it('can send another one, and the rest of WordPress’s is dropped', async () => {
    const { gateway } = await gatewayWith({
      onAllowed(exchange, next) {
        const onHead: ResponseHook['onHead'] = () => {
          exchange.prepareResponse();
          exchange.response.end('from a feature');
          return 'replaced';
        };
        next.allow(null, recordingHook([], { onHead }));
      },
    });
    const received = await new RawClient(gateway.port).send(GET).end();
    expect(received).toContain('from a feature');
    expect(received).not.toContain('from WordPress');
    expect(received).not.toContain('X-Powered-By');
  });

  it('can send the client the response of a missing page', async () => {
    const { gateway, reached } = await gatewayWith({
      onAllowed: (_exchange, next) => next.allow(null, recordingHook([], { onHead: () => 'decoy-404' })),
    });
    await new RawClient(gateway.port).send(GET).end();
    expect(reached).toHaveLength(2);
    expect(reached[1]).toMatch(/^GET \/(?!page$)/);
  });

  it('can add headers, before those of the rules', async () => {
    const { gateway } = await gatewayWith({
      onAllowed(_exchange, next) {
        const onHead: ResponseHook['onHead'] = (_status, headers) => {
          headers.push('Set-Cookie', 'a=1');
          return 'send';
        };
        next.allow(null, recordingHook([], { onHead }));
      },
    });
    expect(await new RawClient(gateway.port).send(GET).end()).toContain('Set-Cookie: a=1\r\n');
  });

  it('can hold the response back until data is stored', async () => {
    let store = (): void => {};
    const { gateway } = await gatewayWith({
      onAllowed(_exchange, next) {
        const stored = new Promise<void>((resolve) => {
          store = resolve;
        });
        next.allow(null, recordingHook([], { onReport: () => stored }));
      },
    });
    const client = new RawClient(gateway.port).send(GET);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(client.received).toBe('');
    store();
    expect(await client.end()).toContain('from WordPress');
  });
});

describe('the probe of an exchange', () => {
  it('requests the same target with the same method, with other headers and no body', async () => {
    const heads: string[] = [];
    const port = await webServer((request, response) => {
      heads.push(
        `${request.method} ${request.url} ${request.headers.authorization} ${request.headers['content-length']}`,
      );
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
    });
    let outcome: unknown;
    const gateway = await startGateway(port, {
      hooks: {
        onAllowed(exchange, next) {
          void exchange
            .probe(['Host', 'a', 'Authorization', 'Basic b3RoZXI=', 'Content-Length', '2'])
            .then(({ status, isSigned }) => {
              outcome = { status, isSigned };
              next.allow(null, null);
            });
        },
      },
    });
    const post = 'POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';
    await new RawClient(gateway.port).send(post).end();
    expect(outcome).toEqual({ status: 401, isSigned: false });
    expect(heads).toEqual(['POST /page Basic b3RoZXI= undefined', 'POST /page undefined 2']);
  });

  it('rejects when there is no response', async () => {
    let failed = false;
    const port = await webServer((request) => void request.socket.destroy());
    const gateway = await startGateway(port, {
      hooks: {
        onAllowed(exchange, next) {
          exchange.probe(exchange.request.rawHeaders).catch(() => {
            failed = true;
            next.refuse('login-limit', null);
          });
        },
      },
    });
    expect(toStatus(await new RawClient(gateway.port).send(GET).end())).toBe(429);
    expect(failed).toBe(true);
  });
});
