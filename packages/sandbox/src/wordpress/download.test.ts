import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseWordPress } from '../start/main.js';
import { fetchCurrentWordPress, fetchPlugin, fetchWordPress } from './download.js';

let dir: string;
let cacheDir: string;
let servers: Server[];
let output: string[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fetch-'));
  cacheDir = join(dir, 'cache');
  servers = [];
  output = [];
  // The files of the npm registry are already in the cache: the packaged WordPress and the SQLite integration.
  for (const name of ['sqlite-database-integration', 'wordpress-6.5.5']) {
    mkdirSync(join(cacheDir, name), { recursive: true });
    writeFileSync(join(cacheDir, `${name}.json`), '{}');
  }
  vi.stubEnv('WORDPRESS_ARCHIVES', '');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  rmSync(dir, { recursive: true });
});

const log = (line: string) => output.push(line);
const versionFile = "<?php\n$wp_version = '7.1';\n";

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that offers WordPress 7.1 as wordpress.org does. */
function wordpressOrg(): Promise<string> {
  const zip = zipSync({ 'wordpress/wp-includes/version.php': new TextEncoder().encode(versionFile) });
  const responses: Record<string, string | Uint8Array> = {
    '/wordpress-7.1.zip': zip,
    '/wordpress-7.1.zip.sha1': createHash('sha1').update(zip).digest('hex'),
  };
  return listen(
    createServer((request, response) => {
      const body = responses[request.url ?? ''];
      response.writeHead(body === undefined ? 404 : 200).end(body);
    }),
  );
}

/** An address at which nobody listens. */
async function nowhere(): Promise<string> {
  const url = await listen(createServer());
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return url;
}

function makeArchive(outer: string, files: Readonly<Record<string, string>>, name: string): void {
  const source = join(dir, 'source');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(source, outer, path, '..'), { recursive: true });
    writeFileSync(join(source, outer, path), text);
  }
  mkdirSync(join(dir, 'archives'), { recursive: true });
  execFileSync('tar', ['-cJf', join(dir, 'archives', name), '-C', source, outer]);
  vi.stubEnv('WORDPRESS_ARCHIVES', join(dir, 'archives'));
}

const versionIn = (wordpressDir: string) => readFileSync(join(wordpressDir, 'wp-includes/version.php'), 'utf8');

describe('the current WordPress', () => {
  it('comes from wordpress.org where that can be reached', async () => {
    const found = await fetchCurrentWordPress({ cacheDir, log, wordpressOrg: await wordpressOrg() });
    expect(found).toMatchObject({ release: '7.1', fallbackReason: null });
    expect(versionIn(found.wordpressDir)).toBe(versionFile);
  });

  it('comes from the folder of archives without a visit to wordpress.org', async () => {
    makeArchive('wordpress', { 'wp-includes/version.php': versionFile }, 'wordpress-7.1.tar.xz');
    const found = await fetchCurrentWordPress({ cacheDir, log, wordpressOrg: await nowhere() });
    expect(found).toMatchObject({ release: '7.1', fallbackReason: null });
    expect(versionIn(found.wordpressDir)).toBe(versionFile);
  });

  it('is taken from the cache without network', async () => {
    await fetchCurrentWordPress({ cacheDir, log, wordpressOrg: await wordpressOrg() });
    const again = await fetchCurrentWordPress({ cacheDir, log, wordpressOrg: await nowhere() });
    expect(again).toMatchObject({ release: '7.1', fallbackReason: null });
  });

  it('falls back to the packaged one where nobody answers, saying why', async () => {
    const found = await fetchCurrentWordPress({ cacheDir, log, wordpressOrg: await nowhere() });
    expect(found.release).toBe('6.5.5');
    expect(found.fallbackReason).toMatch(/^Cannot reach 127\.0\.0\.1:\d+, where WordPress 7\.1 comes from$/);
  });

  it('falls back to the packaged one after a short time where the server accepts and stays silent', async () => {
    const connected: Socket[] = [];
    const silent = createServer();
    silent.on('connection', (socket) => connected.push(socket));
    const url = await listen(silent);
    const found = await fetchCurrentWordPress({ cacheDir, log, wordpressOrg: url, timeoutSeconds: 0.2 });
    expect([found.release, connected.length]).toEqual(['6.5.5', 1]);
  });

  it('falls back to the packaged one where the release is not offered', async () => {
    const found = await fetchCurrentWordPress({
      cacheDir,
      log,
      wordpressOrg: await listen(createServer((_, response) => response.writeHead(404).end())),
    });
    expect([found.release, found.fallbackReason]).toEqual(['6.5.5', 'wordpress.org has no WordPress 7.1']);
  });

  it('says so where an archive is broken, instead of taking another WordPress', async () => {
    mkdirSync(join(dir, 'archives'));
    writeFileSync(join(dir, 'archives/wordpress-7.1.tar.xz'), 'not an archive');
    vi.stubEnv('WORDPRESS_ARCHIVES', join(dir, 'archives'));
    const attempt = fetchCurrentWordPress({ cacheDir, log, wordpressOrg: await nowhere() });
    await expect(attempt).rejects.toThrow(
      /wordpress-7\.1\.tar\.xz cannot be unpacked \(Debian packages: tar xz-utils\)/,
    );
    expect(existsSync(join(cacheDir, 'wordpress-7.1.json'))).toBe(false);
  });
});

