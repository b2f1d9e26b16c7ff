import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExampleProvider, startExampleProvider } from '@security-optimizer/sandbox/start/example-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRequest } from '../../http/request.js';
import { answerConsent, logIn, type Session } from '../../http/session.js';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { resetOwnerPrompts } from '../dashboard/helpers.js';
import { expectFields, openPage, type SpecificationClient } from './specification-client.js';

const EBOOK = {
  title: 'A safer site',
  link: 'https://example.com/guide',
  text: 'A short guide for site owners.',
  image: 'https://example.com/guide.png',
};
const PAGES = {
  'security-optimizer': 'SECURITY_DASHBOARD',
  'login-settings': 'LOGIN_SETTINGS',
  'site-security': 'SITE_SECURITY',
  'activity-log': 'ACTIVITY_LOG',
  'post-hack-actions': 'POST_HACK_ACTIONS',
};
const TOGGLES = {
  '/lock-system-folders': 'lock_system_folders',
  '/hide-wp-version': 'wp_remove_version',
  '/disable-editors': 'disable_file_edit',
  '/disable-xml-rpc': 'disable_xml_rpc',
  '/disable-feeds': 'disable_feed',
  '/xss-protection': 'xss_protection',
  '/delete-readme': 'delete_readme',
};
const VISITOR = '203.0.113.147';

