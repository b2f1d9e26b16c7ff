import { toEnglish } from '@security-optimizer/contract/server-message';
import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { FoundFiles, InstalledPlugins } from '../wordpress/connector-commands.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import { type CheckupContext, type RecentEvents, runCheckup } from './checkup.js';
import type { PromotionEvent } from './checkup-findings.js';

const DAY = 24 * 3600;
/** 21 November 2026, 13:06:40 in Berlin. */
const now = 1_795_262_800;
const none: FoundFiles = { files: [], count: 0, state: '' };
const files = (...names: string[]): FoundFiles => ({
  files: names.map((file) => ({ file, path: btoa(file), at: now - DAY, state: `sha-${file}` })),
  count: names.length,
  state: names.join('+'),
});
const administrator = (login: string, days: number, change: object = {}) => ({
  ...{ id: login.length, login, email: `${login}@example.com`, registered: now - days * DAY },
  ...{ last_login: null, sessions: 0, link: '' },
  ...change,
});
const options = {
  ...{ site_url: 'https://example.com', home: 'https://example.com', admin_email: 'owner@example.com' },
  ...{ default_role: 'subscriber', registration: false, strong_roles: [] as string[] },
  settings_link: '/wp-admin/options-general.php',
};
const plugin = (file: string): InstalledPlugins['plugins'][number] => ({
  ...{ file, name: file.split('/')[0] ?? file, version: '1.0', kind: 'plugin', active: true, network_active: false },
});
const unreachable = () =>
  Promise.reject(new ConnectorError({ kind: 'unreachable', cause: 'no answer within the time allowed' }));

/** A checkup of a clean site, except for what the test changes. */
async function check(
  change: Partial<CheckupContext['commands']> = {},
  {
    before = null as readonly number[] | null,
    remembered = {} as Partial<RecentEvents>,
    locked = true,
    deletesReadme = false,
  } = {},
) {
  const requested: string[] = [];
  let ended = 0;
  const context: CheckupContext = {
    commands: {
      core: async () => ({ version: '6.5', changed: none, missing: [], unknown: none, left: [] }),
      administrators: async () => [administrator('owner', 400)],
      options: async () => options,
      tasks: async () => [],
      uploads: async () => ({ complete: true, scripts: [], count: 0 }),
      plugins: async () => ({ plugins: [plugin('form/form.php'), plugin('shop/shop.php')], users: 1, sessions: 1 }),
      async comparePlugin(_site, file) {
        requested.push(file);
        return { result: 'compared', found: none };
      },
      ...change,
    },
    coreChecksums: 'https://example.com/core',
    pluginChecksums: 'https://example.com/plugins',
    remembered: async () => ({ optionChanges: [], lastLogins: new Map(), promotions: [], ...remembered }),
    adminUrl: (_site, page) => `/wp-admin/${page}`,
    timeZone: () => 'Europe/Berlin',
    foldersLocked: () => locked,
    deletesReadme: () => deletesReadme,
    clock: () => now * 1000,
  };
  const found = await runCheckup(context, siteConfig(), before, () => {
    ended += 1;
  });
  return { ...found, requested, ended };
}

const titles = (found: { findings: readonly { title: unknown }[] }) =>
  found.findings.map(({ title }) => toEnglish(title as string));
const missing = (found: { checks: readonly { check: string; ran: number }[] }) =>
  found.checks.filter(({ ran }) => ran === 0).map(({ check: name }) => name);

