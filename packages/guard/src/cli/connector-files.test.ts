import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import type { ConnectorSources } from '../wordpress/site-files.js';
import { fileRecord, installConnector } from './connector-files.js';

const settings = { secret: 'a'.repeat(64), requireGuard: true };
const LOADER = `<?php // version
if ( is_readable( __DIR__ . '/security-optimizer/includes/class-hooks.php' ) ) {
	require __DIR__ . '/security-optimizer/includes/class-hooks.php';
}`;
const CLASSES = ['class-hooks.php', 'login/class-staff.php'];

/** A WordPress, and a connector whose two classes name their version. */
async function site() {
  const [wordpressDir, sources, dataDir] = [await scratchFolder(), await scratchFolder(), await scratchFolder()];
  await mkdir(join(dataDir, 'sites'));
  const record = fileRecord(dataDir, 'site');
  const install = (version: ConnectorSources) => installConnector({ wordpressDir }, version, settings, record);
  await mkdir(join(wordpressDir, 'wp-content'));
  await writeFile(join(wordpressDir, 'wp-config.php'), '<?php');
  await mkdir(join(sources, 'includes', 'login'), { recursive: true });
  const plugins = join(wordpressDir, 'wp-content', 'mu-plugins');
  const folder = join(plugins, 'security-optimizer');
  const version = async (name: string): Promise<ConnectorSources> => {
    await writeFile(join(sources, 'loader.php'), LOADER.replace('version', name));
    for (const each of CLASSES) await writeFile(join(sources, 'includes', each), name);
    const files = CLASSES.map((each) => `includes/${each}`).map((to) => ({ from: join(sources, to), to }));
    return { loader: join(sources, 'loader.php'), files };
  };
  const loader = () => readFile(join(plugins, 'security-optimizer.php'), 'utf8');
  /** The versions of both classes that the loader would run. */
  const runs = async () => {
    const [, classes] = /security-optimizer\/([^/]+)\/class-hooks/.exec(await loader()) as RegExpExecArray;
    const of = (name: string) => readFile(join(folder, classes as string, name), 'utf8');
    return Promise.all(CLASSES.map(of));
  };
  const countVersions = async () => (await readdir(folder)).filter((name) => name.startsWith('includes')).length;
  return { install, record, folder, version, loader, runs, countVersions, sources };
}

describe('the files of the connector', () => {
  it('change all at once: an interrupted update keeps all files of the previous version', async () => {
    const { install, folder, version, runs, loader } = await site();
    await install(await version('one'));
    const before = await loader();
    const next = await version('two');
    // A file that can't be written, in the middle of the others.
    await mkdir(join(folder, 'languages', 'x.mo'), { recursive: true });
    const [file] = next.files;
    const files = [...next.files, { from: file?.from as string, to: 'languages/x.mo' }];
    await expect(install({ ...next, files })).rejects.toThrow();
    expect(await loader()).toBe(before);
    expect(await runs()).toEqual(['one', 'one']);
  });

  it('of the previous version stay for requests that still run it, and the next update deletes them', async () => {
    const { install, version, runs, countVersions } = await site();
    for (const [name, folders] of [
      ['one', 1],
      ['two', 2],
      ['three', 2],
      ['three', 1],
    ] as const) {
      await install(await version(name));
      expect(await runs()).toEqual([name, name]);
      expect(await countVersions()).toBe(folders);
    }
  });

  it('move from one common folder to a folder for each version, and the next update deletes the common one', async () => {
    const { install, folder, version, runs, countVersions } = await site();
    const flat = await version('one');
    const [hooks, staff] = flat.files;
    await install({
      ...flat,
      files: [hooks as (typeof flat.files)[number], { from: staff?.from as string, to: 'includes/class-staff.php' }],
    });
    const [old] = await readdir(folder);
    expect(await readdir(join(folder, old as string))).toEqual(CLASSES.map((name) => basename(name)));
    const next = await version('two');
    await install(next);
    expect(await runs()).toEqual(['two', 'two']);
    expect(await countVersions()).toBe(2);
    await install(next);
    expect(await countVersions()).toBe(1);
    expect(await readdir(folder)).not.toContain(old);
  });

  it('replace those of a connector that had one folder for all versions', async () => {
    const { install, record, folder, version, runs, countVersions } = await site();
    await mkdir(join(folder, 'includes'), { recursive: true });
    const old = ['class-hooks.php', 'class-old.php'];
    for (const name of old) await writeFile(join(folder, 'includes', name), 'old');
    await record.write(old.map((name) => `security-optimizer/includes/${name}`));
    await writeFile(join(folder, '..', 'security-optimizer.php'), LOADER);
    await install(await version('one'));
    expect(await runs()).toEqual(['one', 'one']);
    expect(await countVersions()).toBe(2);
    await install(await version('one'));
    expect(await countVersions()).toBe(1);
  });

  it('are written again where one was lost or truncated', async () => {
    const { install, folder, version, runs } = await site();
    await install(await version('one'));
    const [classes] = await readdir(folder);
    await rm(join(folder, classes as string, 'login'), { recursive: true });
    await writeFile(join(folder, classes as string, 'class-hooks.php'), 'on');
    await install(await version('one'));
    expect(await runs()).toEqual(['one', 'one']);
  });
});
