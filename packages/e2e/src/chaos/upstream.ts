import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { fakeConnector } from '../http/fake-connector.js';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Writes bytes as they are, past the HTTP server. */
  raw(bytes: string): void;
  /** Calls a function periodically until the connection is closed. */
  every(ms: number, work: () => void): void;
}

const page = '<!doctype html><title>Chaos</title><p>A plain page.</p>\n';
const head = (fields: string) => `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${fields}\r\n`;

/**
 * Behaviours of the web server behind guard, by name. A request names one in its query. Bytes that are written directly
 * to the socket must not look like a complete response on a reusable connection, because the server would not answer
 * the next request on it.
 */
export const behaviours: Readonly<Record<string, (exchange: Exchange) => void>> = {
  normal: ({ request, response }) => {
    request.resume().on('end', () => response.end(page));
  },
  chunked: ({ request, response, every }) => {
    request.resume();
    let remaining = 5;
    every(5, () => (remaining-- > 0 ? void response.write(page) : void response.end()));
  },
  'never answers': ({ request }) => void request.resume(),
  'never reads': () => {},
  'slow head': ({ raw, every, socket }) => {
    const bytes = [...head(`Content-Length: ${page.length}\r\nConnection: close\r\n`), ...page];
    every(20, () => (bytes.length > 0 ? raw(bytes.splice(0, 8).join('')) : void socket.end()));
  },
  'slow body': ({ response, every }) => {
    response.writeHead(200, { 'content-length': 200 });
    every(50, () => void response.write('0123456789'));
  },
  'silent after the head': ({ response }) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('a part');
  },
  'cut in the head': ({ raw, socket }) => {
    raw('HTTP/1.1 200 OK\r\nContent-Ty');
    socket.end();
  },
  'reset in the head': ({ raw, socket }) => {
    raw('HTTP/1.1 200 OK\r\nContent-Ty');
    socket.resetAndDestroy();
  },
  'cut in the body': ({ raw, socket }) => {
    raw(`${head('Content-Length: 1000\r\n')}a part`);
    socket.end();
  },
  'cut in a chunk': ({ raw, socket }) => {
    raw(`${head('Transfer-Encoding: chunked\r\n')}100\r\na part`);
    socket.end();
  },
  'reset in the body': ({ raw, socket }) => {
    raw(`${head('Content-Length: 1000\r\n')}a part`);
    setTimeout(() => socket.resetAndDestroy(), 20);
  },
  'closes at once': ({ socket }) => void socket.end(),
  'resets at once': ({ socket }) => void socket.resetAndDestroy(),
  huge: ({ request, response }) => {
    request.resume();
    response.writeHead(200, { 'content-length': 8 * MEGABYTE.length });
    let remaining = 8;
    const more = (): void => {
      while (remaining > 0) {
        remaining -= 1;
        if (!response.write(MEGABYTE)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  },
  'huge head': ({ raw, socket }) => {
    raw(head(`X-Long: ${'a'.repeat(300_000)}\r\nContent-Length: 0\r\n`));
    socket.end();
  },
  events: ({ response, every }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    every(30, () => void response.write('data: tick\n\n'));
  },
  'unasked 101': ({ raw }) =>
    raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: chaos\r\nConnection: Upgrade\r\n\r\nhello'),
  garbage: ({ raw, socket }) => {
    raw('\u0000\u0001\u0002 this is no HTTP \r\n\r\n\u00ff\u00fe');
    socket.end();
  },
  'broken chunks': ({ raw }) => raw(`${head('Transfer-Encoding: chunked\r\n')}zz\r\nbroken\r\n`),
  'two lengths': ({ raw }) => raw(`${head('Content-Length: 3\r\nContent-Length: 5\r\n')}12345`),
  'more than was said': ({ raw }) => raw(`${head('Content-Length: 3\r\n')}123456789`),
  'two answers': ({ raw }) => raw(`${head('Content-Length: 3\r\n')}one${head('Content-Length: 3\r\n')}two`),
  'answers early': ({ response }) => void response.writeHead(200, { 'content-length': 5 }).end('early'),
  'answers early and closes': ({ raw, socket }) => {
    raw(`${head('Content-Length: 5\r\nConnection: close\r\n')}early`);
    socket.destroySoon();
  },
  'early hints': ({ request, response }) => {
    request.resume();
    response.writeEarlyHints({ link: '</a.css>; rel=preload' });
    setTimeout(() => response.end(page), 20);
  },
  'early hints for ever': ({ request, raw, every }) => {
    request.resume();
    every(20, () => raw('HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'));
  },
  'no content': ({ request, response }) => {
    request.resume();
    response.writeHead(204).end();
  },
  'until the end': ({ raw, socket }) => {
    raw(`${head('Connection: close\r\n')}no length`);
    setTimeout(() => socket.end(), 20);
  },
  'an error page': ({ request, response }) => {
    request.resume().on('end', () => response.writeHead(502).end('Bad Gateway'));
  },
};

const MEGABYTE = Buffer.alloc(1024 * 1024, 'chaos ');

/** A web server in place of WordPress, with the behaviour that each request names in its query. */
export interface ChaosUpstream {
  readonly origin: string;
  readonly port: number;
  /** Label of the last request on the open connection from that port. */
  getLabel(port: number): string | undefined;
  /** Number of requests so far. */
  requests(): number;
  close(): Promise<void>;
}

/**
 * Starts it. Guard's own commands are always answered as by a connector with `secret`, so that errors in the log are
 * about visitors only.
 */
export async function startChaosUpstream(secret: string): Promise<ChaosUpstream> {
  const connections = new Map<Socket, string>();
  const connector = fakeConnector(secret);
  let requests = 0;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    requests += 1;
    connections.set(socket, `${request.method} ${request.url?.slice(0, 120)}`);
    const command = /rest_route=\/security-optimizer-connector\/v1\/([a-z-]+)$/.exec(request.url ?? '')?.[1];
    connector.sign(request, response);
    if (command !== undefined) {
      connector.handleCommand(command, request, response);
      return;
    }
    const behaviour = /[?&]up=([^&\s]*)/.exec(request.url ?? '')?.[1] ?? 'normal';
    const behave = behaviours[behaviour.replaceAll('+', ' ')] ?? behaviours.normal;
    behave?.({
      request,
      response,
      socket,
      raw: (bytes) => void (socket.writable && socket.write(bytes, 'latin1')),
      every(ms, work) {
        const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : work()), ms);
        response.once('close', () => clearInterval(timer));
      },
    });
  };
  const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, maxHeaderSize: 1 << 20 });
  server.on('request', handle);
  server.on('checkContinue', (request, response) => {
    if (!/up=answers\+early/.test(request.url ?? '')) response.writeContinue();
    handle(request, response);
  });
  server.on('upgrade', (request, socket) => {
    requests += 1;
    connections.set(request.socket, `upgrade ${request.url}`);
    acceptWebSocket(request, socket);
  });
  server.on('clientError', (_error, socket) => void socket.destroy());
  server.on('connection', (socket) => {
    connections.set(socket, 'nothing yet');
    socket.on('error', () => socket.destroy());
    socket.once('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    getLabel: (from) => [...connections].find(([socket]) => socket.remotePort === from)?.[1],
    requests: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of connections.keys()) socket.destroy();
      }),
  };
}

/** A WebSocket that greets, echoes, or closes first, as the request asks. */
function acceptWebSocket(request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  const behaviour = /[?&]up=([^&\s]*)/.exec(request.url ?? '')?.[1] ?? 'normal';
  if (behaviour === 'closes+at+once') return void socket.end();
  if (behaviour === 'resets+at+once') return void request.socket.resetAndDestroy();
  if (behaviour === 'never+answers') return;
  if (behaviour === 'an+error+page') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on('data', (bytes) => void (socket.writable && socket.write(bytes)));
  if (behaviour === 'cut+in+the+body') setTimeout(() => socket.end(), 20);
  if (behaviour === 'reset+in+the+body') setTimeout(() => request.socket.resetAndDestroy(), 20);
}
