import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answersHttp, findFreePort } from '../lib/ports.js';
import { type Service, startService } from '../lib/service.js';

/**
 * Configuration of nginx beyond what WordPress needs. `defaults`: none, so response headers may take one page of memory,
 * redirects to folders contain nginx's own port, and all visitors have guard's address. `tuned`: larger response headers,
 * redirects without a host, and the address of each visitor.
 */
export type NginxSetup = 'tuned' | 'defaults';

export interface NginxSettings {
  readonly dir: string;
  readonly port: number;
  readonly wordpressDir: string;
  readonly phpSocket: string;
  /** Run the workers as root too. Only root can do that. */
  readonly asRoot: boolean;
  readonly setup: NginxSetup;
}

/** The usual configuration for WordPress: try_files, path-info for PHP, uploads up to 1 GB; slashes are merged. */
function formatConfig(settings: NginxSettings): string {
  const { dir, port, wordpressDir, phpSocket, asRoot, setup } = settings;
  return `${asRoot ? 'user root;\n' : ''}worker_processes 2;
daemon off;
pid "${dir}/run/nginx.pid";
error_log stderr warn;
events { worker_connections 1024; }
http {
  include "${findMimeTypes()}";
  default_type application/octet-stream;
  access_log off;
  sendfile on;
  client_max_body_size 1g;
  client_body_temp_path "${dir}/tmp/nginx-body";
  proxy_temp_path "${dir}/tmp/nginx-proxy";
  fastcgi_temp_path "${dir}/tmp/nginx-fastcgi";
  uwsgi_temp_path "${dir}/tmp/nginx-uwsgi";
  scgi_temp_path "${dir}/tmp/nginx-scgi";
  server {
    listen 127.0.0.1:${port};
    server_name _;
    root "${wordpressDir}";
    index index.php index.html;
${setup === 'tuned' ? RELATIVE_REDIRECTS + VISITOR_ADDRESS : ''}
    location / {
      try_files $uri $uri/ /index.php?$args;
    }

    location ~ [^/]\\.php(/|$) {
      fastcgi_split_path_info ^(.+?\\.php)(/.*)$;
      if (!-f $document_root$fastcgi_script_name) { return 404; }
${formatFastcgiParams()}
${setup === 'tuned' ? LARGE_HEADERS : ''}      fastcgi_pass "unix:${phpSocket}";
    }
  }
}
`;
}

const RELATIVE_REDIRECTS = `    # Redirects without host and port, because visitors come by another address.
    absolute_redirect off;
`;

const VISITOR_ADDRESS = `    set_real_ip_from 127.0.0.1;
    real_ip_header X-Forwarded-For;
`;

const LARGE_HEADERS = `      fastcgi_read_timeout 300s;
      fastcgi_buffer_size 32k;
      fastcgi_buffers 16 32k;
`;

/** Starts nginx on a free loopback port. */
export async function startNginx(
  program: string,
  settings: Omit<NginxSettings, 'port'>,
): Promise<{ readonly upstream: string; readonly service: Service }> {
  const port = await findFreePort();
  const upstream = `http://127.0.0.1:${port}`;
  const file = join(settings.dir, 'nginx.conf');
  mkdirSync(join(settings.dir, 'tmp'), { recursive: true });
  writeFileSync(file, formatConfig({ ...settings, port }));
  const service = await startService({
    name: 'nginx',
    command: program,
    args: ['-c', file, '-p', settings.dir, '-e', 'stderr'],
    pidFile: join(settings.dir, 'run/nginx.json'),
    logFile: join(settings.dir, 'logs/nginx.log'),
    // A static file, because WordPress may refuse requests that do not come through guard.
    ready: () => answersHttp(`${upstream}/wp-includes/css/buttons.min.css`),
    readySeconds: 60,
  });
  return { upstream, service };
}

function findMimeTypes(): string {
  const file = ['/etc/nginx/mime.types', '/usr/local/etc/nginx/mime.types', '/opt/homebrew/etc/nginx/mime.types'].find(
    (path) => existsSync(path),
  );
  if (file === undefined) throw new Error('nginx has no mime.types in its usual places');
  return file;
}

/** The parameters for PHP, as in nginx's own fastcgi.conf. */
function formatFastcgiParams(): string {
  const params = {
    QUERY_STRING: '$query_string',
    REQUEST_METHOD: '$request_method',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
    SCRIPT_NAME: '$fastcgi_script_name',
    SCRIPT_FILENAME: '$document_root$fastcgi_script_name',
    PATH_INFO: '$fastcgi_path_info',
    REQUEST_URI: '$request_uri',
    DOCUMENT_URI: '$document_uri',
    DOCUMENT_ROOT: '$document_root',
    SERVER_PROTOCOL: '$server_protocol',
    REQUEST_SCHEME: '$scheme',
    GATEWAY_INTERFACE: 'CGI/1.1',
    SERVER_SOFTWARE: 'nginx/$nginx_version',
    REMOTE_ADDR: '$remote_addr',
    REMOTE_PORT: '$remote_port',
    SERVER_ADDR: '$server_addr',
    SERVER_PORT: '$server_port',
    SERVER_NAME: '$server_name',
    REDIRECT_STATUS: '200',
  };
  return Object.entries(params)
    .map(([name, value]) => `      fastcgi_param ${name} ${value};`)
    .join('\n');
}
