import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import { SECRET } from '../../test/support/site-config.js';
import { updateConfig } from '../cli/config-store.js';
import { ConfigError, loadConfig } from './load-config.js';

const good = { id: 'good', upstream: 'http://127.0.0.1:8081', hosts: ['good.example.com'] };
const bad = { id: 'bad', upstream: 'http://127.0.0.1:8082', hosts: ['bad.example.com'] };

/** A data folder whose sites have keys. */
async function folderWith(sites: readonly unknown[], more: object = {}): Promise<string> {
  const dataDir = await scratchFolder();
  await mkdir(join(dataDir, 'sites'));
  await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ ...more, sites }));
  for (const id of ['good', 'bad', 'other']) {
    await writeFile(join(dataDir, 'sites', `${id}.secret`), SECRET, { mode: 0o600 });
  }
  return dataDir;
}

/** The sites of a configuration, with the reasons of those in quarantine. */
async function load(sites: readonly unknown[], more: object = {}) {
  const dataDir = await folderWith(sites, more);
  const config = await loadConfig({ dataDir, env: {} });
  return {
    served: config.sites.map(({ id }) => id),
    quarantined: config.quarantined.map((site) => ({ ...site, reason: site.reason.replaceAll(`${dataDir}/`, '') })),
  };
}

const UPSTREAM =
  'use the http origin of the web server without a path, for example http://127.0.0.1:8081, or unix:/PATH of its socket';
const HOSTS =
  'use host names without port, for example example.com, *.example.com for its subdomains, or * for every other host';

describe('a mistake in one entry of `sites` quarantines only that site', () => {
  it.each<[string, object, string]>([
    ['an unknown key', { colour: 'blue' }, 'sites[1].colour: unknown key; see docs/operator/configuration.md'],
    ['an invalid upstream', { upstream: 'https://wordpress.internal' }, `sites[1].upstream: ${UPSTREAM}`],
    ['no upstream', { upstream: undefined }, `sites[1].upstream: ${UPSTREAM}`],
    ['an invalid limit', { limits: { upstreamSeconds: 0 } }, 'sites[1].limits.upstreamSeconds: use a whole number'],
    ['an invalid switch', { requireGuard: 'yes' }, 'sites[1].requireGuard: use true or false'],
    [
      'a key under both names',
      { requireGuard: true, onlyThroughGuard: true },
      'sites[1].onlyThroughGuard: is the former',
    ],
    ['limits that are no object', { limits: 5 }, 'sites[1].limits: use an object with keys and values; see docs'],
    ['a missing file of proxies', { trustedProxies: ['file:cdn.txt'] }, 'cdn.txt: can’t be read (ENOENT)'],
  ])('%s', async (_, mistake, reason) => {
    const { served, quarantined } = await load([good, { ...bad, ...mistake }]);
    expect(served).toEqual(['good']);
    expect(quarantined).toEqual([
      { id: 'bad', hosts: ['bad.example.com'], cause: 'entry', reason: expect.stringContaining(reason) },
    ]);
  });

  it('and every mistake in it is named with its key and what is allowed', async () => {
    const { quarantined } = await load([
      good,
      { id: 'my site', upstream: 'http://example.com/blog', hosts: ['example.com:80'], secret: 'x' },
    ]);
    expect(quarantined.flatMap(({ reason }) => reason.split('; sites'))).toEqual([
      'guard.json: sites[1].id: use letters, digits and hyphens',
      `[1].hosts[0]: ${HOSTS}`,
      `[1].upstream: ${UPSTREAM}`,
      "[1].secret: unknown key; see docs/operator/configuration.md; correct it, or remove the entry with `security-optimizer sites remove --site 'sites[1]'`",
    ]);
  });

  it('also when the entry is no object, or has no usable id: then its place is its name', async () => {
    const { served, quarantined } = await load([null, 'bad', { ...bad, id: 'no id' }, good]);
    expect(served).toEqual(['good']);
    expect(quarantined.map(({ id, hosts }) => [id, hosts])).toEqual([
      ['sites[0]', ['*']],
      ['sites[1]', []],
      ['sites[2]', ['bad.example.com']],
    ]);
    expect(quarantined[0]?.reason).toContain('guard.json: sites[0]: use an object with keys and values; see docs');
  });

  it('also when sites share a missing file of proxies: each of them', async () => {
    const shared = { trustedProxies: ['file:cdn.txt'] };
    const { served, quarantined } = await load([
      good,
      { ...bad, ...shared },
      { ...bad, ...shared, id: 'other', hosts: ['other.example.com'] },
    ]);
    expect([served, quarantined.map(({ id }) => id)]).toEqual([['good'], ['bad', 'other']]);
  });

  it.each<[unknown, readonly string[]]>([
    ['bad.example.com', ['bad.example.com']],
    [
      ['https://Bad.example.com/blog', 'www.bad.example.com:8443', 7],
      ['bad.example.com', 'www.bad.example.com'],
    ],
    [['bad.example.com, www.bad.example.com'], ['bad.example.com', 'www.bad.example.com']],
    [['bad host!'], ['bad']],
    [[], []],
    [undefined, ['*']],
  ])('with the hosts that can be read of %j, so that their visitors get no other site', async (hosts, read) => {
    const { quarantined } = await load([good, { ...bad, hosts, colour: 'blue' }]);
    expect(quarantined.map((site) => site.hosts)).toEqual([read]);
  });

  it.each<[string, object, string]>([
    ['listen', { listen: '8080' }, 'listen: use HOST:PORT'],
    ['the file of all proxies', { trustedProxies: ['file:cdn.txt'] }, 'cdn.txt: can’t be read'],
    ['an unknown key', { colour: 'blue' }, 'colour: unknown key'],
  ])('while a mistake outside of it, in %s, refuses the whole file', async (_, more, mistake) => {
    const failed = load([good, { ...bad, colour: 'blue' }], more);
    await expect(failed).rejects.toThrow(ConfigError);
    await expect(failed).rejects.toThrow(mistake);
  });
});

