import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { pressOn } from '../../browser/keyboard.js';
import { ownerSuite } from '../login-owner/helpers.js';

/** What happened to a live region, in order. */
interface Heard {
  readonly role: string;
  /** `there` when the region appeared, else its new text. */
  readonly what: string;
  readonly at: number;
}

const FEEDS = 'Disable RSS and ATOM Feeds';
const SUFFIX = '/disable-feeds';

// A screen reader only announces changes of an existing live region, so the region must exist first, empty.
ownerSuite('the messages for screen readers', (owner) => {
  const { stack } = owner;
  afterAll(async () => {
    await owner.set(SUFFIX, { disable_feed: 0 });
    await owner.set('/disable-xml-rpc', { disable_xml_rpc: 1 });
  });

  async function open(screen = 'site-security'): Promise<Page> {
    const { page } = owner;
    await page.goto(`${stack.url}/wp-admin/admin.php?page=${screen}`);
    await page.locator('.so-status').waitFor();
    await listen(page);
    return page;
  }

  it('put a success into a status region that existed before, empty', async () => {
    await owner.set(SUFFIX, { disable_feed: 0 });
    const page = await open();
    await pressOn(page, page.getByRole('switch', { name: FEEDS }), 'Space');
    await page.locator('.so-toast--success [role="status"] p').waitFor();
    const heard = (await heardOn(page)).filter(({ role }) => role === 'status');
    expect(heard.map(({ what }) => what)).toEqual(['there', expect.stringMatching(/^Success/)]);
    expect(getGap(heard)).toBeGreaterThan(20);
    expect(await liveRegions(page)).toContainEqual({ role: 'status', live: 'polite', atomic: true });
  });

  it('put an error into an alert region that existed before, empty', async () => {
    const page = await open();
    const message = 'We couldn’t save this.';
    await page.route(`**/security-optimizer/v1${SUFFIX}`, (route) =>
      route.fulfill({ status: 500, json: { data: null, code: 'internal', message, status: 500 } }),
    );
    try {
      await pressOn(page, page.getByRole('switch', { name: FEEDS }), 'Space');
      await page.locator('.so-toast--error [role="alert"] p').waitFor();
      const heard = (await heardOn(page)).filter(({ what, role }) => role === 'alert' && !what.includes('still'));
      expect(heard.map(({ what }) => what)).toEqual(['there', expect.stringContaining(message)]);
      expect(getGap(heard)).toBeGreaterThan(20);
      expect(await liveRegions(page)).toContainEqual({ role: 'alert', live: 'assertive', atomic: true });
    } finally {
      await page.unroute(`**/security-optimizer/v1${SUFFIX}`);
    }
  });

  it('announce two messages once each', async () => {
    const page = await open();
    for (const [at, name] of [FEEDS, 'Disable XML-RPC'].entries()) {
      await pressOn(page, page.getByRole('switch', { name }), 'Space', at === 0 ? 'Tab' : 'Shift+Tab');
      await expect.poll(() => page.locator('.so-toast [role="status"] p').count()).toBe(at + 1);
    }
    const announced = (await heardOn(page)).filter(({ role, what }) => role === 'status' && what !== 'there');
    expect(announced).toHaveLength(2);
  });

  it('stay available while a dialog is open, which hides the page behind it', async () => {
    const { page } = owner;
    await owner.open();
    await owner.openDialog('away');
    const hidden = await page.evaluate(
      () => document.querySelector('.so-toasts')?.closest('[aria-hidden="true"]') !== null,
    );
    expect(hidden).toBe(false);
    await page.keyboard.press('Escape');
  });
});

/** Records from now on which live regions appear, and their texts. */
function listen(page: Page): Promise<void> {
  return page.evaluate(() => {
    const heard: Heard[] = [];
    const known = new Map<Element, string>();
    new MutationObserver(() => {
      for (const region of document.querySelectorAll('.so-toasts [role="status"], .so-toasts [role="alert"]')) {
        const what = (region.textContent ?? '').replace(/\s+/g, ' ').trim();
        if (known.get(region) === what) continue;
        known.set(region, what);
        heard.push({ role: region.getAttribute('role') as string, what: what || 'there', at: performance.now() });
      }
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
    Object.assign(window, { heard });
  });
}

function heardOn(page: Page): Promise<Heard[]> {
  return page.evaluate(() => (window as unknown as { heard: Heard[] }).heard);
}

/** Milliseconds between the first two. */
function getGap([first, second]: readonly Heard[]): number {
  return (second?.at ?? 0) - (first?.at ?? 0);
}

/** Live regions in the accessibility tree of the browser. */
async function liveRegions(page: Page): Promise<{ role: string; live: unknown; atomic: unknown }[]> {
  const devTools = await page.context().newCDPSession(page);
  const { nodes } = await devTools.send('Accessibility.getFullAXTree');
  await devTools.detach();
  return nodes
    .map(({ role, properties = [] }) => {
      const value = (name: string) => properties.find((property) => property.name === name)?.value.value;
      return { role: String(role?.value), live: value('live'), atomic: value('atomic') };
    })
    .filter(({ live }) => live !== undefined);
}
