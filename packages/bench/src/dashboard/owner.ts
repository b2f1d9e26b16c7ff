import { chromium, type Page } from 'playwright-core';
import type { Bench } from '../measure.js';

/** Factor by which the owner's machine is slower than this one. */
const CPU_SLOWDOWN = 4;
/** Visits for the Activity Log to show. */
const VISITS = 40;

/** An owner with a slow machine. Each page is opened with an empty browser cache. */
export interface Owner {
  /** @returns milliseconds from the start of the navigation until the page reacted to a click on its first control */
  open(page: DashboardPage): Promise<number>;
  /** @returns milliseconds until a page of WordPress without any code of this project was loaded */
  openPlain(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts Chromium (Debian's, or the one in `CHROMIUM`), logs in and answers the questions about consent. */
export async function startOwner(
  bench: Bench,
  site: { readonly guardUrl: string; readonly host: string; readonly user: string; readonly password: string },
): Promise<Owner> {
  const { host } = new URL(site.guardUrl);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${site.host}:80 ${host}`],
  });
  const { stop } = bench.stopAtEnd({ stop: () => browser.close() });
  const home = `http://${site.host}`;
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(`${home}/wp-login.php`);
  // WordPress's script focuses the field and selects its text after 200 ms. Until then the password could land in it.
  await page.waitForFunction(() => document.activeElement?.id === 'user_login');
  await page.fill('#user_login', site.user);
  await page.fill('#user_pass', site.password);
  await Promise.all([page.waitForURL('**/wp-admin/**'), page.click('#wp-submit')]);
  await answerConsent(page, home);
  for (let visit = 0; visit < VISITS; visit++)
    await fetch(`${site.guardUrl}/?visit=${visit}`, { headers: { host: site.host } }).catch(() => undefined);
  const cookies = await first.cookies();
  await first.close();

  async function opening(url: string, measure: (page: Page) => Promise<number>): Promise<number> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.addCookies(cookies);
    try {
      const fresh = await context.newPage();
      const session = await context.newCDPSession(fresh);
      await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
      await fresh.goto(url, { waitUntil: 'commit' });
      return await measure(fresh);
    } finally {
      await context.close();
    }
  }

  return {
    open: ({ slug, control, reaction }) =>
      opening(`${home}/wp-admin/admin.php?page=${slug}`, (fresh) => measureFirstReaction(fresh, control, reaction)),
    openPlain: () =>
      opening(`${home}/wp-admin/tools.php`, async (fresh) => {
        await fresh.waitForLoadState('load');
        return fresh.evaluate(() => performance.getEntriesByType('navigation')[0]?.toJSON().loadEventEnd as number);
      }),
    stop,
  };
}

/** Clicks the control as soon as it exists, within the page. @returns when the reaction was drawn */
async function measureFirstReaction(page: Page, control: string, reaction: string): Promise<number> {
  const handle = await page.waitForFunction(
    ([wanted, expected]) => {
      const state = globalThis as { clicked?: boolean };
      if (document.querySelector(expected as string) !== null) return performance.now();
      const element = document.querySelector<HTMLElement>(wanted as string);
      if (element !== null && state.clicked !== true) {
        state.clicked = true;
        element.click();
      }
      return false;
    },
    [control, reaction],
    { polling: 'raf', timeout: 60_000 },
  );
  return (await handle.jsonValue()) as number;
}

async function answerConsent(page: Page, home: string): Promise<void> {
  const status = await page.evaluate(async (base) => {
    const nonce = await (await fetch(`${base}/wp-admin/admin-ajax.php?action=rest-nonce`)).text();
    const response = await fetch(`${base}/?rest_route=/provider-settings/v1/update-settings`, {
      method: 'PUT',
      headers: { 'X-WP-Nonce': nonce.trim(), 'Content-Type': 'application/json' },
      body: JSON.stringify({
        siteground_settings_security: 1,
        siteground_data_consent: 0,
        siteground_email_consent: 0,
      }),
    });
    return response.status;
  }, home);
  if (status !== 200) throw new Error(`the questions about consent could not be answered: HTTP ${status}`);
}

/** A page of the dashboard, and the sign that it can be used. */
export interface DashboardPage {
  readonly slug: string;
  readonly name: string;
  /** The first control that appears with the data. */
  readonly control: string;
  /** The element that appears after a click on it. */
  readonly reaction: string;
}

/** All pages. Only the click on Site Security changes a setting. */
export const dashboardPages: readonly DashboardPage[] = [
  {
    slug: 'security-optimizer',
    name: 'Security Dashboard',
    control: '.so-hero__head .so-btn',
    reaction: '.so-dialog',
  },
  { slug: 'login-settings', name: 'Login Security', control: '.so-row__ctl .so-btn', reaction: '.so-dialog' },
  {
    slug: 'site-security',
    name: 'Site Security',
    control: '[role="switch"]',
    // A fast server responds before the next frame is drawn.
    reaction: '[role="switch"][aria-busy], .so-toast',
  },
  { slug: 'activity-log', name: 'Activity Log', control: 'tbody .so-iconbtn', reaction: '.so-menu' },
  { slug: 'post-hack-actions', name: 'Post-hack Actions', control: '.so-row__ctl .so-btn', reaction: '.so-dialog' },
];
