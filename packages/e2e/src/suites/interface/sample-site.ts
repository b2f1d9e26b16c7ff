import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BlockedRow, UnknownRow } from '@security-optimizer/contract/activity/schemas';
import type { Page } from 'playwright-core';
import { answerConsent, logIn, type Session } from '../../http/session.js';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { usersByRole } from '../../stacks/wordpress.js';
import { visitFrom } from '../activity/helpers.js';
import { resetOwnerPrompts } from '../dashboard/helpers.js';
import { change, recover } from '../login/helpers.js';

export const VISITOR = '203.0.113.81';
export const BLOCKED = '203.0.113.82';
const SCANNER = '203.0.113.83';
/** Attackers of one network are grouped. */
export const ATTACKERS = '203.0.113.0/24';
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const GUIDE = { title: 'Ten steps', text: 'A guide.', link: 'https://example.com/guide' };

/** A site on which every part of the interface has something to show. */
export interface SampleSite {
  readonly owner: Session;
  /** Runs `work` with an owner who has not answered the consent dialog. */
  withoutConsent(work: () => Promise<void>): Promise<void>;
  restore(): Promise<void>;
}

/** Names on that site that are not translated. */
export function listSiteValues(stack: Stack): string[] {
  const names = [
    'WordPress',
    'wordpress.org',
    'UDP',
    'PHP',
    'Akismet',
    'Googlebot',
    'xmlrpc',
    'name@example.com',
    'agency-with-a-long-name@example.net',
    'my house',
    GUIDE.title,
    GUIDE.text,
  ];
  const provider = ['admin', 'administrator', 'editor', 'owner', 'owner@example.com'];
  return [...names, ...provider, stack.user, ...Object.values(usersByRole), new URL(stack.url).host];
}

/**
 * Creates visits, activity of a registered user, a blocked visitor, recipients of the report, and a provider with a
 * guide.
 */
export async function prepareSampleSite(stack: Stack): Promise<SampleSite> {
  const file = join(stack.guardDir, 'guard.json');
  const before = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    JSON.stringify({ ...JSON.parse(before), trustedProxies: ['127.0.0.1'], branding: { ebook: GUIDE } }),
  );
  const resetPrompts = () => resetOwnerPrompts(stack, 'https://example.com/review');
  await resetPrompts();
  const owner = await logIn(stack);
  await answerConsent(stack, owner);
  const set = (suffix: string, body: unknown) => change(stack, owner, suffix, body);
  const visit = (from: string, target: string, agent?: string | null) =>
    visitFrom(stack, from, target, agent === undefined ? {} : { agent });

  await recover(stack, 'unblock', '--all');
  await set('/disable-xml-rpc', { disable_xml_rpc: 0 });
  await set('/disable-feeds', { disable_feed: 0 });
  await set('/lock-system-folders', { lock_system_folders: 1 });
  await set('/xss-protection', { xss_protection: 0 });
  await set('/limit-login-attempts', { login_attempts: 5 });
  await set('/notification-emails', { entries: ['owner@example.com', 'agency-with-a-long-name@example.net'] });
  await logIn(stack, usersByRole.editor);
  await visit(VISITOR, `/?long=${'abcdefghij'.repeat(20)}`);
  await visit(VISITOR, '/nothing-here/', null);
  await visit(SCANNER, '/.git/config');
  await visit('203.0.113.84', '/robots.txt', BOT);
  await set('/block-addresses', { address: BLOCKED });
  await visit(BLOCKED, '/?blocked');
  const list = async <Row>(suffix: string) => ((await set(suffix, {})) as { entries: Row[] }).entries;
  await until('the visits are listed', async () => {
    const rows = await list<UnknownRow>('/activity-unknown');
    return rows.some(({ ip }) => ip === BLOCKED) && rows.some(({ ip }) => ip === VISITOR);
  });
  await until('the login is listed', async () =>
    (await list<{ user: string }>('/activity-registered')).some(({ user }) => user === usersByRole.editor),
  );
  return {
    owner,
    async withoutConsent(work) {
      await resetPrompts();
      await work().finally(() => answerConsent(stack, owner));
    },
    async restore() {
      for (const { visitor_id } of await list<BlockedRow>('/blocked-users')) {
        if (visitor_id !== 0) await set(`/block-ip/${visitor_id}`, { block: 0 });
      }
      await recover(stack, 'unblock', '--all');
      await set('/notification-emails', { entries: [] });
      await set('/disable-xml-rpc', { disable_xml_rpc: 1 });
      await set('/xss-protection', { xss_protection: 1 });
      await stopGuard(stack);
      writeFileSync(file, before);
      await startGuard(stack);
    },
  };
}

const LIST = '.so-table:not(.so-table--sk)';
const EMPTY = '.so-empty';

/** Pages and tabs, each with a selector that matches once it has loaded. */
export const SCREENS = [
  ['security-optimizer', `.so-recent ${LIST}, .so-recent ${EMPTY}`],
  ['site-security', '[role="switch"]'],
  ['login-settings', '.so-row__ctl .so-btn'],
  ['activity-log', `${LIST}, ${EMPTY}`],
  ['activity-log#registered', `${LIST}, ${EMPTY}`],
  ['activity-log#blocked', `${LIST}, ${EMPTY}`],
  ['activity-log#weekly-reports', '.so-addmail .so-btn'],
  ['activity-log#log-settings', '.so-row__ctl .so-select'],
  ['post-hack-actions', '.so-row__ctl .so-btn'],
] as const;

/** Opens a page or tab and waits until all of it has loaded. Parts have their own requests, which end in any order. */
export async function openScreen(
  page: Page,
  stack: Stack,
  screen: string,
  ready: string,
  width: number,
): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  // From another page, so that the URL with its hash is really loaded.
  await page.goto('about:blank');
  await page.goto(`${stack.url}/wp-admin/admin.php?page=${screen}`);
  await page.locator(ready).first().waitFor();
  // The status control has its own request.
  if (screen !== 'security-optimizer') await page.locator('.so-status').waitFor();
  await nothingLoads(page);
}

/** Waits until no placeholder is left. */
export async function nothingLoads(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('.so .so-sk, .so [class*="--sk"]') === null);
}
