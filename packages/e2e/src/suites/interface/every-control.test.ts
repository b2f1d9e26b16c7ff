import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { focusedStop, tabStops } from '../../browser/keyboard.js';
import { ownerSuite } from '../login-owner/helpers.js';
import { openScreen, SCREENS } from './sample-site.js';

/** Properties of the look of elements whose values do not depend on the width of the page. */
const STYLE_PROPERTIES =
  'color backgroundColor fontFamily fontSize fontWeight lineHeight letterSpacing textTransform textDecorationLine textAlign listStyleType boxShadow boxSizing borderTopWidth borderTopStyle borderTopColor borderTopLeftRadius paddingTop paddingLeft marginTop minHeight float verticalAlign';

ownerSuite('every page and tab', (owner) => {
  const { stack } = owner;
  const open = async (screen: string, ready: string, width: number): Promise<Page> => {
    const { page } = owner;
    await openScreen(page, stack, screen, ready, width);
    return page;
  };
  afterAll(() => owner.page.setViewportSize({ width: 1440, height: 900 }));

  // 320 px are 1280 px at 400 %.
  it.each([1440, 320])(
    'can be operated by keyboard: every control in order, visible and with a focus ring, at %i px',
    async (width) => {
      for (const [screen, ready] of SCREENS) {
        const page = await open(screen, ready, width);
        const expected = await tabStops(page);
        await page.evaluate(() => {
          const start = document.createElement('button');
          start.id = 'before-all';
          document.querySelector('.so-app')?.before(start);
          start.focus();
        });
        const reached: string[] = [];
        for (let stop = 0; stop < expected.length; stop++) {
          await page.keyboard.press('Tab');
          reached.push(await focusedStop(page));
        }
        expect({ screen, reached }).toEqual({ screen, reached: expected });
      }
    },
  );

  it('look the same without the styles of wp-admin', async () => {
    for (const [screen, ready] of SCREENS) {
      const page = await open(screen, ready, 1440);
      const differences = await page.evaluate((properties) => {
        const names = properties.split(' ') as (keyof CSSStyleDeclaration)[];
        const parts = [...document.querySelectorAll('.so *:not(svg *)')].filter((part) => part.checkVisibility());
        const listStyles = () =>
          parts.map((part) => {
            const style = getComputedStyle(part);
            return names.map((name) => String(style[name]));
          });
        const withTheirs = listStyles();
        const theirs = [...document.styleSheets].filter(({ href }) => !href?.includes('/security-optimizer/'));
        for (const sheet of theirs) sheet.disabled = true;
        const alone = listStyles();
        return parts.flatMap((part, at) =>
          names.flatMap((name, index) => {
            const [now, then] = [withTheirs[at]?.[index], alone[at]?.[index]];
            return now === then ? [] : [`${part.tagName}.${part.className} ${String(name)}: ${now}, alone ${then}`];
          }),
        );
      }, STYLE_PROPERTIES);
      expect({ screen, differences: [...new Set(differences)] }).toEqual({ screen, differences: [] });
    }
  });

  it('do not affect the styles of wp-admin', async () => {
    const neighbours = '#adminmenu, #adminmenu a, #wpadminbar, #wpadminbar a, #wpfooter, #wpfooter a, #wpbody, .notice';
    const readStyle = async (page: Page) => {
      // Elements under the pointer look different, so the pointer is moved away from them.
      await page.mouse.move(720, 450);
      // wp-admin's bar needs a moment to notice that the pointer has left it.
      await page.waitForFunction(() => document.querySelector('#wpadminbar :hover, #wpadminbar .hover') === null);
      return await page.evaluate(
        ([selector, properties]) => {
          // A message of another plugin above the product.
          const notice = document.createElement('div');
          notice.className = 'notice notice-warning';
          notice.innerHTML = '<p>Hello</p><a class="button">Go</a><input type="text"><table class="widefat"></table>';
          document.querySelector('.wp-header-end')?.before(notice);
          const all = [...document.querySelectorAll(`${selector}, .notice *`)].filter((part) => part.checkVisibility());
          const seen = new Map<string, string>();
          for (const part of all) {
            // Which entry of the menu is open differs from page to page.
            if (part.closest('.current, .wp-has-current-submenu, .opensub, .update-nag') !== null) continue;
            const style = getComputedStyle(part);
            const names = properties.split(' ') as (keyof CSSStyleDeclaration)[];
            const name = `${part.tagName}#${part.id}.${part.className} ${(part.textContent ?? '').trim().slice(0, 20)}`;
            seen.set(name, names.map((property) => String(style[property])).join('|'));
          }
          return Object.fromEntries(seen);
        },
        [neighbours, STYLE_PROPERTIES] as const,
      );
    };
    await owner.page.goto(`${stack.url}/wp-admin/tools.php`);
    await owner.page.evaluate(() =>
      document
        .querySelector('#wpbody-content')
        ?.prepend(Object.assign(document.createElement('hr'), { className: 'wp-header-end' })),
    );
    const plain = await readStyle(owner.page);
    for (const [screen, ready] of SCREENS.filter(([name]) => !name.includes('#'))) {
      const ours = await readStyle(await open(screen, ready, 1440));
      const changed = Object.keys(ours).filter((name) => plain[name] !== undefined && plain[name] !== ours[name]);
      expect({ screen, changed }).toEqual({ screen, changed: [] });
      expect(Object.keys(ours).length).toBeGreaterThan(20);
    }
  });
});
