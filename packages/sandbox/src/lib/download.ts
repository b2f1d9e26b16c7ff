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
  /** Attempts in one run. Each resumes where the last one failed. */
  readonly attempts?: number;
  /** Time without a byte from the server after which an attempt fails. */
  readonly stallSeconds?: number;
}

/** A failed download. Its message is shown at the terminal. */
export class DownloadError extends Error {
  override name = 'DownloadError';
}

/**
 * Downloads a file unless it is there. The next attempt or run completes a partial file (`<file>.part`) by HTTP Range
 * (RFC 9110, section 14). If the server ignores Range, it starts over. The file gets its name only when the checksum
 * matches.
 */
export async function download(options: DownloadOptions): Promise<void> {
  if (existsSync(options.file) && (await matches(options.file, options.checksum))) return;
  mkdirSync(dirname(options.file), { recursive: true });
  const part = `${options.file}.part`;
  const resumed = getSize(part) > 0;
  await fetchAll(options, part);
  if (await matches(part, options.checksum)) return renameSync(part, options.file);
  rmSync(part, { force: true });
  if (resumed) {
    // The partial file may be of another file with this name. Only a complete download proves that the server is wrong.
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
  const attempts = options.attempts ?? 4;
  for (let attempt = 1; ; attempt += 1) {
    const before = getSize(part);
    try {
      return await fetchRemaining(options, part);
    } catch (error) {
      if (error instanceof DownloadError) throw error;
      if (attempt >= attempts) throw toDownloadError(options.url, part, error);
      if (before === getSize(part) && attempt >= 2) throw toDownloadError(options.url, part, error);
      await sleep(250 * 2 ** attempt);
    }
  }
}

async function fetchRemaining(options: DownloadOptions, part: string): Promise<void> {
  const have = getSize(part);
  const abort = new AbortController();
  const stall = (options.stallSeconds ?? 30) * 1000;
  let timer = setTimeout(() => abort.abort(new Error('the server went silent')), stall);
  try {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' };
    if (have > 0) headers.range = `bytes=${have}-`;
    const response = await fetch(options.url, { headers, signal: abort.signal });
    if (response.status === 416) {
      // The partial file is complete or belongs to another file. The checksum decides which.
      await response.body?.cancel();
      if (getTotalSize(response) === have) return;
      rmSync(part, { force: true });
      throw new Error('the server refused to go on');
    }
    if (response.status !== 200 && response.status !== 206) {
      await response.body?.cancel();
      throw new DownloadError(`${options.url} answered ${response.status} ${response.statusText}`.trim());
    }
    const from = response.status === 206 ? getRangeStart(response) : 0;
    if (response.body === null || (from !== 0 && from !== have)) throw new Error('the server sent another range');
    const total = getTotalSize(response);
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

function getRangeStart(response: Response): number {
  const match = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '');
  return match === null ? -1 : Number(match[1]);
}

function getTotalSize(response: Response): number | null {
  const range = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
  if (range !== null) return Number(range[1]);
  const length = response.headers.get('content-length');
  return length === null ? null : Number(length);
}

function toDownloadError(url: string, part: string, error: unknown): DownloadError {
  const host = new URL(url).host;
  const have = getSize(part);
  const cause = getCause(error);
  return new DownloadError(
    have > 0
      ? `The download from ${host} broke off (${cause}). What arrived is kept; run the command again to go on.`
      : `Cannot reach ${host} (${cause}). This file is fetched once and needs the network. ` +
          'Behind a mirror, name it with npm_config_registry; then run the command again.',
  );
}

function getCause(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (inner as NodeJS.ErrnoException).code;
  return code ?? (inner instanceof Error ? inner.message : String(inner));
}

function getSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

async function matches(file: string, checksum: Checksum): Promise<boolean> {
  const hash = createHash(checksum.algorithm);
  await pipeline(createReadStream(file), hash);
  return hash.digest(checksum.encoding) === checksum.value;
}

export interface Progress {
  /** Bytes so far and in total; `total` is null when the server does not send it. */
  readonly update: (done: number, total: number | null) => void;
  readonly end: () => void;
}

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;

const barWidth = 30;

/** Shows the progress of a download: a bar on a terminal, else (log files, CI) a line for each tenth. */
export function createProgress(label: string, output: Output, now: () => number = Date.now): Progress {
  return output.isTTY ? createTerminalBar(label, output, now) : createPlainLines(label, output);
}

function createTerminalBar(label: string, output: Output, now: () => number): Progress {
  let last = Number.NEGATIVE_INFINITY;
  let line = '';
  return {
    update(done, total) {
      line = `\r${label} ${formatBar(done, total)}`;
      if (now() - last < 100) return;
      last = now();
      output.write(line);
    },
    end: () => output.write(`${line}\n`),
  };
}

function createPlainLines(label: string, output: Output): Progress {
  let shown = -1;
  return {
    update(done, total) {
      if (total === null || total === 0) return;
      const tenth = Math.floor((done / total) * 10);
      if (tenth <= shown) return;
      shown = tenth;
      output.write(`${label} ${tenth * 10}% of ${formatMegabytes(total)}\n`);
    },
    end: () => {},
  };
}

function formatBar(done: number, total: number | null): string {
  if (total === null || total === 0) return formatMegabytes(done);
  const share = Math.min(1, done / total);
  const full = Math.round(share * barWidth);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${percent}% of ${formatMegabytes(total)}`;
}

/** Bytes as whole megabytes (10^6). */
function formatMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
