import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
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
  /** The owner's session, set once the tests run. */
  readonly owner: () => Session;
  readonly page: () => Page;
}

export interface ToggleSuite {
  readonly field: SecurityField;
  /** Creates the targets of the attacks, before the first request. */
  readonly prepare?: (stack: Stack, owner: Session) => Promise<void>;
  /** Removes what `prepare` has created, since later suites use the same site. */
  readonly cleanUp?: (stack: Stack) => void;
  /** Requests that must get the same response with the toggle off as without the connector. */
  readonly probes: (stack: Stack, owner: Session) => readonly TypedRequest[];
  /** Tests that run while the toggle is on and the other six are off. */
  readonly whileEnabled: (context: ToggleContext) => void;
}

/**
 * Defines the suite of one toggle, with each web server: the owner turns it on in the browser, attacks fail, the owner
 * turns it off, and WordPress responds as without the connector. The other six are off, so that they have no effect.
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
      await clickSwitch(page, toggle, 'on', toggle.messages.on);
      expect(await readOptions(stack, owner)).toEqual({ ...allOptions(0), [toggle.field]: 1 });
    });

    describe('while it is on', () => suite.whileEnabled({ stack, owner: () => owner, page: () => page }));

    it('is turned off by the owner in the browser', async () => {
      await clickSwitch(page, toggle, 'off', toggle.messages.off);
      expect(await readOptions(stack, owner)).toEqual(allOptions(0));
    });

    it('leaves WordPress as it is without the product once it is off', async () => {
      for (const [at, probe] of probes.entries()) {
        const label = `${probe.method ?? 'GET'} ${probe.target}`;
        const response = await sendRequest(stack, probe);
        expect({ label, ...essence(response) }).toEqual({ label, ...essence(baseline[at] as RawResponse) });
      }
    });
  });
}

/** The comparable parts of a response: without nonces, times and headers that guard adds. */
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
      // WordPress generates these randomly on each page.
      .replace(/(wp-embed-share-(?:tab|description)-(?:wordpress|html)-1)-[0-9A-Z]+/g, '$1')
      .replace(/((?:data-secret=&quot;|secret=))[A-Za-z0-9]{10}/g, '$1'),
  };
}

/** Expects a refusal without a sign that WordPress executed the request. */
export function expectRefused(response: RawResponse, sign: RegExp): void {
  expect.soft(response.body).not.toMatch(sign);
  expect([400, 403, 404], `${response.head.split('\r\n')[0]}\n${response.body.slice(0, 300)}`).toContain(
    response.status,
  );
}
