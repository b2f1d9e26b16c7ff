import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually, scratchFolder } from './scratch.js';

/** Whether these programs are installed. */
export const areInstalled = (...programs: string[]): boolean =>
  programs.every((program) => spawnSync(program, ['-v']).error === undefined);

/** Below the ports that systems give to connections and to servers without a port of their own, from 32768 on. */
const [FIRST_PORT, LAST_PORT] = [10_000, 32_000];

/** A port of this machine on which nothing listens, and which no other program is given until the caller uses it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/**
 * A certificate for example.com in a separate folder.
 * @param days validity
 */
export async function certificate(days = 2): Promise<{ folder: string; key: string; crt: string }> {
  const folder = await scratchFolder();
  const [key, crt] = [join(folder, 'site.key'), join(folder, 'site.crt')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=example.com', '-days', String(days)];
  spawnSync('openssl', [...made, '-keyout', key, '-out', crt]);
  return { folder, key, crt };
}

/** The text of an example with replacements. Each replaced text must exist. */
export async function readExample(name: string, replaced: Readonly<Record<string, string>>): Promise<string> {
  let text = await readFile(new URL(`../../../../docs/operator/examples/${name}`, import.meta.url), 'utf8');
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`${name} does not hold ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/**
 * Runs nginx with these servers until the end of the test.
 * @param folder a folder that it may write to
 * @param tls port of one of them
 */
export async function runNginx(folder: string, servers: readonly string[], tls: number): Promise<void> {
  await runProxy('nginx', await writeNginxConfig(folder, servers), tls);
}

/** Writes the configuration of an nginx with these servers. @returns the arguments of the program */
export async function writeNginxConfig(folder: string, servers: readonly string[]): Promise<readonly string[]> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const config = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    ...['daemon off;', `pid ${folder}/pid;`, 'events {}', 'http {', 'access_log off;', ...temporary, ...servers, '}'],
  ];
  await writeFile(join(folder, 'nginx.conf'), config.join('\n'));
  return ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', 'stderr'];
}

/** Runs a proxy until the end of the test. Resolves when it responds by TLS on this port. */
export async function runProxy(program: string, args: readonly string[], tls: number, env = {}): Promise<void> {
  await runServer(program, args, async () => (await getByTls(tls).catch(() => null)) !== null, env);
}

/** Runs a server until the end of the test. Resolves when it is ready. */
export async function runServer(
  program: string,
  args: readonly string[],
  isReady: () => Promise<boolean>,
  env = {},
): Promise<void> {
  const proxy = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  onTestFinished(async () => {
    proxy.kill('SIGTERM');
    if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, 'exit');
  });
  let log = '';
  for (const stream of [proxy.stdout, proxy.stderr]) {
    stream.on('data', (chunk) => {
      log += chunk;
    });
  }
  await eventually(async () => {
    if (proxy.exitCode !== null) throw new Error(log);
    return isReady();
  });
}

/**
 * Sends a GET request by TLS.
 * @param localAddress the address of this machine from which the visitor connects
 */
export function getByTls(
  port: number,
  path = '/page',
  headers: Record<string, string> = {},
  localAddress = '127.0.0.1',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const visitor = { localAddress, rejectUnauthorized: false, servername: 'example.com', agent: false };
    request({ host: '127.0.0.1', port, path, headers: { host: 'example.com', ...headers }, ...visitor }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}
