import { chromium, type Page } from 'playwright-core';
import type { Bench } from '../measure.js';

/** As many times slower as the owner's machine is than this one. */
const SLOWED = 4;
/** Visits that the Activity Log has something of to show. */
const VISITS = 40;

/** An owner in front of a slow machine. Each page is opened by a browser that has none of its files yet. */
export interface Owner {
  /** @returns milliseconds from the start of the navigation until the page answered a click on its first control */
  open(page: DashboardPage): Promise<number>;
  /** @returns milliseconds until a page of WordPress's own, on which nothing of ours runs, was loaded */
  openPlain(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts Chromium (`CHROMIUM` names another than Debian's), logs in, and answers what the owner is asked first. */
export async function startOwner(
  bench: Bench,
  site: { readonly guardUrl: string; readonly host: string; readonly user: string; readonly password: string },
): Promise<Owner> {
  const { host } = new URL(site.guardUrl);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${site.host}:80 ${host}`],
  });
  const { stop } = bench.keep({ stop: () => browser.close() });
  const home = `http://${site.host}`;
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(`${home}/wp-login.php`);
  await page.fill('#user_login', site.user);
  await page.fill('#user_pass', site.password);
  await Promise.all([page.waitForURL('**/wp-admin/**'), page.click('#wp-submit')]);
  await answerConsent(page, home);
  for (let visit = 0; visit < VISITS; visit++)
    await fetch(`${site.guardUrl}/?visit=${visit}`, { headers: { host: site.host } }).catch(() => undefined);
  const cookies = await first.cookies();
  await first.close();

  async function opening(url: string, look: (page: Page) => Promise<number>): Promise<number> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.addCookies(cookies);
    try {
      const fresh = await context.newPage();
      const session = await context.newCDPSession(fresh);
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
      await fresh.goto(url, { waitUntil: 'commit' });
      return await look(fresh);
    } finally {
      await context.close();
    }
  }

  return {
    open: ({ slug, control, answer }) =>
      opening(`${home}/wp-admin/admin.php?page=${slug}`, (fresh) => firstAnswer(fresh, control, answer)),
    openPlain: () =>
      opening(`${home}/wp-admin/tools.php`, async (fresh) => {
        await fresh.waitForLoadState('load');
        return fresh.evaluate(() => performance.getEntriesByType('navigation')[0]?.toJSON().loadEventEnd as number);
      }),
    stop,
  };
}

/** Clicks the control as soon as it is there, within the page itself, and tells when the answer was drawn. */
async function firstAnswer(page: Page, control: string, answer: string): Promise<number> {
  const handle = await page.waitForFunction(
    ([wanted, answered]) => {
      const state = globalThis as { clicked?: boolean };
      if (document.querySelector(answered as string) !== null) return performance.now();
      const element = document.querySelector<HTMLElement>(wanted as string);
      if (element !== null && state.clicked !== true) {
        state.clicked = true;
        element.click();
      }
      return false;
    },
    [control, answer],
    { polling: 'raf', timeout: 60_000 },
  );
  return (await handle.jsonValue()) as number;
}

async function answerConsent(page: Page, home: string): Promise<void> {
  const status = await page.evaluate(async (base) => {
    const nonce = await (await fetch(`${base}/wp-admin/admin-ajax.php?action=rest-nonce`)).text();
    const answer = await fetch(`${base}/?rest_route=/provider-settings/v1/update-settings`, {
      method: 'PUT',
      headers: { 'X-WP-Nonce': nonce.trim(), 'Content-Type': 'application/json' },
      body: JSON.stringify({
        siteground_settings_security: 1,
        siteground_data_consent: 0,
        siteground_email_consent: 0,
      }),
    });
    return answer.status;
  }, home);
  if (status !== 200) throw new Error(`the questions about consent could not be answered: HTTP ${status}`);
}

/** A page of the dashboard, and how to tell that it can be used. */
export interface DashboardPage {
  readonly slug: string;
  readonly name: string;
  /** The first real control, there once the data is. */
  readonly control: string;
  /** What is there once a click on it was answered. */
  readonly answer: string;
}

/** All pages; no click changes a setting but that on a switch of Site Security. */
export const dashboardPages: readonly DashboardPage[] = [
  {
    slug: 'security-optimizer',
    name: 'Security Dashboard',
    control: '.so-hero__head .so-btn',
    answer: '.so-dialog',
  },
  { slug: 'login-settings', name: 'Login Security', control: '.so-row__ctl .so-btn', answer: '.so-dialog' },
  {
    slug: 'site-security',
    name: 'Site Security',
    control: '[role="switch"]',
    // A quick server has answered before the next frame is drawn.
    answer: '[role="switch"][aria-busy], .so-toast',
  },
  { slug: 'activity-log', name: 'Activity Log', control: 'tbody .so-iconbtn', answer: '.so-menu' },
  { slug: 'post-hack-actions', name: 'Post-hack Actions', control: '.so-row__ctl .so-btn', answer: '.so-dialog' },
];
