import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import { SECRET, siteConfig } from '../../test/support/site-config.js';
import type { QuarantinedSite } from '../site.js';
import { loadConfig } from './load-config.js';
import { loadConfigInThread } from './load-config-in-thread.js';
import { DigestCache, findChange } from './site-digests.js';

const named = (name: string, more: object = {}) => siteConfig({ id: name, hosts: [`${name}.example.com`], ...more });
const inQuarantine = (id: string, reason = 'x'): QuarantinedSite => ({ id, hosts: [], cause: 'key', reason });

it('only new, changed and removed sites are a change', async () => {
  const digests = await new DigestCache().digest([
    named('a'),
    named('b'),
    named('c'),
    inQuarantine('d'),
    inQuarantine('e'),
  ]);
  const next = {
    sites: [named('a'), named('b', { requireGuard: false }), named('d'), named('new')],
    quarantined: [inQuarantine('e', 'y')],
    trustedProxies: ['192.0.2.0/24'],
  };
  expect(findChange(digests, next)).toEqual({
    served: [named('b', { requireGuard: false }), named('d'), named('new')],
    quarantined: [inQuarantine('e', 'y')],
    removed: ['c'],
    trustedProxies: ['192.0.2.0/24'],
  });
});

it('a site in force is digested once, and again only when it has changed', async () => {
  let digested = 0;
  const counted = (name: string) => ({
    ...named(name),
    toJSON() {
      digested++;
      return named(name);
    },
  });
  const sites = Array.from({ length: 300 }, (_, at) => counted(`site-${at}`));
  const cache = new DigestCache();
  const first = await cache.digest(sites);
  expect(digested).toBe(300);
  expect(await cache.digest(sites)).toBe(first);
  expect(digested).toBe(300);
  const other = sites.with(7, counted('site-7'));
  expect(await cache.digest(other)).toBe(first);
  expect(digested).toBe(301);
});

it('the digests of thousands of sites are computed in many turns of the event loop', async () => {
  let turns = 0;
  let ended = false;
  const count = () => {
    turns++;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  await new DigestCache().digest(Array.from({ length: 5000 }, (_, at) => named(`site-${at}`)));
  ended = true;
  expect(turns).toBeGreaterThanOrEqual(90);
});

it('the thread that reads the configuration sends only the sites that differ', async () => {
  const dataDir = await scratchFolder();
  await mkdir(join(dataDir, 'sites'));
  const entries = Array.from({ length: 50 }, (_, at) => {
    return { id: `site-${at}`, upstream: 'http://127.0.0.1:8081', hosts: [`${at}.example.com`] };
  });
  const write = async (sites: readonly object[]) => {
    await writeFile(join(dataDir, 'new'), JSON.stringify({ sites }));
    await rename(join(dataDir, 'new'), join(dataDir, 'guard.json'));
  };
  for (const { id } of entries) await writeFile(join(dataDir, 'sites', `${id}.secret`), SECRET, { mode: 0o600 });
  await write(entries.slice(0, 49));
  const { sites, quarantined } = await loadConfig({ dataDir });
  const digests = await new DigestCache().digest([...sites, ...quarantined]);
  const none = { served: [], quarantined: [], removed: [], trustedProxies: [] };
  expect((await loadConfigInThread({ dataDir }, digests)).change).toEqual(none);
  await write([...entries.slice(1, 20), { ...entries[20], colour: 'blue' }, ...entries.slice(21)]);
  const { change, rest } = await loadConfigInThread({ dataDir }, digests);
  expect(change).toMatchObject({
    served: [{ id: 'site-49' }],
    quarantined: [{ id: 'site-20', cause: 'entry' }],
    removed: ['site-0'],
  });
  expect(rest).toMatchObject({ logLevel: 'info' });
  expect(rest).not.toHaveProperty('sites');
});