describe('an id or a host that is named twice', () => {
  it('belongs to the first entry, and the later one is quarantined', async () => {
    const { served, quarantined } = await load([good, bad, { ...good, hosts: ['other.example.com'] }]);
    expect(served).toEqual(['good', 'bad']);
    expect(quarantined).toMatchObject([
      { id: 'sites[2]', hosts: ['other.example.com'], reason: expect.stringContaining('good is used twice') },
    ]);
  });

  it('also for hosts, in any letter case: the others of the later entry are quarantined', async () => {
    const { served, quarantined } = await load([good, { ...bad, hosts: ['GOOD.example.com', 'bad.example.com'] }]);
    expect(served).toEqual(['good']);
    const reason = expect.stringContaining(
      'sites[1].hosts: good.example.com is named twice; a host belongs to one site',
    );
    expect(quarantined).toEqual([{ id: 'bad', hosts: ['bad.example.com'], cause: 'entry', reason }]);
  });

  it('also when the first entry has mistakes itself', async () => {
    const { served, quarantined } = await load([
      { ...good, colour: 'blue' },
      { ...bad, hosts: ['good.example.com'] },
    ]);
    expect(served).toEqual([]);
    expect(quarantined.map(({ id, hosts }) => [id, hosts])).toEqual([
      ['good', ['good.example.com']],
      ['bad', []],
    ]);
  });
});

describe('a command that writes the configuration', () => {
  it('leaves entries with mistakes as they are, at their place', async () => {
    const broken = [{ ...bad, colour: { shade: 'blue' }, onlyThroughGuard: false }, 7];
    const other = { id: 'other', upstream: 'http://127.0.0.1:8083', hosts: ['other.example.com'] };
    const dataDir = await folderWith([broken[0], good, broken[1], other]);
    await updateConfig(dataDir, (config, write) => write({ ...config, logLevel: 'warn' }));
    const file = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
    expect(file.logLevel).toBe('warn');
    expect(file.sites).toMatchObject([broken[0], good, broken[1], other]);
    expect(file.sites[0]).toEqual(broken[0]);
    await updateConfig(dataDir, (config, write) => write({ ...config, sites: [] }));
    expect(JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites).toEqual(broken);
  });

  it('can’t make another entry invalid', async () => {
    const dataDir = await folderWith([good, bad]);
    const doubled = updateConfig(dataDir, (config, write) =>
      write({ ...config, sites: config.sites.map((site) => ({ ...site, hosts: ['one.example.com'] })) }),
    );
    await expect(doubled).rejects.toThrow('one.example.com is named twice');
  });
});
