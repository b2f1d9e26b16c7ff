import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/protections';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { clickSwitch, openSiteSecurity } from '../../browser/pages.js';
import type { RawResponse } from '../../http/raw.js';
import { sendRequest, sendUpstream, type TypedRequest } from '../../http/request.js';
import { allOptions, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks, type Stack } from '../../stacks/stack.js';
import { withoutConnector } from '../../stacks/wordpress.js';

export interface ToggleContext {
  readonly stack: Stack;
  /** The owner's login; there once the tests run. */
  readonly owner: () => Session;
  readonly page: () => Page;
}

export interface ToggleSuite {
  readonly field: SecurityField;
  /** Puts in place what the attacks aim at, before anything is asked. */
  readonly prepare?: (stack: Stack, owner: Session) => Promise<void>;
  /** Takes away what `prepare` has put in place: the site is shared with the suites that follow. */
  readonly cleanUp?: (stack: Stack) => void;
  /** The text of success; the toggle's own when left out. */
  readonly onText?: string;
  /** Requests that must be answered, with the toggle off, as by a WordPress without us. */
  readonly probes: (stack: Stack, owner: Session) => readonly TypedRequest[];
  /** Tests that run while the toggle is on and the other six are off. */
  readonly whileOn: (context: ToggleContext) => void;
}

/**
 * One toggle against its attackers, with each web server: the owner switches it on in the browser, attacks fail, the owner
 * switches it off, and WordPress answers as if we were not there. The other six are off, so that nothing else helps.
 */
export function toggleSuite(suite: ToggleSuite): void {
  const toggle = siteSecurityToggles.find(({ field }) => field === suite.field);
  if (toggle === undefined) throw new Error(`No toggle has the field ${suite.field}.`);
  onUnlikeStacks(toggle.title, (stack) => {
    let browser: Browser;
    let page: Page;
    let owner: Session;
    let probes: readonly TypedRequest[];
    const baseline: RawResponse[] = [];

    beforeAll(async () => {
      owner = await logIn(stack);
      await setOptions(stack, owner, allOptions(0));
      await suite.prepare?.(stack, owner);
      probes = suite.probes(stack, owner);
      await withoutConnector(stack, async () => {
        for (const probe of probes) baseline.push(await sendUpstream(stack, probe));
      });
      browser = await openChromium();
      page = await (await openWindow(browser, stack, owner)).newPage();
      await openSiteSecurity(page, stack);
    });
    afterAll(async () => {
      suite.cleanUp?.(stack);
      await browser?.close();
    });

    it('is turned on by the owner in the browser', async () => {
      await clickSwitch(page, toggle, 'on', suite.onText ?? toggle.messages.on);
      expect(await readOptions(stack, owner)).toEqual({ ...allOptions(0), [toggle.field]: 1 });
    });

    describe('while it is on', () => suite.whileOn({ stack, owner: () => owner, page: () => page }));

    it('is turned off by the owner in the browser', async () => {
      await clickSwitch(page, toggle, 'off', toggle.messages.off);
      expect(await readOptions(stack, owner)).toEqual(allOptions(0));
    });

    it('leaves WordPress as it is without the product once it is off', async () => {
      for (const [at, probe] of probes.entries()) {
        const label = `${probe.method ?? 'GET'} ${probe.target}`;
        const answer = await sendRequest(stack, probe);
        expect({ label, ...essence(answer) }).toEqual({ label, ...essence(baseline[at] as RawResponse) });
      }
    });
  });
}

/** What two answers to the same request have in common: all but nonces, times and what the way through guard adds. */
function essence({ status, headers, body }: RawResponse) {
  return {
    status,
    type: headers['content-type'],
    location: headers.location,
    pingback: headers['x-pingback'],
    policy: headers['content-security-policy'],
    frame: headers['x-frame-options'],
    nosniff: headers['x-content-type-options'],
    referrer: headers['referrer-policy'],
    etag: headers.etag,
    link: headers.link,
    body: body
      .replace(/\b[0-9a-f]{10}\b/g, 'NONCE')
      .replace(/\b1[0-9]{9}(?:\.\d+|\d{3})?\b/g, 'TIME')
      .replace(/[?&]time=[\d.]+/g, '')
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/g, 'DATE')
      .replace(/<dateCreated>[^<]*/, '<dateCreated>')
      // WordPress rolls dice for these on each page.
      .replace(/(wp-embed-share-(?:tab|description)-(?:wordpress|html)-1)-[0-9A-Z]+/g, '$1')
      .replace(/((?:data-secret=&quot;|secret=))[A-Za-z0-9]{10}/g, '$1'),
  };
}

/** The answer is a refusal, and holds no sign that WordPress did what was asked. */
export function expectRefused(answer: RawResponse, sign: RegExp): void {
  expect.soft(answer.body).not.toMatch(sign);
  expect([400, 403, 404], `${answer.head.split('\r\n')[0]}\n${answer.body.slice(0, 300)}`).toContain(answer.status);
}
