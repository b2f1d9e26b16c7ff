import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInChild, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { callApi, dataFolderFor } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';

async function guardWithSettings() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const guard = await serve(dataDir);
  expect((await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
  return { dataDir, guard, file: join(await scratchFolder(), 'settings.json') };
}

const importSettings = (file: string, dataDir: string) => runInChild('settings', 'import', file, '--data-dir', dataDir);
const exportSettings = async (dataDir: string) => {
  const { stdout } = await runInChild('settings', 'export', '--data-dir', dataDir);
  return JSON.parse(stdout).settings as Record<string, unknown>;
};

describe('settings of a site as JSON', () => {
  it('are exported, and imported by another guard, which enforces them at once', async () => {
    const one = await guardWithSettings();
    const settings = await exportSettings(one.dataDir);
    expect(settings).toMatchObject({ disable_feed: 1 });
    expect(settings).not.toHaveProperty('data_consent');
    await writeFile(one.file, JSON.stringify({ settings }));

    const other = await dataFolderFor(await fakeConnector());
    const guard = await serve(other);
    expect((await fetch(`${guard.url}/feed/`)).status).toBe(200);
    expect(await importSettings(one.file, other)).toMatchObject({ status: 0, stderr: '' });
    await eventually(async () => (await fetch(`${guard.url}/feed/`)).status === 404);
    expect(await exportSettings(other)).toEqual(settings);
  });

  it('keep their values where the file has none', async () => {
    const { dataDir, file } = await guardWithSettings();
    const before = await exportSettings(dataDir);
    await writeFile(file, JSON.stringify({ settings: { login_access: ['192.0.2.0/24', ' 192.0.2.0/24 '] } }));
    expect((await importSettings(file, dataDir)).stdout).toBe('Set 1 settings of site.\n');
    expect(await exportSettings(dataDir)).toEqual({ ...before, login_access: ['192.0.2.0/24'] });
  });

  it('stay unchanged when one value is wrong, and each fault is named', async () => {
    const { dataDir, file } = await guardWithSettings();
    const before = await exportSettings(dataDir);
    const wrong = {
      disable_feed: 2,
      colour: 'green',
      login_access: ['192.0.2.1', 'everybody'],
      login_url: { type: 'custom', login: 'wp-admin', signup: '' },
      notification_emails: ['owner(at)example.com'],
      away_mode: { type: 'daily', from_hour: '10:00', to_hour: '10:00' },
      disable_xml_rpc: 0,
    };
    await writeFile(file, JSON.stringify({ settings: wrong }));
    const { status, stderr } = await importSettings(file, dataDir);
    expect(status).toBe(1);
    for (const name of Object.keys(wrong).filter((each) => each !== 'disable_xml_rpc')) {
      expect(stderr).toMatch(new RegExp(`^  ${name}[.:]`, 'm'));
    }
    expect(await exportSettings(dataDir)).toEqual(before);
  });

  const day = (shift: number) =>
    new Date(Date.now() + shift * 86_400_000)
      .toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })
      .toLowerCase();
  const hour = (shift: number) => new Date(Date.now() + shift * 3_600_000).toISOString().slice(11, 16);

  it.each([
    ['weekly', { type: 'weekly', weekly: [-1, 0, 1].map(day) }],
    ['daily', { type: 'daily', from_hour: hour(-6), to_hour: hour(6) }],
  ])('never start Away Mode at once, which could lock the owner out: %s', async (_, schedule) => {
    const { dataDir, file } = await guardWithSettings();
    const before = await exportSettings(dataDir);
    await writeFile(file, JSON.stringify({ settings: { disable_xml_rpc: 0, away_mode: schedule } }));
    const { status, stderr } = await importSettings(file, dataDir);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^ {2}away_mode\.type: Away Mode would start at once and last until .*leave away_mode out/m,
      ),
    ]);
    expect(await exportSettings(dataDir)).toEqual(before);
  });

  it('set a schedule of Away Mode that begins later, and take one that is in force already', async () => {
    const { dataDir, guard, file } = await guardWithSettings();
    const later = { type: 'weekly', weekly: [2, 3].map(day) };
    await writeFile(file, JSON.stringify({ settings: { away_mode: later } }));
    expect(await importSettings(file, dataDir)).toMatchObject({ status: 0, stderr: '' });
    expect((await exportSettings(dataDir)).away_mode).toMatchObject({ type: 'weekly' });
    await writeFile(file, JSON.stringify({ settings: { away_mode: { type: 'off' } } }));
    expect((await importSettings(file, dataDir)).status).toBe(0);

    const now = { type: 'daily', from_hour: hour(-6), to_hour: hour(6) };
    await eventually(
      async () =>
        (await callApi(guard.url, '/away-mode', { body: JSON.stringify({ ...now, confirm: 1 }) })).http === 200,
    );
    await writeFile(file, JSON.stringify({ settings: { away_mode: now, disable_xml_rpc: 0 } }));
    expect(await importSettings(file, dataDir)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['invalid JSON', '{', 'can’t be read as JSON'],
    ['no settings', '{"sites":[]}', 'needs an object `settings`'],
  ])('are refused from a file with %s', async (_, text, message) => {
    const { dataDir, file } = await guardWithSettings();
    await writeFile(file, text);
    expect(await importSettings(file, dataDir)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  });
});
