import { randomBytes } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';
import type { z } from 'zod';
import type { Clock } from '../lib/clock.js';
import type { SiteConfig, SiteFacts } from '../site.js';
import {
  type HelloAnswer,
  helloAnswer,
  type PolicyNotes,
  policyAnswer,
  type SessionAnswer,
  sessionAnswer,
} from './connector-answers.js';
import { ConnectorError } from './connector-error.js';
import {
  COMMAND_HEADER,
  commandHeader,
  GUARD_HEADER,
  guardHeader,
  keyId,
  readSignal,
  SIGNAL_HEADER,
} from './signature.js';

/** The largest answer that is read, bytes; a session or hello answer takes a few hundred. */
const MAX_ANSWER_BYTES = 256 * 1024;
const CONNECT_TIMEOUT_MS = 3000;
/** PHP in WebAssembly on a slow machine needs seconds for its first page. */
const ANSWER_TIMEOUT_MS = 20_000;

/** As whom a command travels: as the visitor whose call needs it, or as guard itself. */
export interface Sender {
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly requestId: string;
}

/** Commands to the connector of any site. Every method throws ConnectorError when the command was not carried out. */
export interface ConnectorClient {
  hello(site: SiteConfig): Promise<HelloAnswer>;
  /** Who sent this cookie and nonce? */
  session(
    site: SiteConfig,
    ask: { readonly cookie: string; readonly nonce: string | null; readonly sender: Sender },
  ): Promise<SessionAnswer>;
  /** Hands over a policy; resolves once WordPress has stored it. */
  policy(site: SiteConfig, push: { readonly hash: string; readonly policy: object }): Promise<PolicyNotes>;
  close(): Promise<void>;
}

/**
 * Speaks the commands of docs/connector-protocol.md.
 * @param facts what is known about a site, for the address under which WordPress expects to be called
 */
export function connectorClient(options: {
  clock: Clock;
  facts: (site: SiteConfig) => SiteFacts | null;
  /** Told of each command for a visitor or a change that failed, so that the site's state is looked at anew. */
  onFailed?: (site: SiteConfig) => void;
  answerTimeoutMs?: number;
}): ConnectorClient {
  const { clock, facts } = options;
  // pipelining 0: a connection per command. PHP servers drop idle connections when they like, and a command that died
  // on such a connection could not be told from one that was carried out.
  const agent = new Agent({ pipelining: 0, connections: 8, connect: { timeout: CONNECT_TIMEOUT_MS } });

  async function command<Schema extends z.ZodType>(
    site: SiteConfig,
    name: string,
    content: object,
    schema: Schema,
    visitor?: { sender: Sender; cookie: string },
  ): Promise<z.output<Schema>> {
    const known = facts(site);
    const sender = visitor?.sender ?? ownSender(site, known);
    const body = JSON.stringify(content);
    const time = Math.floor(clock() / 1000);
    const url = `${site.upstream}${homePath(site, known)}/index.php?rest_route=/security-optimizer-connector/v1/${name}`;
    const headers: Record<string, string> = {
      host: sender.host,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'Security Optimizer guard',
      [GUARD_HEADER]: guardHeader(site.secret, {
        time,
        requestId: sender.requestId,
        scheme: sender.scheme,
        address: sender.address,
      }),
      [COMMAND_HEADER]: commandHeader(site.secret, {
        command: name,
        time,
        nonce: randomBytes(16).toString('hex'),
        body,
      }),
    };
    if (visitor) headers.cookie = visitor.cookie;
    const answer = await exchange(agent, url, headers, body, options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS);
    verify(site, answer, sender.requestId);
    return parse(schema, name, answer);
  }

  const noticed = <Result>(site: SiteConfig, result: Promise<Result>): Promise<Result> => {
    result.catch(() => options.onFailed?.(site));
    return result;
  };

  return {
    hello: (site) => command(site, 'hello', {}, helloAnswer),
    session: (site, { cookie, nonce, sender }) =>
      noticed(site, command(site, 'session', { nonce }, sessionAnswer, { sender, cookie })),
    async policy(site, push) {
      const answer = await noticed(site, command(site, 'policy', push, policyAnswer));
      if (answer.policy !== push.hash)
        throw unreachable('the connector stored another policy than the one it was sent');
      return answer.notes;
    },
    close: () => agent.destroy(),
  };
}

/** The path as WordPress writes it: rules compare lower-case paths, a web server may not. */
function homePath(site: SiteConfig, known: SiteFacts | null): string {
  return known ? new URL(known.homeUrl).pathname.replace(/\/+$/, '') : (site.home ?? '');
}

/** Guard itself, under the address that WordPress knows as its own, so that no redirect to it gets in the way. */
function ownSender(site: SiteConfig, known: SiteFacts | null): Sender {
  const home = known ? new URL(known.homeUrl) : null;
  return {
    host: home?.host ?? site.hosts.find((host) => host !== '*') ?? new URL(site.upstream).host,
    scheme: home?.protocol === 'https:' ? 'https' : 'http',
    address: '127.0.0.1',
    requestId: randomBytes(8).toString('hex'),
  };
}

interface Answer {
  readonly status: number;
  readonly signal: string | undefined;
  readonly text: string;
}

async function exchange(
  dispatcher: Dispatcher,
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<Answer> {
  try {
    const response = await request(url, {
      method: 'POST',
      headers,
      body,
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop destroys the stream.
      if (bytes > MAX_ANSWER_BYTES) throw unreachable('its answer is too large');
      chunks.push(chunk);
    }
    const signal = response.headers[SIGNAL_HEADER.toLowerCase()];
    return {
      status: response.statusCode,
      signal: Array.isArray(signal) ? signal[0] : signal,
      text: Buffer.concat(chunks).toString('utf8'),
    };
  } catch (error) {
    throw error instanceof ConnectorError ? error : unreachable(plainCause(error), error);
  }
}

function verify(site: SiteConfig, { status, signal: value }: Answer, requestId: string): void {
  const signal = readSignal(site.secret, value, requestId);
  switch (signal.kind) {
    case 'ok':
      return;
    case 'other_secret':
      throw new ConnectorError({ kind: 'other_secret', keyId: signal.keyId });
    case 'missing':
      // A web server whose PHP is down answers by itself; that says nothing about the connector.
      if (status >= 500) throw unreachable(`it answered with HTTP status ${status}`);
      throw new ConnectorError({ kind: 'missing' });
    case 'invalid':
      throw unreachable(
        value === `1 ${keyId(site.secret)}`
          ? 'the connector did not accept the signature; compare the clocks of both machines'
          : 'its answer is not signed for this request',
      );
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, command: string, { status, text }: Answer): z.output<Schema> {
  if (status !== 200) throw unreachable(`the connector answered the command ${command} with HTTP status ${status}`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw unreachable(`the answer to the command ${command} is not JSON`, cause);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw unreachable(`the answer to the command ${command} has an unknown form`, parsed.error);
  return parsed.data;
}

function unreachable(cause: string, error?: unknown): ConnectorError {
  return new ConnectorError({ kind: 'unreachable', cause }, { cause: error });
}

const causeByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed in the middle',
  UND_ERR_SOCKET: 'the connection was closed in the middle',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time allowed',
  ENOTFOUND: 'its host name is unknown',
  EHOSTUNREACH: 'no way to its host',
};

function plainCause(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return 'no answer within the time allowed';
  return (code && causeByCode[code]) ?? message ?? 'unknown network error';
}
