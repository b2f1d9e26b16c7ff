import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Checksum, createProgress, DownloadError, download } from './download.js';

const content = randomBytes(3_000_000);
const checksum: Checksum = {
  algorithm: 'sha512',
  encoding: 'base64',
  value: createHash('sha512').update(content).digest('base64'),
};

interface Behaviour {
  ranges: boolean;
  /** Bytes after which the next responses break off, an entry for each. */
  breakAfter: number[];
  body: Buffer;
  status?: number;
}

let dir: string;
let server: Server;
let url: string;
let behaviour: Behaviour;
let requested: (string | undefined)[];

function handleRequest(request: IncomingMessage, response: ServerResponse): void {
  requested.push(request.headers.range);
  const { body, ranges, breakAfter, status } = behaviour;
  if (status !== undefined) {
    response.writeHead(status).end();
    return;
  }
  const from = ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
  if (from >= body.length) {
    response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
    return;
  }
  const headers = { 'content-length': body.length - from };
  if (from > 0) {
    response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` });
  } else {
    response.writeHead(200, headers);
  }
  const stop = breakAfter.shift();
  if (stop === undefined) {
    response.end(body.subarray(from));
    return;
  }
  response.write(body.subarray(from, from + stop), () => setTimeout(() => response.destroy(), 50));
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'download-'));
  requested = [];
  behaviour = { ranges: true, breakAfter: [], body: content };
  server = createServer(handleRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file.tgz`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});

const file = () => join(dir, 'file.tgz');
const fetchIt = (more: { attempts?: number } = {}) =>
  download({ url, file: file(), checksum, onProgress: () => {}, ...more });

describe('a download', () => {
  it('arrives whole, leaves no piece behind and reports how far it is', async () => {
    const seen: [number, number | null][] = [];
    await download({ url, file: file(), checksum, onProgress: (done, total) => seen.push([done, total]) });
    expect(readFileSync(file()).equals(content)).toBe(true);
    expect(existsSync(`${file()}.part`)).toBe(false);
    expect(seen.at(-1)).toEqual([content.length, content.length]);
  });

  it('is not repeated when the file is there', async () => {
    await fetchIt();
    await fetchIt();
    expect(requested).toHaveLength(1);
  });

  it('goes on by itself where the connection broke', async () => {
    behaviour.breakAfter = [1_000_000];
    await fetchIt();
    expect(readFileSync(file()).equals(content)).toBe(true);
    expect(requested).toHaveLength(2);
    expect(requested[1]).toMatch(/^bytes=[1-9]\d*-$/);
  });

  it('goes on in the next run where an earlier run was ended', async () => {
    behaviour.breakAfter = [1_000_000];
    await expect(fetchIt({ attempts: 1 })).rejects.toThrow(/broke off .* run the command again to go on/);
    const partialSize = statSync(`${file()}.part`).size;
    expect(partialSize).toBeGreaterThan(0);
    await fetchIt();
    expect(requested[1]).toBe(`bytes=${partialSize}-`);
    expect(readFileSync(file()).equals(content)).toBe(true);
  });

  it('starts over with a server that ignores ranges', async () => {
    behaviour.ranges = false;
    behaviour.breakAfter = [1_000_000];
    await fetchIt();
    expect(requested).toHaveLength(2);
    expect(readFileSync(file()).equals(content)).toBe(true);
  });

  it('starts over when the piece from an earlier run is of another file', async () => {
    writeFileSync(`${file()}.part`, randomBytes(500_000));
    await fetchIt();
    expect(readFileSync(file()).equals(content)).toBe(true);
  });

  it('starts over when the piece is longer than the file', async () => {
    writeFileSync(`${file()}.part`, Buffer.concat([content, randomBytes(10)]));
    await fetchIt();
    expect(readFileSync(file()).equals(content)).toBe(true);
  });

  it('takes a piece that is already the whole file', async () => {
    writeFileSync(`${file()}.part`, content);
    await fetchIt();
    expect(readFileSync(file()).equals(content)).toBe(true);
  });

  it('deletes a file with another checksum and says so', async () => {
    behaviour.body = Buffer.concat([content.subarray(1), Buffer.from('x')]);
    await expect(fetchIt()).rejects.toThrow(/another checksum than expected .* deleted/);
    expect(existsSync(file())).toBe(false);
    expect(existsSync(`${file()}.part`)).toBe(false);
  });

  it('names the status when the server has no such file', async () => {
    behaviour.status = 404;
    await expect(fetchIt()).rejects.toThrow(`${url} answered 404`);
    expect(requested).toHaveLength(1);
  });

  it('says what to do when the server cannot be reached', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const attempt = download({ url: `http://127.0.0.1:${port}/x`, file: file(), checksum, onProgress: () => {} });
    await expect(attempt).rejects.toThrow(DownloadError);
    await expect(attempt).rejects.toThrow(/Cannot reach 127\.0\.0\.1:\d+ \(ECONNREFUSED\).*npm_config_registry/);
  });
});

function output(isTTY: boolean) {
  const lines: string[] = [];
  return { lines, isTTY, write: (text: string) => lines.push(text) > 0 };
}

describe('progress', () => {
  it('prints one plain line for each tenth where there is no terminal', () => {
    const to = output(false);
    const progress = createProgress('WordPress', to);
    for (let done = 0; done <= 200e6; done += 1e6) progress.update(done, 200e6);
    progress.end();
    expect(to.lines).toHaveLength(11);
    expect(to.lines[5]).toBe('WordPress 50% of 200 MB\n');
  });

  it('draws a bar on a terminal, at most ten times a second, and ends with the last state', () => {
    const to = output(true);
    let now = 0;
    const progress = createProgress('WordPress', to, () => now);
    for (let step = 0; step <= 100; step += 1) {
      now += 10;
      progress.update(step * 1e6, 100e6);
    }
    progress.end();
    expect(to.lines.length).toBeLessThanOrEqual(12);
    expect(to.lines.at(-1)).toBe(`\rWordPress [${'#'.repeat(30)}] 100% of 100 MB\n`);
  });
});