describe('the checkup', () => {
  it('runs four checks and finds nothing on a clean site', async () => {
    const found = await check();
    expect(found.checks.map(({ check: name, ran }) => [name, ran])).toEqual([
      ['core', 1],
      ['administrators', 1],
      ['uploads', 1],
      ['plugins', 1],
    ]);
    expect(found.findings).toEqual([]);
    expect([found.ended, found.requested]).toEqual([4, ['form/form.php', 'shop/shop.php']]);
  });

  it('continues when WordPress can’t run one of them, and never reports that one as clear', async () => {
    const found = await check({ core: unreachable, options: unreachable });
    expect(missing(found)).toEqual(['core', 'administrators']);
    expect(found.administrators).toBeNull();
    expect(found.ended).toBe(4);
  });

  it.each([
    ['checksums_unreachable', 'wordpress.org did not answer, so nothing is known about them.'],
    ['no_checksums', 'There are no checksums for this version of WordPress, so nothing is known about them.'],
  ] as const)('says why core files could not be compared: %s', async (reason, text) => {
    const found = await check({ core: async () => reason });
    expect(missing(found)).toEqual(['core']);
    expect(found.checks[0]?.title).toBe('Core files could not be compared');
    expect(toEnglish(found.checks[0]?.text ?? '')).toBe(text);
    expect(found.findings).toEqual([]);
  });

  it('lists changed, missing and unknown core files, with the time of their change', async () => {
    const found = await check({
      core: async () => ({
        version: '6.5',
        changed: { ...files('wp-login.php'), count: 300 },
        missing: ['wp-cron.php'],
        unknown: files('wp-x.php'),
        left: [],
      }),
    });
    expect(titles(found)).toEqual([
      '300 files of WordPress were changed',
      '1 file of WordPress is missing',
      '1 file in the folders of WordPress is not part of it',
    ]);
    expect(found.findings[0]?.items.map(toEnglish)).toEqual([
      'wp-login.php, changed on 2026-11-20 13:06',
      'and 299 more files',
    ]);
    expect(found.findings[0]).toMatchObject({ link: '/wp-admin/update-core.php', link_text: 'Reinstall WordPress' });
  });

  it('lists missing files that WordPress does not need as a note, not as a finding', async () => {
    const missing = [
      'license.txt',
      'licenza.html',
      'readme.html',
      'wp-config-sample.php',
      'wp-includes/images/rss.png',
      'wp-content/themes/one/readme.txt',
    ];
    const core = async () => ({ version: '6.5', changed: none, missing, unknown: none, left: [] });
    const found = await check({ core });
    expect(titles(found)).toEqual([]);
    const [note] = found.notes.filter(({ id }) => id.startsWith('core-'));
    expect(note).toMatchObject({ id: 'core-missing', items: missing, link: '/wp-admin/update-core.php' });
    expect(found.checks[0]?.ran).toBe(1);
  });

  it('omits the readme that the site itself deletes', async () => {
    const core = async () => ({ version: '6.5', changed: none, missing: ['readme.html'], unknown: none, left: [] });
    const notes = async (deletesReadme: boolean) =>
      (await check({ core }, { deletesReadme })).notes.map(({ id }) => id).filter((id) => id.startsWith('core-'));
    expect(await notes(true)).toEqual([]);
    expect(await notes(false)).toEqual(['core-missing']);
  });

  it('lists files that the server adds as a note', async () => {
    const left = ['error_log', 'wp-admin/.user.ini'];
    const found = await check({
      core: async () => ({ version: '6.5', changed: none, missing: [], unknown: none, left }),
    });
    expect(titles(found)).toEqual([]);
    expect(found.notes.filter(({ id }) => id.startsWith('core-'))).toMatchObject([{ id: 'core-left', items: left }]);
  });

  it.each(['wp-login.php', 'wp-includes/version.php', 'wp-includes/js/jquery/jquery.js', 'wp-admin/css/login.css'])(
    'lists %s as a file that WordPress can’t work without',
    async (file) => {
      const core = async () => ({ version: '6.5', changed: none, missing: [file], unknown: none, left: [] });
      expect(titles(await check({ core }))).toEqual(['1 file of WordPress is missing']);
    },
  );

  it('gives a kept file another key when it is changed again', async () => {
    const changed = async (state: string) =>
      (
        await check({
          core: async () => ({
            version: '6',
            changed: { ...files('a.php'), state },
            missing: [],
            unknown: none,
            left: [],
          }),
        })
      ).findings[0]?.key;
    expect(await changed('one')).toBe(await changed('one'));
    expect(await changed('one')).not.toBe(await changed('two'));
  });
});

