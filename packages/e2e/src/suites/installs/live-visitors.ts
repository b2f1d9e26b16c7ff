import { Agent, type RequestOptions, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

/** A page that a visitor requests repeatedly. */
interface Visit {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly target: string;
  readonly body?: string;
  /** Part of every answer. */
  readonly expected: string;
  /** Whether one connection is kept for all requests. */
  readonly keepAlive: boolean;
  /** Rest between an answer and the next request, milliseconds. */
  readonly restMs: number;
}

const VISITS: readonly Visit[] = [
  { name: 'front page', method: 'GET', target: '/', expected: '</html>', keepAlive: true, restMs: 300 },
  {
    name: 'login form',
    method: 'GET',
    target: '/wp-login.php',
    expected: 'user_login',
    keepAlive: false,
    restMs: 400,
  },
  { name: 'search', method: 'GET', target: '/?s=hello', expected: '</html>', keepAlive: true, restMs: 400 },
  {
    name: 'search by form',
    method: 'POST',
    target: '/',
    body: 's=hello',
    expected: '</html>',
    keepAlive: false,
    restMs: 500,
  },
  { name: 'REST', method: 'GET', target: '/wp-json/wp/v2/posts', expected: '"rendered"', keepAlive: true, restMs: 300 },
  { name: 'REST anew', method: 'GET', target: '/wp-json/', expected: '"namespaces"', keepAlive: false, restMs: 500 },
  {
    name: 'static',
    method: 'GET',
    target: '/wp-includes/css/buttons.min.css',
    expected: '.button',
    keepAlive: true,
    restMs: 80,
  },
  {
    name: 'static anew',
    method: 'GET',
    target: '/wp-includes/css/dashicons.min.css',
    expected: 'dashicons',
    keepAlive: false,
    restMs: 150,
  },
];

export interface VisitorResponse {
  readonly status: number;
  readonly body: string;
}

/** Where visitors reach the site. */
export interface SiteEndpoint {
  readonly host: string;
  readonly port: number;
}

/** One request over TLS from a local address. */
export function visit(
  { host, port }: SiteEndpoint,
  options: {
    readonly method?: string;
    readonly target: string;
    readonly body?: string;
    readonly from?: string;
    readonly agent?: Agent;
  },
): Promise<VisitorResponse & { readonly reused: boolean }> {
  const { method = 'GET', target, body, from = '127.0.0.1', agent } = options;
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(body?.length ?? 0) };
  const settings: RequestOptions = {
    host: '127.0.0.1',
    port,
    servername: host,
    // Self-signed, and made for this test.
    rejectUnauthorized: false,
    localAddress: from,
    method,
    path: target,
    headers: { host, 'user-agent': 'Mozilla/5.0 (live visitors)', ...(body === undefined ? {} : form) },
    agent: agent ?? false,
    timeout: 60_000,
  };
  return new Promise((resolve, reject) => {
    const sent = request(settings, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode as number, body: text, reused: sent.reusedSocket });
      });
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer within a minute')));
    sent.on('error', (error) => reject(Object.assign(error, { reused: sent.reusedSocket })));
    sent.end(body);
  });
}

export interface LiveVisitors {
  /** Labels the failures from now on. */
  during(step: string): void;
  /** Answers so far, by visit. */
  readonly answers: Readonly<Record<string, number>>;
  /** All failures that a visitor would have noticed. */
  readonly failures: readonly string[];
  /** Connections that closed while nginx was reloaded. Wrong responses are never included. */
  readonly cutByReload: readonly string[];
  /** Requests on a kept connection that the server had just closed. Browsers resend these silently. */
  readonly resent: number;
  stop(): Promise<void>;
}

/** Starts visitors that use the site continuously until they are stopped, each from its own address. */
export function startVisitors(endpoint: SiteEndpoint): LiveVisitors {
  const failures: string[] = [];
  const cutByReload: string[] = [];
  const answers: Record<string, number> = {};
  let step = 'the start';
  let resent = 0;
  let stopped = false;

  async function once(each: Visit, from: string, agent: Agent): Promise<VisitorResponse> {
    try {
      return await visit(endpoint, { ...each, from, agent });
    } catch (error) {
      const { code, reused } = error as { code?: string; reused?: boolean };
      // RFC 9110 section 9.2.2, and what every browser does.
      if (each.method !== 'GET' || reused !== true || !['ECONNRESET', 'EPIPE'].includes(code ?? '')) throw error;
      resent++;
      return await visit(endpoint, { ...each, from });
    }
  }

  async function use(each: Visit, index: number): Promise<void> {
    const agent = new Agent({ keepAlive: each.keepAlive, maxSockets: 1 });
    while (!stopped) {
      const at = step;
      try {
        const { status, body } = await once(each, `127.0.0.${10 + index}`, agent);
        answers[each.name] = (answers[each.name] ?? 0) + 1;
        if (status !== 200 || !body.includes(each.expected)) {
          failures.push(`${each.name} during ${at}: ${status} ${body.slice(0, 200)}`);
        }
      } catch (error) {
        // nginx itself sometimes closes a connection in use during a reload. A request that
        // began in the previous step may still be running then.
        const list = [at, step].some((each) => each.includes('nginx -s reload')) ? cutByReload : failures;
        list.push(`${each.name} during ${at}: ${(error as Error).message}`);
      }
      await pause(each.restMs);
    }
    agent.destroy();
  }

  const all = Promise.all(VISITS.map(use));
  return {
    during(next) {
      step = next;
    },
    answers,
    failures,
    cutByReload,
    get resent() {
      return resent;
    },
    async stop() {
      stopped = true;
      await all;
    },
  };
}
