import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type OldPage,
  oldChromium,
  openOldPage,
  type RunningOldChromium,
  startOldChromium,
} from '../../browser/old-browser.js';
import { SITE_SECURITY } from '../../browser/pages.js';
import { allOptions, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';

const screenshots = fileURLToPath(new URL('../../../screenshots/', import.meta.url));
const found = await oldChromium();
const feeds = siteSecurityToggles[4];

if ('problem' in found) {
  describe.skip(`the dashboard in Chromium 64 not run: ${found.problem}`, () => {});
} else {
  onUsualStack('the dashboard in Chromium 64', (stack) => {
    let owner: Session;
    let chromium: RunningOldChromium;
    let page: OldPage;

    beforeAll(async () => {
      owner = await logIn(stack);
      await setOptions(stack, owner, allOptions(0));
      chromium = await startOldChromium(found.path);
      page = await openOldPage(chromium.port);
      for (const pair of owner.cookie.split('; ')) {
        const at = pair.indexOf('=');
        await page.send('Network.setCookie', { name: pair.slice(0, at), value: pair.slice(at + 1), url: stack.url });
      }
      await page.send('Emulation.setDeviceMetricsOverride', {
        width: 1440,
        height: 900,
        deviceScaleFactor: 1,
        mobile: false,
      });
      await page.send('Page.navigate', { url: stack.url + SITE_SECURITY });
    });
    afterAll(async () => {
      page?.close();
      await chromium?.stop();
    });

    const control = `[...document.querySelectorAll('[role=switch]')].find((e) => document.getElementById(e.getAttribute('aria-labelledby')).textContent === ${JSON.stringify(feeds.title)})`;
    const isOn = () =>
      page.evaluate<boolean>(
        `${control}.getAttribute('aria-checked') === 'true' && !${control}.hasAttribute('aria-busy')`,
      );

    it('is that version', async () => {
      expect(await page.evaluate<string>('navigator.userAgent')).toContain('Chrome/64.');
    });

    it('shows the seven options', async () => {
      await until(
        'the options are there',
        async () => (await page.evaluate<number>('document.querySelectorAll("[role=switch]").length')) === 7,
      );
      expect(await isOn()).toBe(false);
      const { data } = await page.send('Page.captureScreenshot');
      mkdirSync(screenshots, { recursive: true });
      writeFileSync(`${screenshots}${stack.kind}-chromium-64.png`, Buffer.from(String(data), 'base64'));
    });

    it('turns an option on with a real click', async () => {
      const { x, y } = await page.evaluate<{ x: number; y: number }>(
        `(() => { const e = ${control}; e.scrollIntoView(); const b = e.getBoundingClientRect(); return { x: b.left + b.width / 2, y: b.top + b.height / 2 }; })()`,
      );
      for (const type of ['mousePressed', 'mouseReleased']) {
        await page.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
      }
      await until('the option is on', isOn);
      await until('the owner is told', () =>
        page.evaluate<boolean>(`document.body.textContent.includes(${JSON.stringify(feeds.messages.on)})`),
      );
      expect((await readOptions(stack, owner)).disable_feed).toBe(1);
    });

    it('runs without an error in our scripts', () => {
      // WordPress's own scripts are written for newer browsers and break in this one.
      expect(page.wrong.filter((fault) => fault.includes('/security-optimizer/'))).toEqual([]);
    });
  });
}