describe('administrators in the checkup', () => {
  const promotion = (change: Partial<PromotionEvent>): PromotionEvent => ({
    ...{ at: now - 2 * DAY, login: 'owner', address: '203.0.113.88', kind: 'user.created' },
    ...{ object: 'helper', after: 'Administrator', origin: 'web' },
    ...change,
  });

  it('are a finding when they are new, with who created them and from where', async () => {
    const all = [administrator('owner', 400), administrator('helper', 2, { sessions: 1 })];
    const found = await check({ administrators: async () => all }, { remembered: { promotions: [promotion({})] } });
    expect(titles(found)).toEqual(['New administrator: helper']);
    const [finding] = found.findings;
    expect(toEnglish(finding?.text ?? '')).toBe('Created by owner on 2026-11-19 13:06, from 203.0.113.88.');
    expect(toEnglish(finding?.fact ?? '')).toBe('Removing also ends 1 open session');
    expect(finding).toMatchObject({ is_new: 1, link: '/wp-admin/user-edit.php?user_id=6' });
    expect(found.administrators).toEqual([5]);
  });

  it.each([
    ['cli', '', 'Created from the command line on 2026-11-19 13:06.'],
    ['cron', '', 'Created by a scheduled task on 2026-11-19 13:06.'],
    ['web', '203.0.113.88', 'Created on 2026-11-19 13:06 by a visitor who was not logged in, from 203.0.113.88.'],
    ['web', '', 'Created on 2026-11-19 13:06. The log does not say by whom.'],
  ] as const)('name the origin without a user: %s “%s”', async (origin, address, text) => {
    const administrators = async () => [administrator('owner', 400), administrator('helper', 2)];
    for (const [kind, expected] of [
      ['user.created', text],
      ['user.role', text.replace('Created', 'Made an administrator')],
    ] as const) {
      const event = promotion({ kind, origin, address, login: '' });
      const [finding] = (await check({ administrators }, { remembered: { promotions: [event] } })).findings;
      if (kind === 'user.role' && origin === 'web' && address === '') continue;
      expect(toEnglish(finding?.text ?? '')).toBe(expected);
    }
  });

  it('are new for seven days, and remain a finding until they are kept', async () => {
    const after = (days: number, before: number[] | null = [5]) =>
      check({ administrators: async () => [administrator('owner', 400), administrator('helper', days)] }, { before });
    expect((await after(6)).findings[0]?.is_new).toBe(1);
    expect((await after(8)).findings[0]?.is_new).toBe(0);
    expect(titles(await after(90))).toEqual(['New administrator: helper']);
    expect(titles(await after(90, [5, 6]))).toEqual([]);
    expect(titles(await after(90, null))).toEqual([]);
  });

  it('are no finding for the account with which a new site was set up', async () => {
    expect(titles(await check({ administrators: async () => [administrator('owner', 1)] }))).toEqual([]);
  });

  it('are a finding when an old account was promoted, also when the log does not contain it', async () => {
    const administrators = async () => [administrator('owner', 400), administrator('helper', 300)];
    const promoted = promotion({ kind: 'user.role', at: now - DAY });
    const [finding] = (await check({ administrators }, { remembered: { promotions: [promoted] } })).findings;
    expect(toEnglish(finding?.text ?? '')).toContain('Made an administrator by owner on 2026-11-20 13:06');
    expect(finding?.is_new).toBe(1);
    const [untold] = (await check({ administrators }, { before: [5] })).findings;
    expect(toEnglish(untold?.text ?? '')).toContain('No administrator at the checkup before.');
  });

  it('are a finding together with a strong role for new users when anyone can register', async () => {
    const found = (change: object) => check({ options: async () => ({ ...options, ...change }) });
    expect(titles(await found({ default_role: 'administrator', registration: true }))).toEqual([
      'New users become Administrator',
    ]);
    const closed = await found({ default_role: 'administrator' });
    expect([titles(closed), closed.notes.map(({ id }) => id)]).toEqual([
      [],
      ['administrators', 'default-role', 'addresses'],
    ]);
  });
});