onUnlikeStacks('a client that knows only the specification', (stack) => {
  const file = join(stack.guardDir, 'guard.json');
  const before = readFileSync(file, 'utf8');
  const received = join(stack.guardDir, 'example-provider.log');
  let provider: ExampleProvider;
  let owner: Session;
  let client: SpecificationClient;
  const open = async (slug = 'security-optimizer') => {
    client = await openPage(stack, owner, slug);
    return client;
  };
  /** Sets the language of the owner. */
  const speak = (locale: string) =>
    runInWordPress(stack, `update_user_meta( get_user_by( 'login', '${stack.user}' )->ID, 'locale', '${locale}' );`);

  beforeAll(async () => {
    const config = JSON.parse(before) as { branding?: object };
    const branding = { ...config.branding, ebook: EBOOK };
    writeFileSync(file, JSON.stringify({ ...config, branding, trustedProxies: ['127.0.0.1'] }));
    provider = await startExampleProvider(received);
    await resetOwnerPrompts(stack, 'https://example.com/review', provider.url);
    owner = await logIn(stack);
    await open();
    // A change sends WordPress the complete state, including the consent.
    const { data } = await client.call('/fetch-options', { page: 'security' });
    for (const value of [1 - data.disable_feed, data.disable_feed]) {
      await client.call('/disable-feeds', { disable_feed: value });
    }
  });
  afterAll(async () => {
    await speak('');
    owner = await logIn(stack);
    await answerConsent(stack, owner);
    await stopGuard(stack);
    writeFileSync(file, before);
    await startGuard(stack);
    await provider.close();
    rmSync(received, { force: true });
  });

  describe('starts from the page', () => {
    it('with the page identifier and every key of the configuration', async () => {
      for (const [slug, id] of Object.entries(PAGES)) {
        const { config, page } = await open(slug);
        expect(page).toBe(id);
        const text = 'string' as const;
        expectFields(config, {
          ...{ rest_base: text, home_url: text, log_page_url: text, assets_path: text },
          ...{ locale: text, localeSlug: text, wp_nonce: text },
        });
        expectFields(config.data_consent_popup, { show_data_field: 'flag', show_email_field: 'flag' });
        expect(config.log_page_url).toContain('page=activity-log');
      }
    });

    it('with the messages of the locale as a flat map, and the header alone in English', async () => {
      const english = JSON.parse((await open()).config.locale);
      expect(english).toEqual({ '': { lang: 'en', plural_forms: 'nplurals=2; plural=(n != 1);' } });
      expect(client.config.localeSlug).toMatch(/^en(?:-US)?$/);
      await speak('de_DE');
      const { config, translate } = await open();
      expect(config.localeSlug).toBe('de-DE');
      const { '': header, ...messages } = JSON.parse(config.locale);
      expect(header).toEqual({ lang: 'de_DE', plural_forms: expect.stringContaining('nplurals=2') });
      expect(Object.keys(messages).length).toBeGreaterThan(500);
      for (const [text, forms] of Object.entries(messages)) {
        if (!Array.isArray(forms) || forms.some((form) => typeof form !== 'string')) throw new Error(text);
      }
      expect(translate('This field is required.')).toBe('Dieses Feld ist erforderlich.');
      await speak('');
    });
  });

  describe('on the Security Dashboard', () => {
    it('shows the e-book, the cards with their icons, and the notifications', async () => {
      await open();
      expect((await client.call('/e-book')).data).toEqual(EBOOK);
      const text = 'string' as const;
      const button = { title: text, text, button_link: text, button_text: text };
      const { data: cards } = await client.call('/hardening');
      expect(cards).toHaveLength(2);
      for (const card of cards) {
        expectFields(card, { ...button, icon: text });
        const icon = await sendRequest(stack, {
          target: new URL(`${client.config.assets_path}icons/${card.icon}.svg`).pathname,
        });
        expect([icon.status, icon.body.includes('<svg')]).toEqual([200, true]);
      }
      for (const item of (await client.call('/notifications')).data) expectFields(item, button);
    });

    it('dismisses Rate Us for good', async () => {
      expect((await client.call('/rate')).data.show).toBe(1);
      await client.call('/rate', { show: 0 });
      expect((await client.call('/rate')).data.show).toBe(0);
    });

    it('asks for consent while the flags of the page say so, does what was agreed to, and never asks again', async () => {
      expect((await open()).config.data_consent_popup).toEqual({ show_data_field: 1, show_email_field: 1 });
      await client.saveConsent({ siteground_data_consent: 0, siteground_email_consent: 1 });
      expect(readFileSync(received, 'utf8')).toMatch(/ \/mails .*owner@example\.com/);
      expect((await open()).config.data_consent_popup).toEqual({ show_data_field: 0, show_email_field: 0 });
    });
  });

  describe('changes settings', () => {
    it('of Site Security with one field each, and reads them again', async () => {
      const { data: options } = await client.call('/fetch-options', { page: 'security' });
      expect(Object.keys(options).toSorted()).toEqual(Object.values(TOGGLES).toSorted());
      for (const [suffix, field] of Object.entries(TOGGLES)) {
        const { data } = await client.call(suffix, { [field]: options[field] });
        expect(data).toEqual({ [field]: options[field] });
      }
      expect((await client.call('/fetch-options?page=security', undefined, 'GET')).data).toEqual(options);
    });

    it('of Login Security', async () => {
      const { data: login } = await client.call('/fetch-options', { page: 'login' });
      expectFields(login, {
        ...{ sg2fa: 'flag', disable_usernames: 'flag', login_url: 'list', login_attempts: 'list' },
        ...{ reset_2fa: 'list', login_access: 'list' },
      });
      expectFields(login.usernames_data, { admin_matches: 'list', all_users: 'list' });
      for (const user of login.usernames_data.all_users) expectFields(user, { user_login: 'string' });
      const page = login.login_url.find(({ selected }: { selected: unknown }) => selected);
      expect(page.type).toBe('default');
      for (const entry of login.login_attempts) expectFields(entry, { value: 'number', label: 'string' });

      expect((await client.call('/limit-login-attempts', { login_attempts: 3 })).data.login_attempts).toContainEqual(
        expect.objectContaining({ value: 3 }),
      );
      await client.call('/limit-login-attempts', { login_attempts: 5 });
      await client.call('/2fa', { sg2fa: 0 });
      await client.call('/disable-admin-username', { disable_usernames: login.disable_usernames });
      await client.call('/login-access', []);
      await client.call('/custom-login-url', { type: 'default', login: page.login, signup: page.signup });
      await client.call('/away-mode', { type: 'off', requestTypeName: 'AWAY_MODE' });
    });

    it('of the log, and the recipients of its reports', async () => {
      const { data: options } = await client.call('/fetch-options', { page: 'activity' });
      expect(options.log_lifetime).toHaveLength(12);
      await client.call('/manage-activity-log', { disable_activity_log: options.disable_activity_log });
      await client.call('/activity-log-lifetime', { log_lifetime: 12 });
      await client.call('/notification-emails', { entries: ['one@example.com', 'two@example.com'] });
      const { data: report } = await client.call('/weekly-report');
      expect(report.entries.map(({ email }: { email: string }) => email)).toEqual([
        'one@example.com',
        'two@example.com',
      ]);
      expectFields(report, { max_emails: 'number' });
      await client.call('/notification-emails', { entries: [] });
    });
  });

  describe('reads the log and manages traffic', () => {
    it('in a limited view, page by page, with the filters that the server sent', async () => {
      const { data: limited } = await client.call('/activity-unknown', { limitedView: 1 });
      expect(limited.entries.length).toBeLessThanOrEqual(5);
      expect([limited.page, limited.pages]).toEqual([1, 1]);
      const { data: first } = await client.call('/activity-unknown', { page: 1, filters: null });
      expectFields(first.entries[0], {
        ...{ ts: 'string', type: 'string', ip: 'string', hostname: 'string', page_visited: 'string' },
        ...{ response: 'string', do_not_block: 'flag', visitor_id: 'number' },
      });
      // Filters come back as they were sent, as a list or as an object with numeric keys.
      for (const filters of [first.filters, { ...first.filters }]) {
        const { data } = await client.call('/activity-unknown', { page: 1, filters });
        expect(data.pages).toBeGreaterThanOrEqual(first.pages);
      }
      const { data: registered } = await client.call('/activity-registered', { limitedView: 1 });
      expectFields(registered.entries[0], {
        ...{ ts: 'string', user: 'string', ip: 'string', hostname: 'string', activity: 'string' },
        ...{ do_not_block: 'flag', visitor_id: 'number' },
      });
    });

    it('and blocks and unblocks an address', async () => {
      const visit = () => sendRequest(stack, { target: '/?specification', headers: { 'x-forwarded-for': VISITOR } });
      expect((await visit()).status).toBe(200);
      const filters = [{ wp_name: 'ip', children: [{ id: 'ip', value: VISITOR }] }];
      const row = await until('the visitor is listed', async () => {
        const { data } = await client.call('/activity-unknown', { filters });
        return data.entries[0] ?? null;
      });
      expect(row).toMatchObject({ ip: VISITOR, do_not_block: 0 });
      const status = async () => (await client.call(`/get-visitor-status/${row.visitor_id}`, undefined, 'GET')).data;
      expect((await status()).block).toBe(0);
      await client.call(`/block-ip/${row.visitor_id}`, { block: 1 });
      expect([(await status()).block, (await visit()).status]).toEqual([1, 403]);
      const { data: blocked } = await client.call('/blocked-users');
      const entry = blocked.entries.find(({ visitor_id }: { visitor_id: number }) => visitor_id === row.visitor_id);
      expectFields(entry, { ts: 'string', user: 'string', type: 'string', visitor_id: 'number' });
      await client.call(`/block-ip/${row.visitor_id}`, { block: 0 });
      expect([(await status()).block, (await visit()).status]).toEqual([0, 200]);
      await client.call('/login-unblock', { ip: VISITOR, block: 0 });
    });

    it('and blocks and unblocks a user', async () => {
      await logIn(stack, usersByRole.subscriber);
      const row = await until('the login is listed', async () => {
        const { data } = await client.call('/activity-registered', {});
        return data.entries.find(({ user }: { user: string }) => user === usersByRole.subscriber) ?? null;
      });
      await client.call(`/block-user/${row.visitor_id}`, { block: 1 });
      await expect(logIn(stack, usersByRole.subscriber)).rejects.toThrow();
      await client.call(`/block-user/${row.visitor_id}`, { block: 0 });
      await logIn(stack, usersByRole.subscriber);
    });
  });

  it('logs out all users, itself included', async () => {
    await client.call('/logout-users');
    await expect(client.call('/fetch-options', { page: 'security' })).rejects.toThrow(/403/);
  });
});
