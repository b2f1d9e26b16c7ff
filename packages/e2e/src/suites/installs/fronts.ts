import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { apacheFile, apacheServer, nginxFile, nginxServer } from './front-by-guide.js';
import { projectDir, replaceAll } from './helpers.js';
import { HOST } from './site-behind.js';

/** Servers in front of guard, each with its example of the guide, with TLS. */

/** A certificate for the site. */
export interface Certificate {
  readonly crt: string;
  readonly key: string;
  /** The certificate with its key in one file. */
  readonly pem: string;
  /** The text of the certificate. */
  readonly ca: string;
}

/** Makes a certificate in a folder. */
export function makeCertificate(dir: string): Certificate {
  mkdirSync(dir, { recursive: true });
  const [crt, key, pem] = [join(dir, 'site.crt'), join(dir, 'site.key'), join(dir, 'site.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${HOST}`, '-days', '2'];
  execFileSync('openssl', [...made, '-keyout', key, '-out', crt], { stdio: 'ignore' });
  const ca = readFileSync(crt, 'utf8');
  writeFileSync(pem, readFileSync(key, 'utf8') + ca);
  return { crt, key, pem, ca };
}

interface Place {
  /** An empty folder for the server. */
  readonly dir: string;
  readonly certificate: Certificate;
  /** Port with TLS. */
  readonly tls: number;
  /** Guard: a port of this machine, or a socket file. */
  readonly guard: number | string;
}

interface StartedFront {
  /** In the order of their start. */
  readonly services: readonly Service[];
  /** Where it listens, if not on the given port of 127.0.0.1. */
  readonly at?: { readonly host: string; readonly port: number };
  /** Port of the cache, for a server that speaks the PROXY protocol. */
  readonly cache?: number;
}

export type StartFront = (place: Place) => Promise<StartedFront>;

/** An example of the guide with the names of this machine. Each replaced text must exist. */
function example(name: string, table: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(projectDir, 'docs/operator/examples', name), 'utf8');
  for (const from of Object.keys(table)) if (!text.includes(from)) throw new Error(`${name} does not hold ${from}`);
  return replaceAll(text, table);
}

const isListening = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

function run(
  dir: string,
  name: string,
  args: readonly string[],
  port: number,
  more: { readonly env?: Readonly<Record<string, string>>; readonly host?: string } = {},
): Promise<Service> {
  return startService({
    ...{ name, command: name, args, readySeconds: 90 },
    env: { ...process.env, ...more.env },
    pidFile: join(dir, `${name}.json`),
    logFile: join(dir, `${name}.log`),
    ready: () => isListening(port, more.host),
  });
}

/** @param change changes the example */
export function nginxInFront(change = (text: string) => text): StartFront {
  return async ({ dir, certificate, tls, guard }) => {
    const to = typeof guard === 'number' ? guard : 1;
    let server = change(nginxServer({ dir, tls, to, lines: '', name: 'guard' }));
    if (typeof guard === 'string') server = server.replace('http://guard;', `http://unix:${guard};`);
    server = replaceAll(server, { [join(dir, 'site.crt')]: certificate.crt, [join(dir, 'site.key')]: certificate.key });
    const file = join(dir, 'front.conf');
    writeFileSync(file, nginxFile(dir, server));
    return { services: [await run(dir, 'nginx', ['-c', file, '-p', dir, '-e', 'stderr'], tls)] };
  };
}

export const apacheInFront: StartFront = async ({ dir, certificate, tls, guard }) => {
  const server = replaceAll(apacheServer({ dir, tls, to: Number(guard), lines: 'Protocols h2 http/1.1', name: '' }), {
    [join(dir, 'site.crt')]: certificate.crt,
    [join(dir, 'site.key')]: certificate.key,
  });
  const file = join(dir, 'front.conf');
  const h2 = 'LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so';
  writeFileSync(file, `${h2}\n${apacheFile(dir, server)}`);
  return { services: [await run(dir, 'apache2', ['-DFOREGROUND', '-f', file], tls)] };
};

export const caddyInFront: StartFront = async ({ dir, certificate, tls, guard }) => {
  const site = example('Caddyfile', {
    'example.com {': `https://${HOST}:${tls} {\n\tbind 127.0.0.1\n\ttls ${certificate.crt} ${certificate.key}`,
    '127.0.0.1:8080': `127.0.0.1:${guard}`,
  });
  const file = join(dir, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  const env = { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir };
  return { services: [await run(dir, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], tls, { env })] };
};

/** Without a TLS field in the header, https is the port that the visitor connected to. */
export const V1_AT = { host: '127.0.96.1', port: 443 };

/** @param version of the PROXY header; the first one has no field for TLS */
export function haproxyInFront(version: 1 | 2): StartFront {
  return async ({ dir, certificate, tls, guard }) => {
    const plain = await findFreePort();
    const at = version === 1 ? V1_AT : { host: '127.0.0.1', port: tls };
    const config = example('haproxy.cfg', {
      'bind :443': `bind ${at.host}:${at.port}`,
      'bind :80': `bind 127.0.0.1:${plain}`,
      'crt /etc/ssl/private/example.com.pem': `crt ${certificate.pem}`,
      'server guard 127.0.0.1:8080': `server guard 127.0.0.1:${guard}`,
      'maxconn 20000': 'maxconn 1000',
      ...(version === 1 ? { 'send-proxy-v2-ssl': 'send-proxy' } : {}),
    });
    const file = join(dir, 'haproxy.cfg');
    writeFileSync(file, config);
    return { at, services: [await run(dir, 'haproxy', ['-db', '-f', file], at.port, { host: at.host })] };
  };
}

/** Varnish between HAProxy and guard. */
export const varnishInFront: StartFront = async (place) => {
  const { dir, guard } = place;
  const port = await findFreePort();
  const text = example('varnish-front.vcl', { '"8080"': `"${guard}"` });
  const file = join(dir, 'front.vcl');
  writeFileSync(file, text);
  const parameters = /(-p http_req_hdr_len.*)$/m.exec(text)?.[1];
  if (parameters === undefined) throw new Error('The example names no parameters.');
  const listen = ['-F', '-n', join(dir, 'varnish'), '-a', `127.0.0.1:${port},PROXY`, '-f', file, '-s', 'malloc,32m'];
  // The jail would change to a user who can't read the folder of the test.
  const varnish = await run(dir, 'varnishd', ['-j', 'none', ...listen, ...parameters.split(' ')], port);
  try {
    const { services } = await haproxyInFront(2)({ ...place, guard: port });
    return { services: [varnish, ...services], cache: port };
  } catch (error) {
    await varnish.stop();
    throw error;
  }
};

/** The programs of the list that are not installed. */
export const missingPrograms = (...programs: readonly string[]): readonly string[] =>
  programs.filter((program) => spawnSync(program, ['-v']).error !== undefined);
