import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import send from '@fastify/send';
import { resolveTarget, type Target } from './resolve-path.js';
import type { WorkerSetup } from './wasm-messages.js';
import { createPhpPool, type PhpPool, type PhpResult } from './wasm-pool.js';

/** The web server in front of PHP in WebAssembly; it sends static files itself. */
export interface WasmServerSettings {
  readonly port: number;
  readonly root: string;
  readonly setup: WorkerSetup;
}

const maxBody = 1024 ** 3;

export function startWasmServer({ port, root, setup }: WasmServerSettings): void {
  const pool = createPhpPool(setup, 4);
  const server = createServer((request, response) => {
    handle(root, pool, request, response).catch((error: Error) => {
      process.stderr.write(`${request.method} ${request.url}: ${error.message}\n`);
      if (response.headersSent) response.destroy();
      else plain(response, 502, 'Bad Gateway');
    });
  });
  // Uploads may take their time, and guard keeps connections open for the next request.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 65_000;
  server.listen(port, '127.0.0.1');
  process.on('SIGTERM', () => {
    pool.close();
    process.exit(0);
  });
}

async function handle(root: string, pool: PhpPool, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = resolveTarget(root, request.url ?? '/');
  if (target.kind === 'error')
    return plain(response, target.status, target.status === 400 ? 'Bad Request' : 'Forbidden');
  if (target.kind === 'redirect') {
    response.writeHead(301, { location: target.location, 'content-length': 0 }).end();
    return;
  }
  if (target.kind === 'file') return sendFile(root, target.path, request, response);
  const body = await readBody(request);
  if (body === null) return plain(response, 413, 'Content Too Large');
  const result = await pool.run({
    kind: 'run',
    script: root + target.script,
    env: {},
    request: {
      method: request.method ?? 'GET',
      uri: request.url ?? '/',
      headers: flatHeaders(request),
      server: serverVariables(root, target, request),
      body,
    },
  });
  if (result.errors !== '') process.stderr.write(`${result.errors}\n`);
  sendResult(request, response, result);
}

async function sendFile(root: string, path: string, request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return plain(response, 405, 'Method Not Allowed');
  }
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const { statusCode, headers, stream } = await send(request, encoded, {
    root,
    dotfiles: 'allow',
    cacheControl: false,
  });
  response.writeHead(statusCode, headers);
  await pipeline(stream, response);
}

/** Reads the whole body, which PHP needs in one piece; null when it is longer than PHP's limit. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBody) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function flatHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

function serverVariables(root: string, target: Extract<Target, { kind: 'php' }>, request: IncomingMessage) {
  const host = request.headers.host ?? '127.0.0.1';
  return {
    DOCUMENT_ROOT: root,
    SCRIPT_NAME: target.script,
    SCRIPT_FILENAME: root + target.script,
    PHP_SELF: target.script + target.pathInfo,
    ...(target.pathInfo === '' ? {} : { PATH_INFO: target.pathInfo }),
    SERVER_NAME: host.replace(/:\d+$/, ''),
    SERVER_PORT: /:(\d+)$/.exec(host)?.[1] ?? '80',
    SERVER_PROTOCOL: `HTTP/${request.httpVersion}`,
    SERVER_SOFTWARE: 'nginx/1.22.1',
    REMOTE_ADDR: request.socket.remoteAddress ?? '127.0.0.1',
    REMOTE_PORT: String(request.socket.remotePort ?? 0),
    GATEWAY_INTERFACE: 'CGI/1.1',
  };
}

function sendResult(request: IncomingMessage, response: ServerResponse, result: PhpResult): void {
  const skip = new Set(['connection', 'transfer-encoding', 'content-length', 'status']);
  for (const [name, values] of Object.entries(result.headers)) {
    if (!skip.has(name.toLowerCase())) response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  }
  const bodyless = result.status === 204 || result.status === 304;
  if (!bodyless) response.setHeader('content-length', result.body.byteLength);
  response.writeHead(result.status);
  response.end(bodyless || request.method === 'HEAD' ? undefined : result.body);
}

function plain(response: ServerResponse, status: number, text: string): void {
  const page = `<!DOCTYPE html><title>${status} ${text}</title><h1>${status} ${text}</h1>\n`;
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length }).end(page);
}

// The program of the server process; its one argument names a file with its settings.
startWasmServer(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as WasmServerSettings);
