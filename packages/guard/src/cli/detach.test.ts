import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInChild } from '../../test/support/command-line.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { readConfig, updateConfig } from './config-store.js';
import { detach } from './detach.js';

/** A port on which nothing listens. */
const NOWHERE = 'http://127.0.0.1:1';

/** A WordPress without a running connector. It responds from `start` on. */
async function startingWordPress() {
  const server = createServer((_request, response) => void response.end('<html></html>'));
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  onTestFinished(() => void server.close());
  return { upstream: `http://127.0.0.1:${port}`, start: () => listen(port) };
}

/** Attaches a site whose folders stay after `detach`, since they contain a file of the owner. */
async function attachSite(dataDir: string, host: string, upstream: string) {
  const wordpress = await wordpressFolder();
  const plugins = join(wordpress, 'wp-content/mu-plugins');
  const own = join(plugins, 'security-optimizer');
  mkdirSync(own, { recursive: true });
  for (const folder of [plugins, own]) writeFileSync(join(folder, 'of-the-owner.txt'), 'stays');
  const options = ['--wordpress', wordpress, '--host', host, '--upstream', upstream, '--data-dir', dataDir];
  expect(await runInChild('attach', ...options)).toMatchObject({ status: 0 });
  return {
    loader: join(plugins, 'security-optimizer.php'),
    /** When the loader was removed, milliseconds. */
    loaderRemovedAt: () => statSync(plugins).mtimeMs,
    /** When the last file of the connector was removed, milliseconds. */
    filesRemovedAt: () => statSync(own).mtimeMs,
  };
}

describe('the files of a detached site', () => {
  it('are there for requests under way until these had time to end', async () => {
    const dataDir = await scratchFolder();
    const { upstream, start } = await startingWordPress();
    const site = await attachSite(dataDir, 'example.com', upstream);
    await start();
    expect(await detach({ dataDir, drainMs: 700 })).toMatchObject([{ failure: null, hasOthers: true }]);
    expect(existsSync(site.loader)).toBe(false);
    expect(site.filesRemovedAt() - site.loaderRemovedAt()).toBeGreaterThanOrEqual(690);
  });

  it('are there for the requests of all sites during one wait', async () => {
    const dataDir = await scratchFolder();
    const { upstream, start } = await startingWordPress();
    const sites = [
      await attachSite(dataDir, 'one.example', upstream),
      await attachSite(dataDir, 'two.example', upstream),
      await attachSite(dataDir, 'three.example', upstream),
    ];
    await start();
    expect(await detach({ dataDir, drainMs: 3000 })).toHaveLength(3);
    const lastLoader = Math.max(...sites.map(({ loaderRemovedAt }) => loaderRemovedAt()));
    const firstFiles = Math.min(...sites.map(({ filesRemovedAt }) => filesRemovedAt()));
    expect(firstFiles - lastLoader).toBeGreaterThanOrEqual(2990);
  });

  it('are waited for without keeping other commands waiting', async () => {
    const dataDir = await scratchFolder();
    const { upstream, start } = await startingWordPress();
    const site = await attachSite(dataDir, 'example.com', upstream);
    await start();
    const seen: (string | boolean)[] = [];
    const drain = async () => {
      // The lock is free: this would wait for minutes otherwise.
      seen.push(existsSync(site.loader), await updateConfig(dataDir, async ({ sites }) => sites[0]?.id ?? 'none'));
    };
    expect(await detach({ dataDir, drain })).toMatchObject([{ failure: null }]);
    expect(seen).toEqual([false, 'example-com']);
    expect((await readConfig(dataDir)).sites).toEqual([]);
  });

  it('are removed at once where no web server answers', async () => {
    const dataDir = await scratchFolder();
    const { loader } = await attachSite(dataDir, 'example.com', NOWHERE);
    expect(await detach({ dataDir, drainMs: 600_000 })).toMatchObject([{ failure: null }]);
    expect(existsSync(loader)).toBe(false);
  });
});
