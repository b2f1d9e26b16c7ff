import { describe, expect, it } from 'vitest';
import { siteConfig } from '../testing/site-config.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import {
  administratorFindings,
  type CheckupDeps,
  changeFindings,
  coreFindings,
  optionFindings,
  runCheckup,
  taskFindings,
} from './checkup.js';

const DAY = 24 * 3600;
const now = 1_795_000_000;
const administrator = (login: string, days: number) => ({
  id: 1,
  login,
  email: `${login}@example.com`,
  registered: now - days * DAY,
  last_login: null,
  link: '',
});
const options = {
  site_url: 'https://example.com',
  home: 'https://example.com',
  admin_email: 'owner@example.com',
  default_role: 'subscriber',
  registration: false,
  strong_roles: [] as string[],
  settings_link: '/wp-admin/options-general.php',
};

describe('the checkup', () => {
  it('lists changed, missing and unknown files of WordPress as problems', () => {
    const found = coreFindings(
      { version: '6.5', changed: ['wp-login.php'], missing: ['wp-cron.php'], unknown: ['wp-x.php'] },
      '',
    );
    expect(found.map(({ id, level, items }) => [id, level, items])).toEqual([
      ['core-changed', 'problem', ['wp-login.php']],
      ['core-missing', 'problem', ['wp-cron.php']],
      ['core-foreign', 'problem', ['wp-x.php']],
    ]);
  });

  it('says so when all files are the official ones, and when it can’t be known', () => {
    expect(coreFindings({ version: '6.5', changed: [], missing: [], unknown: [] }, '')[0]?.level).toBe('fine');
    expect(coreFindings(null, '')[0]?.level).toBe('note');
  });

  it('points at administrators that came lately beside older ones, newest first', () => {
    const [found] = administratorFindings([administrator('owner', 400), administrator('stranger', 2)], now, '');
    expect(found?.level).toBe('problem');
    expect(found?.items[0]).toContain('stranger');
    expect(administratorFindings([administrator('owner', 2)], now, '')[0]?.level).toBe('note');
  });

  it('says when each last logged in, by the log or by an open session', () => {
    const [found] = administratorFindings([administrator('owner', 400)], now, '', new Map([[1, now - 3 * DAY]]));
    expect(found?.items[0]).toContain(`last log-in ${new Date((now - 3 * DAY) * 1000).toISOString().slice(0, 10)}`);
    expect(administratorFindings([administrator('owner', 400)], now, '')[0]?.items[0]).toContain('no log-in known');
  });

  it('tells which settings were changed, when and by whom', () => {
    const change = {
      at: now,
      login: 'editor',
      kind: 'option.changed',
      object: 'Membership',
      objectType: '',
      before: 'Off',
      after: 'On',
    };
    const [found] = changeFindings([change], '/log');
    expect(found?.items).toEqual(['2026-11-18, editor: Changed the setting “Membership” from Off to On']);
    expect(changeFindings([], '/log')).toEqual([]);
  });

  it('warns of a strong role for new users, most when anyone can register', () => {
    const level = (change: object) =>
      optionFindings({ ...options, ...change }, '').find(({ id }) => id === 'default-role')?.level;
    expect(level({ default_role: 'administrator', registration: true })).toBe('problem');
    expect(level({ default_role: 'administrator' })).toBe('note');
    expect(level({ default_role: 'helper', strong_roles: ['helper'], registration: true })).toBe('problem');
    expect(level({})).toBeUndefined();
  });

  it('names tasks that nobody waits for', () => {
    const task = (hook: string, owner: string) => ({ hook, next: now, owner });
    expect(taskFindings([task('wp_version_check', 'wordpress'), task('old_thing', '')])[0]?.items).toEqual([
      'old_thing',
    ]);
    expect(taskFindings([task('wp_version_check', 'wordpress')])[0]?.level).toBe('fine');
  });

  it('goes on with the other parts when one can’t be looked at', async () => {
    const deps: CheckupDeps = {
      commands: {
        core: () =>
          Promise.reject(new ConnectorError({ kind: 'unreachable', cause: 'no answer within the time allowed' })),
        administrators: async () => [administrator('owner', 400)],
        options: async () => options,
        tasks: async () => [],
      },
      coreChecksums: 'https://example.com/checksums',
      remembered: async () => ({ optionChanges: [], lastLogins: new Map() }),
      adminUrl: (_site, page) => `/wp-admin/${page}`,
      clock: () => now * 1000,
    };
    const parts = await runCheckup(deps, siteConfig());
    expect(parts.map(({ part, error }) => [part, error !== ''])).toEqual([
      ['core', true],
      ['administrators', false],
      ['options', false],
      ['tasks', false],
    ]);
  });
});
