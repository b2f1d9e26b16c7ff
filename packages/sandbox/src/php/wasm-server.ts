import { readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import send from '@fastify/send';
import { createPhpPool, type PhpPool, type PhpResult } from './wasm-pool.js';
import type { WorkerSetup } from './wasm-worker.js';

/** Settings of the web server in front of PHP in WebAssembly. It sends static files itself. */
interface WasmServerSettings {
  readonly port: number;
  readonly root: string;
  readonly setup: WorkerSetup;
}

const MAX_BODY_BYTES = 1024 ** 3;

function startServer({ port, root, setup }: WasmServerSettings): void {
  const pool = createPhpPool(setup, 4);
  const server = createServer((request, response) => {
    handle(root, pool, request, response).catch((error: Error) => {
      process.stderr.write(`${request.method} ${request.url}: ${error.message}\n`);
      if (response.headersSent) response.destroy();
      else sendStatus(response, 502, 'Bad Gateway');
    });
  });
  // Uploads may take long, and guard keeps connections open for the next request.
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
    return sendStatus(response, target.status, target.status === 400 ? 'Bad Request' : 'Forbidden');
  if (target.kind === 'redirect') {
    response.writeHead(301, { location: target.location, 'content-length': 0 }).end();
    return;
  }
  if (target.kind === 'file') return sendFile(root, target.path, request, response);
  const body = await readBody(request);
  if (body === null) return sendStatus(response, 413, 'Content Too Large');
  const result = await pool.run({
    kind: 'run',
    script: root + target.script,
    env: {},
    request: {
      method: request.method ?? 'GET',
      uri: request.url ?? '/',
      headers: joinHeaders(request),
      server: toServerVariables(root, target, request),
      body,
    },
  });
  if (result.errors !== '') process.stderr.write(`${result.errors}\n`);
  sendResult(request, response, result);
}

async function sendFile(root: string, path: string, request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return sendStatus(response, 405, 'Method Not Allowed');
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

/** Reads the complete body, because PHP needs it as a whole; null if it exceeds PHP's limit. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_BODY_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function joinHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

function toServerVariables(root: string, target: Extract<Target, { kind: 'php' }>, request: IncomingMessage) {
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

function sendStatus(response: ServerResponse, status: number, text: string): void {
  const page = `<!DOCTYPE html><title>${status} ${text}</title><h1>${status} ${text}</h1>\n`;
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length }).end(page);
}

type Target =
  | { readonly kind: 'php'; readonly script: string; readonly pathInfo: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'error'; readonly status: 400 | 403 };

/**
 * Resolves a request target as nginx does with the usual rules for WordPress: existing files are sent, `*.php` runs with
 * path-info, everything else goes to /index.php. `php/router.php` has the same rules.
 */
function resolveTarget(root: string, target: string): Target {
  const [address = '', query = ''] = splitOnce(target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, ''), '?');
  const path = normalisePath(address);
  if (path === null) return { kind: 'error', status: 400 };
  const script = /^(.+?\.php)(\/.*)?$/s.exec(path);
  if (script?.[1] !== undefined && isKind(root, script[1], 'file')) {
    return { kind: 'php', script: script[1], pathInfo: script[2] ?? '' };
  }
  if (isKind(root, path, 'folder')) return resolveFolder(root, path, query);
  if (isKind(root, path, 'file')) return { kind: 'file', path };
  return { kind: 'php', script: '/index.php', pathInfo: '' };
}

/** Decodes the path once, merges slashes and resolves dot segments; null if nginx would respond 400. */
function normalisePath(text: string): string | null {
  const [raw = ''] = splitOnce(text, '#');
  if (raw === '') return '/';
  if (/%(?![0-9a-f]{2})/i.test(raw)) return null;
  const path = decodeBytes(raw);
  if (!path.startsWith('/') || path.includes('\0')) return null;
  const headers: string[] = [];
  let last = '';
  for (const segment of path.split('/')) {
    last = segment;
    if (segment === '..') {
      if (headers.pop() === undefined) return null;
    } else if (segment !== '' && segment !== '.') {
      headers.push(segment);
    }
  }
  const folder = last === '' || last === '.' || last === '..';
  return `/${headers.join('/')}${folder && headers.length > 0 ? '/' : ''}`;
}

function resolveFolder(root: string, path: string, query: string): Target {
  if (!path.endsWith('/')) {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return { kind: 'redirect', location: `${encoded}/${query === '' ? '' : `?${query}`}` };
  }
  if (isKind(root, `${path}index.php`, 'file')) return { kind: 'php', script: `${path}index.php`, pathInfo: '' };
  if (isKind(root, `${path}index.html`, 'file')) return { kind: 'file', path: `${path}index.html` };
  return path === '/' ? { kind: 'php', script: '/index.php', pathInfo: '' } : { kind: 'error', status: 403 };
}

function isKind(root: string, path: string, kind: 'file' | 'folder'): boolean {
  try {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    // A path with a trailing slash is no file: `/readme.html/`.
    if (kind === 'file') return stat?.isFile() === true && !path.endsWith('/');
    return stat?.isDirectory() === true;
  } catch {
    return false;
  }
}

function decodeBytes(text: string): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

// The program of the server process. Its only argument is the path of its settings file.
startServer(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as WasmServerSettings);
