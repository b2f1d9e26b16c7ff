import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { startService } from '@security-optimizer/sandbox/lib/service';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import { fakeConnector } from '../http/fake-connector.js';

export const page = `<!doctype html><title>A page</title><p>${'A plain page. '.repeat(70)}</p>\n`;
export const downloadBytes = 100_000;

/** Pieces of a slow download. */
const PIECES = 50;
/** How long a password check takes at most, milliseconds: some are under way at each end of guard. */
const CHECK_MS = 120;

/** The web server behind guard: nginx for files, where it is installed, and a program in place of PHP. */
export interface WebServer {
  readonly url: string;
  /** Number of password checks by address. */
  readonly checks: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Starts it. @param secret the one that guard and the connector share */
export async function startWebServer(dir: string, secret: string): Promise<WebServer> {
  const checks = new Map<string, number>();
  const connector = fakeConnector(secret);
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const command = /rest_route=\/security-optimizer-connector\/v1\/([a-z-]+)$/.exec(request.url ?? '')?.[1];
    connector.sign(request, response);
    if (command !== undefined) connector.handleCommand(command, request, response);
    else answer(request, response, checks);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const application = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const programs = findPrograms();
  if (typeof programs === 'string') return { url: application, checks, stop: close };
  const nginx = await startNginx(dir, programs.nginx, application);
  const stop = async (): Promise<void> => {
    await nginx.stop();
    await close();
  };
  return { url: nginx.url, checks, stop };
}

function answer(request: IncomingMessage, response: ServerResponse, checks: Map<string, number>): void {
  const url = new URL(request.url ?? '/', 'http://site.invalid');
  const address = String(request.headers['x-forwarded-for']);
  const isCheck = request.method === 'POST' && url.pathname === '/wp-login.php';
  if (isCheck) checks.set(address, (checks.get(address) ?? 0) + 1);
  const hash = createHash('sha256');
  request.on('data', (piece: Buffer) => hash.update(piece));
  request.on('end', () => {
    if (isCheck) setTimeout(() => response.end(page), Math.random() * CHECK_MS);
    else if (url.pathname === '/download') void download(response, Number(url.searchParams.get('ms')));
    else response.end(request.method === 'POST' ? hash.digest('hex') : page);
  });
}

/** Sends a body that takes this long, milliseconds. */
function download(response: ServerResponse, ms: number): void {
  response.setHeader('Content-Length', downloadBytes);
  let left = PIECES;
  const timer = setInterval(() => {
    if (--left > 0) response.write(Buffer.alloc(downloadBytes / PIECES, 'd'));
    else response.end(Buffer.alloc(downloadBytes / PIECES, 'd'));
  }, ms / PIECES);
  response.once('close', () => clearInterval(timer));
}

/** An nginx whose pages are files. All other requests are for the application. */
async function startNginx(
  dir: string,
  command: string,
  application: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = await findFreePort();
  const root = join(dir, 'nginx');
  mkdirSync(root);
  for (let number = 0; number < 5; number++) writeFileSync(join(root, `page-${number}.html`), page);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const file = join(root, 'nginx.conf');
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;\n' : ''}worker_processes 1;
daemon off;
pid "${root}/nginx.pid";
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  types { text/html html; }
  client_max_body_size 0;
${temporary.map((name) => `  ${name}_temp_path "${root}/${name}";`).join('\n')}
  server {
    listen 127.0.0.1:${port};
    root "${root}";
    location / {
      proxy_pass ${application};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_request_buffering off;
      proxy_buffering off;
    }
    location /page- { }
  }
}
`,
  );
  const url = `http://127.0.0.1:${port}`;
  const service = await startService({
    ...{ name: 'nginx', command, args: ['-c', file, '-p', root, '-e', 'stderr'] },
    ...{ pidFile: join(root, 'nginx.json'), logFile: join(root, 'nginx.log') },
    ready: () => answersHttp(`${url}/page-0.html`),
    readySeconds: 90,
  });
  return { url, stop: service.stop };
}
