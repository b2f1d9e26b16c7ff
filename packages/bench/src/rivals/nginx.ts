import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { startService } from '@security-optimizer/sandbox/lib/service';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import type { Bench } from '../measure.js';
import type { Server } from './node-program.js';

/** Starts an nginx. @param config creates the content of its `http` block for a port */
async function startNginx(bench: Bench, name: string, config: (port: number) => string, workers = 1): Promise<Server> {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const dir = join(bench.dir, `${name}-${port}`);
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'nginx.conf');
  writeFileSync(file, formatConfig(dir, config(port), workers));
  const service = bench.stopAtEnd(
    await startService({
      name: `nginx ${name}`,
      command: programs.nginx,
      args: ['-c', file, '-p', dir, '-e', 'stderr'],
      pidFile: join(dir, 'nginx.json'),
      logFile: join(dir, 'nginx.log'),
      ready: () => answersHttp(`${url}/`),
      readySeconds: 90,
    }),
  );
  return { url, pid: service.pid, stop: service.stop };
}

/** Unlimited keep-alive and no access log, as in guard. */
function formatConfig(dir: string, http: string, workers: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}worker_processes ${workers};
daemon off;
pid "${dir}/nginx.pid";
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  default_type text/html;
  keepalive_requests 1000000000;
  client_max_body_size 1g;
${temporary.map((name) => `  ${name}_temp_path "${dir}/${name}";`).join('\n')}
${http}
}
`;
}

/** Refuses by `deny`: all of loopback, or one client of a proxy on loopback (`set_real_ip_from`). */
export function startNginxDeny(bench: Bench, client?: string, workers = 1): Promise<Server> {
  const realIp = 'set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; real_ip_recursive on;';
  const denied = client === undefined ? 'deny all;' : `deny ${client}; ${realIp}`;
  return startNginx(bench, 'deny', (port) => `server { listen 127.0.0.1:${port}; location / { ${denied} } }`, workers);
}

/** Forwards all but `xmlrpc.php` by `proxy_pass`. It streams bodies in both directions, as guard does. */
export function startNginxProxy(bench: Bench, upstream: string, workers = 1): Promise<Server> {
  return startNginx(
    bench,
    'proxy',
    (port) => `
  upstream site { server ${new URL(upstream).host}; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location = /xmlrpc.php { deny all; }
    location / {
      proxy_pass http://site;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }`,
    workers,
  );
}

/** Serves one static file of 1,000 bytes. */
export function startNginxFile(bench: Bench): Promise<Server> {
  const root = join(bench.dir, 'static');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'index.html'), 'x'.repeat(1000));
  return startNginx(
    bench,
    'file',
    (port) => `
  sendfile on;
  open_file_cache max=10;
  server { listen 127.0.0.1:${port}; root "${root}"; location = / { try_files /index.html =404; } }`,
  );
}

export interface PhpSite {
  readonly root: string;
  /** Further parameters for PHP. */
  readonly params?: Readonly<Record<string, string>>;
}

/** Serves a WordPress folder through PHP-FPM. */
export function startNginxPhp(bench: Bench, phpSocket: string, site: PhpSite): Promise<Server> {
  const params = {
    QUERY_STRING: '$query_string',
    REQUEST_METHOD: '$request_method',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
    SCRIPT_NAME: '/index.php',
    SCRIPT_FILENAME: '$document_root/index.php',
    REQUEST_URI: '$request_uri',
    DOCUMENT_ROOT: '$document_root',
    SERVER_PROTOCOL: '$server_protocol',
    REMOTE_ADDR: '$remote_addr',
    SERVER_NAME: '$host',
    SERVER_PORT: '$server_port',
    HTTP_HOST: '$http_host',
    ...site.params,
  };
  const block = (port: number) => `
  upstream php { server "unix:${phpSocket}"; }
  server {
    listen 127.0.0.1:${port};
    root "${site.root}";
    location / {
${Object.entries(params)
  .map(([name, value]) => `      fastcgi_param ${name} ${value};`)
  .join('\n')}
      fastcgi_buffers 16 32k;
      fastcgi_buffer_size 32k;
      fastcgi_pass php;
    }
  }`;
  return startNginx(bench, 'php', block);
}
