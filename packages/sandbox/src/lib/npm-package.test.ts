import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { getRegistryHost, getTarballUrl, unpackNpmPackage } from './npm-package.js';

const pinned = { name: '@scope/tool', version: '1.2.3', sha512: '' };

describe('getTarballUrl', () => {
  it('leaves the scope out of the name of the file, and uses the registry of the environment', () => {
    expect(getTarballUrl(pinned, {})).toBe('https://registry.npmjs.org/@scope/tool/-/tool-1.2.3.tgz');
    const env = { npm_config_registry: 'http://192.0.2.1:4873/npm//' };
    expect(getTarballUrl({ ...pinned, name: 'tool' }, env)).toBe('http://192.0.2.1:4873/npm/tool/-/tool-1.2.3.tgz');
    expect(getRegistryHost(env)).toBe('192.0.2.1:4873');
  });
});

describe('unpackNpmPackage', () => {
  let dir: string;
  let server: Server;
  let sha512: string;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'npm-package-'));
    mkdirSync(join(dir, 'package/bin'), { recursive: true });
    for (const name of ['bin/tool.phar', 'readme.md']) writeFileSync(join(dir, 'package', name), name);
    await create({ cwd: dir, file: join(dir, 'served.tgz'), gzip: true }, ['package']);
    const tarball = readFileSync(join(dir, 'served.tgz'));
    sha512 = createHash('sha512').update(tarball).digest('base64');
    server = createServer((request, response) => {
      const isThere = request.url === '/@scope/tool/-/tool-1.2.3.tgz';
      response.writeHead(isThere ? 200 : 404).end(isThere ? tarball : '');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(dir, { recursive: true });
  });

  it('unpacks only what passes the filter, in place of what was there, and keeps no tarball', async () => {
    const target = join(dir, 'target');
    mkdirSync(target);
    writeFileSync(join(target, 'of-an-older-version'), '');
    await unpackNpmPackage({ ...pinned, sha512 }, target, (path) => path.startsWith('bin/'));
    expect(readdirSync(target)).toEqual(['bin']);
    expect(readFileSync(join(target, 'bin/tool.phar'), 'utf8')).toBe('bin/tool.phar');
    expect(existsSync(`${target}.tgz`)).toBe(false);
  });

  it('unpacks nothing from a tarball with another checksum', async () => {
    const target = join(dir, 'target');
    await expect(unpackNpmPackage({ ...pinned, sha512: 'AAAA' }, target, () => true)).rejects.toThrow(
      'has another checksum than expected',
    );
    expect(existsSync(target)).toBe(false);
  });
});
