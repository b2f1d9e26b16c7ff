import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Checksum {
  readonly algorithm: 'sha512' | 'sha1' | 'sha256';
  readonly encoding: 'base64' | 'hex';
  readonly value: string;
}

export interface DownloadOptions {
  readonly url: string;
  readonly file: string;
  readonly checksum: Checksum;
  readonly onProgress: (done: number, total: number | null) => void;
  /** Tries in one run; each goes on where the last one broke off. */
  readonly tries?: number;
  /** Longest silence of the server. */
  readonly stallSeconds?: number;
}

/** A download that failed, in words for the person at the terminal. */
export class DownloadError extends Error {
  override name = 'DownloadError';
}

/**
 * Fetches a file once. What arrived before a break stays in `<file>.part` and is completed by HTTP Range (RFC 9110,
 * section 14) by the next try or the next run; a server that ignores Range is read from the start.
 * The file appears under its name only when the checksum is right.
 */
export async function download(options: DownloadOptions): Promise<void> {
  if (existsSync(options.file) && (await matches(options.file, options.checksum))) return;
  mkdirSync(dirname(options.file), { recursive: true });
  const part = `${options.file}.part`;
  const resumed = sizeOf(part) > 0;
  await fetchAll(options, part);
  if (await matches(part, options.checksum)) return renameSync(part, options.file);
  rmSync(part, { force: true });
  if (resumed) {
    // The old piece may come from another file of the same name; only a download in one piece proves a bad server.
    await fetchAll(options, part);
    if (await matches(part, options.checksum)) return renameSync(part, options.file);
    rmSync(part, { force: true });
  }
  throw new DownloadError(
    `${options.url} has another checksum than expected (${options.checksum.algorithm}). The file was deleted. ` +
      'Run the command again; if it happens again, something between here and the server changes files.',
  );
}

async function fetchAll(options: DownloadOptions, part: string): Promise<void> {
  const tries = options.tries ?? 4;
  for (let turn = 1; ; turn += 1) {
    const before = sizeOf(part);
    try {
      return await fetchRest(options, part);
    } catch (error) {
      if (error instanceof DownloadError) throw error;
      if (turn >= tries) throw brokenOff(options.url, part, error);
      if (before === sizeOf(part) && turn >= 2) throw brokenOff(options.url, part, error);
      await sleep(250 * 2 ** turn);
    }
  }
}

async function fetchRest(options: DownloadOptions, part: string): Promise<void> {
  const have = sizeOf(part);
  const abort = new AbortController();
  const stall = (options.stallSeconds ?? 30) * 1000;
  let timer = setTimeout(() => abort.abort(new Error('the server went silent')), stall);
  try {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' };
    if (have > 0) headers.range = `bytes=${have}-`;
    const response = await fetch(options.url, { headers, signal: abort.signal });
    if (response.status === 416) {
      // The piece is not shorter than the file: whole, or not of this file. The checksum tells.
      await response.body?.cancel();
      if (totalOf(response) === have) return;
      rmSync(part, { force: true });
      throw new Error('the server refused to go on');
    }
    if (response.status !== 200 && response.status !== 206) {
      await response.body?.cancel();
      throw new DownloadError(`${options.url} answered ${response.status} ${response.statusText}`.trim());
    }
    const from = response.status === 206 ? startOf(response) : 0;
    if (response.body === null || (from !== 0 && from !== have)) throw new Error('the server sent another range');
    const total = totalOf(response);
    let done = from;
    const body = Readable.fromWeb(response.body);
    body.on('data', (chunk: Buffer) => {
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(new Error('the server went silent')), stall);
      done += chunk.length;
      options.onProgress(done, total);
    });
    await pipeline(body, createWriteStream(part, { flags: from === 0 ? 'w' : 'a' }));
    if (total !== null && done < total) throw new Error('the connection closed early');
  } finally {
    clearTimeout(timer);
  }
}

function startOf(response: Response): number {
  const match = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '');
  return match === null ? -1 : Number(match[1]);
}

function totalOf(response: Response): number | null {
  const range = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
  if (range !== null) return Number(range[1]);
  const length = response.headers.get('content-length');
  return length === null ? null : Number(length);
}

function brokenOff(url: string, part: string, error: unknown): DownloadError {
  const host = new URL(url).host;
  const have = sizeOf(part);
  const cause = causeOf(error);
  return new DownloadError(
    have > 0
      ? `The download from ${host} broke off (${cause}). What arrived is kept; run the command again to go on.`
      : `Cannot reach ${host} (${cause}). This file is fetched once and needs the network. ` +
          'Behind a mirror, name it with npm_config_registry; then run the command again.',
  );
}

function causeOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (inner as NodeJS.ErrnoException).code;
  return code ?? (inner instanceof Error ? inner.message : String(inner));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

async function matches(file: string, checksum: Checksum): Promise<boolean> {
  const hash = createHash(checksum.algorithm);
  await pipeline(createReadStream(file), hash);
  return hash.digest(checksum.encoding) === checksum.value;
}

export interface Progress {
  /** Bytes so far and in all; `total` null when the server did not say. */
  readonly update: (done: number, total: number | null) => void;
  readonly end: () => void;
}

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;

const barWidth = 30;

/** Shows a download: a bar on a terminal, one line for each further tenth elsewhere (log files, CI). */
export function createProgress(label: string, output: Output, now: () => number = Date.now): Progress {
  return output.isTTY ? terminalBar(label, output, now) : plainLines(label, output);
}

function terminalBar(label: string, output: Output, now: () => number): Progress {
  let last = Number.NEGATIVE_INFINITY;
  let line = '';
  return {
    update(done, total) {
      line = `\r${label} ${barText(done, total)}`;
      if (now() - last < 100) return;
      last = now();
      output.write(line);
    },
    end: () => output.write(`${line}\n`),
  };
}

function plainLines(label: string, output: Output): Progress {
  let shown = -1;
  return {
    update(done, total) {
      if (total === null || total === 0) return;
      const tenth = Math.floor((done / total) * 10);
      if (tenth <= shown) return;
      shown = tenth;
      output.write(`${label} ${tenth * 10}% of ${megabytes(total)}\n`);
    },
    end: () => {},
  };
}

function barText(done: number, total: number | null): string {
  if (total === null || total === 0) return megabytes(done);
  const share = Math.min(1, done / total);
  const full = Math.round(share * barWidth);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${percent}% of ${megabytes(total)}`;
}

/** Bytes as whole megabytes (10^6), for people. */
function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

/**
 * The SHA-1 that wordpress.org publishes beside a release file (`<url>.sha1`), 40 hexadecimal digits.
 * Throws `DownloadError` when there is no such release or no way to the server.
 */
export async function releaseChecksum(url: string, release: string, timeoutSeconds = 20): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}.sha1`, { signal: AbortSignal.timeout(timeoutSeconds * 1000) });
    text = (await response.text()).trim();
  } catch {
    throw new DownloadError(
      `Cannot reach ${new URL(url).host}, where WordPress ${release} comes from. ` +
        'Connect to the network, or leave out --wordpress-version to use what can be had here.',
    );
  }
  if (response.status === 404) throw new DownloadError(`wordpress.org has no WordPress ${release}.`);
  if (response.status !== 200 || !/^[0-9a-f]{40}$/.test(text)) {
    throw new DownloadError(`${url}.sha1 answered ${response.status} without a checksum.`);
  }
  return text;
}
