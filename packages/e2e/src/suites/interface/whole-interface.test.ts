import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium } from '../../browser/chromium.js';
import type { Session } from '../../http/session.js';
import { onUsualStack, type Stack } from '../../stacks/stack.js';
import { installLanguages, type Language, readLanguages } from './locales.js';
import { listSiteValues, prepareSampleSite } from './sample-site.js';
import { walkBlocked, walkLogSettings, walkRegistered, walkUnknown, walkWeekly } from './walk-activity-log.js';
import { walkConsent, walkDashboard } from './walk-dashboard.js';
import { walkPostHack } from './walk-post-hack.js';
import { walkLoginSecurity, walkRareLogin, walkSiteSecurity } from './walk-settings.js';
import { Walker } from './walker.js';

/**
 * A walk checks up to ten states on three screens in two locales. This limit only ends a hanging one, since each wait
 * has its own limit.
 */
const WALK_MS = 600_000;

onUsualStack('the whole interface in German and right to left, on desktop and phones', defineWalks, {
  timeout: WALK_MS,
});

function defineWalks(stack: Stack): void {
  let owner: Session;
  let browser: Browser;
  let both: readonly Language[];
  let site: Awaited<ReturnType<typeof prepareSampleSite>>;
  let removeLanguages: () => void;

  beforeAll(async () => {
    both = await readLanguages(listSiteValues(stack));
    removeLanguages = await installLanguages(stack);
    [site, browser] = await Promise.all([prepareSampleSite(stack), openChromium()]);
    owner = site.owner;
  });
  afterAll(async () => {
    await browser?.close();
    removeLanguages?.();
    await site?.restore();
  });

  /** Both locales in parallel: each walker has its own window and changes nothing. */
  async function walk(visit: (walker: Walker) => Promise<void>): Promise<void> {
    const faults = await Promise.all(
      both.map(async (language) => {
        const walker = await Walker.arrive(browser, stack, owner, language);
        try {
          await visit(walker);
        } catch (error) {
          walker.note('on the way', (error as Error).message);
        } finally {
          await walker.close();
        }
        return walker.faults;
      }),
    );
    expect(faults.flat()).toEqual([]);
  }

  it('is complete in the consent dialog', () => site.withoutConsent(() => walk(walkConsent)));
  it('is complete on the Security Dashboard', () => walk(walkDashboard));
  it('is complete on Site Security', () => walk(walkSiteSecurity));
  it('is complete on Login Security', () => walk(walkLoginSecurity));
  it('is complete on Login Security with a second factor', () => walk(walkRareLogin));
  it.each([
    ['Unknown', walkUnknown],
    ['Registered', walkRegistered],
    ['Blocked', walkBlocked],
    ['Weekly Reports', walkWeekly],
    ['Log Settings', walkLogSettings],
  ] as const)('is complete on the Activity Log, %s', (_tab, visit) => walk(visit));
  it('is complete on Post-hack Actions', () => walk(walkPostHack));
}