describe('a release asked for by name', () => {
  it('is not replaced by another one: where it cannot be had, that is an error', async () => {
    const attempt = fetchWordPress({ version: '7.1', cacheDir, log, wordpressOrg: await nowhere() });
    await expect(attempt).rejects.toThrow(/Cannot reach 127\.0\.0\.1:\d+, where WordPress 7\.1 comes from/);
  });
});

describe('npm start', () => {
  const start = async (wordpressOrg: string, wordpressVersion: string | null = null) =>
    chooseWordPress({ dataDir: join(dir, 'data'), wordpressVersion, cacheDir, log, wordpressOrg });
  const install = (release: string) => {
    mkdirSync(join(dir, 'data/wordpress/wp-includes'), { recursive: true });
    writeFileSync(join(dir, 'data/wordpress/wp-includes/version.php'), versionFile.replace('7.1', release));
  };

  it('takes the pinned WordPress from wordpress.org, and says which it is', async () => {
    expect(await start(await wordpressOrg())).toEqual({ version: '7.1', line: 'Starting WordPress 7.1.' });
  });

  it('takes the packaged one where wordpress.org cannot be reached, and says why', async () => {
    const { version, line } = await start(await nowhere());
    expect(version).toBe('6.5.5');
    expect(line).toMatch(/^Starting WordPress 6\.5\.5 in place of 7\.1: Cannot reach 127\.0\.0\.1:\d+, .*\.$/);
  });

  it('keeps the release of a site that is there, and says how to get the newer one', async () => {
    install('6.5.5');
    expect(await start(await wordpressOrg())).toEqual({
      version: '6.5.5',
      line: 'Starting WordPress 6.5.5, which the data folder holds; --fresh starts over with 7.1.',
    });
    expect(existsSync(join(cacheDir, 'wordpress-7.1.json'))).toBe(false);
  });

  it('goes on with a site of the pinned release without network', async () => {
    install('7.1');
    expect(await start(await nowhere())).toEqual({ version: '7.1', line: 'Starting WordPress 7.1.' });
  });

  it('takes the release that is asked for', async () => {
    expect(await start(await nowhere(), '6.4')).toEqual({ version: '6.4', line: 'Starting WordPress 6.4.' });
  });
});

describe('a plugin', () => {
  const plugin = { slug: 'a-shop', version: '2.0.1' };
  const code = '<?php // A shop.';

  /** A server that offers it as downloads.wordpress.org does, with the checksum of another text where one is given. */
  function directory(toChecksum = code): Promise<string> {
    const sha256 = createHash('sha256').update(toChecksum).digest('hex');
    const responses: Record<string, string | Uint8Array> = {
      '/plugin/a-shop.2.0.1.zip': zipSync({ 'a-shop/a-shop.php': new TextEncoder().encode(code) }),
      '/plugin-checksums/a-shop/2.0.1.json': JSON.stringify({ files: { 'a-shop.php': { sha256: ['0', sha256] } } }),
    };
    return listen(
      createServer((request, response) => {
        const body = responses[request.url ?? ''];
        response.writeHead(body === undefined ? 404 : 200).end(body);
      }),
    );
  }

  it('comes from the folder of archives, and then from the cache', async () => {
    makeArchive('a-shop', { 'a-shop.php': code }, 'a-shop-2.0.1.tar.xz');
    const downloads = await nowhere();
    const found = await fetchPlugin({ ...plugin, cacheDir, log, downloads });
    expect(readFileSync(join(found, 'a-shop.php'), 'utf8')).toBe(code);
    vi.stubEnv('WORDPRESS_ARCHIVES', '');
    expect(await fetchPlugin({ ...plugin, cacheDir, log, downloads })).toBe(found);
  });

  it('comes from the public directory otherwise, each file with its checksum', async () => {
    const found = await fetchPlugin({ ...plugin, cacheDir, log, downloads: await directory() });
    expect(readFileSync(join(found, 'a-shop.php'), 'utf8')).toBe(code);
  });

  it('is not kept where a file is not the published one', async () => {
    const attempt = fetchPlugin({ ...plugin, cacheDir, log, downloads: await directory('<?php // Another one.') });
    await expect(attempt).rejects.toThrow('a-shop.php has another checksum');
    expect(existsSync(join(cacheDir, 'a-shop-2.0.1.json'))).toBe(false);
  });

  it('is said to be out of reach where nobody answers', async () => {
    const attempt = fetchPlugin({ ...plugin, cacheDir, log, downloads: await nowhere() });
    await expect(attempt).rejects.toThrow(/^Cannot reach 127\.0\.0\.1:\d+$/);
  });
});
