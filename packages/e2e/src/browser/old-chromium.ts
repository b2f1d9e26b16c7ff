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
import { repositoryDir } from '@security-optimizer/sandbox/cache-dir';
import { extract } from 'tar';
import { until } from '../stacks/until.js';

const PACKAGE = 'chrome-aws-lambda@64.0.3264';
const SHA512 = '3XpUhpg5Qlbq8V/Pk5gzfSqcq3wSlfT1N98yzDY8a+PrrROx9XUCntkg4W1ZmisqLsWhmRLZQrKtDjTRBttwig==';
const home = join(repositoryDir, '.cache/chromium-64');

/**
 * Path of a real Chromium 64, which is fetched from the npm registry once and kept in the cache folder; or, in words,
 * why there is none.
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
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(profile, { recursive: true, force: true });
  };
  try {
    const port = await until('Chromium 64 listens', () => /DevTools listening on ws:\/\/[^:]+:(\d+)\//.exec(said)?.[1]);
    return { port: Number(port), stop };
  } catch (error) {
    await stop();
    throw new Error(`Chromium 64 did not start: ${said.slice(-500)}`, { cause: error });
  }
}