describe('uploads and plugins in the checkup', () => {
  const script = (name: string) => {
    const file = `/wp-content/uploads/${name}.php`;
    return { file, path: btoa(file), at: now - DAY, state: name };
  };

  it('lists scripts in uploads separately, and many of them together', async () => {
    const some = await check({ uploads: async () => ({ complete: true, scripts: [script('a')], count: 1 }) });
    const file = '/wp-content/uploads/a.php';
    expect(some.findings[0]).toMatchObject({
      title: 'A script in uploads',
      items: [file],
      fact: 'A copy is kept for 30 days',
      removal: { kind: 'files', files: [{ file, path: btoa(file), state: 'a' }] },
    });
    expect(toEnglish(some.findings[0]?.text ?? '')).toContain('It can’t run there while system folders are locked');
    const open = await check(
      { uploads: async () => ({ complete: true, scripts: [script('a')], count: 1 }) },
      { locked: false },
    );
    expect(toEnglish(open.findings[0]?.text ?? '')).toContain('it can run while system folders are not locked');
    const scripts = ['a', 'b', 'c', 'd', 'e', 'f'].map(script);
    const many = await check({ uploads: async () => ({ complete: true, scripts, count: 6 }) });
    expect(titles(many)).toEqual(['6 scripts in uploads']);
    expect(many.findings[0]?.removal).toMatchObject({ kind: 'files', files: scripts.map(({ file }) => ({ file })) });
  });

  it('does not report an incomplete search as done, and lists what it found', async () => {
    const found = await check({ uploads: async () => ({ complete: false, scripts: [script('a')], count: 1 }) });
    expect(missing(found)).toEqual(['uploads']);
    expect(titles(found)).toEqual(['A script in uploads']);
  });

  it('offers a clean copy of a plugin whose files differ from the directory', async () => {
    const found = await check({
      comparePlugin: async (_site, file) => ({
        result: 'compared',
        found: file === 'form/form.php' ? files('send.php', 'door.php') : none,
      }),
    });
    expect(titles(found)).toEqual(['form: 2 files are not the original ones']);
    expect(found.findings[0]).toMatchObject({ check: 'plugins', plugin: 'form/form.php' });
  });

  it('stops querying the directory once it does not respond, and says for how many plugins', async () => {
    const requested: string[] = [];
    const found = await check({
      async comparePlugin(_site, file) {
        requested.push(file);
        return { result: 'unreachable', found: none };
      },
    });
    expect(requested).toEqual(['form/form.php']);
    expect(missing(found)).toEqual(['plugins']);
    expect(toEnglish(found.checks[3]?.text ?? '')).toBe(
      'The plugin directory did not answer for 2 plugins, so nothing is known about them.',
    );
  });

  it('notes plugins that are not in the directory, and scheduled tasks that no plugin or theme handles', async () => {
    const found = await check({
      comparePlugin: async () => ({ result: 'not_listed', found: none }),
      tasks: async () => [{ hook: 'old_thing', next: now, owner: '' }],
    });
    expect(found.findings).toEqual([]);
    const note = (id: string) => found.notes.find((one) => one.id === id);
    expect(toEnglish(note('plugins-not-listed')?.title ?? '')).toContain('2 plugins are not in the plugin directory');
    expect(note('tasks-unknown')?.items).toEqual(['old_thing']);
  });

  it('notes which settings were changed, when and by whom', async () => {
    const change = {
      ...{ at: now, login: 'editor', kind: 'option.changed', object: 'Membership' },
      ...{ objectType: '', before: 'Off', after: 'On' },
    };
    const found = await check({}, { remembered: { optionChanges: [change] } });
    expect(found.notes.find(({ id }) => id === 'settings-changed')?.items).toEqual([
      '2026-11-21, editor: Turned on the setting “Membership”',
    ]);
  });
});
