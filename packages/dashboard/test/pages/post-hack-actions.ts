import type { Checkup } from '@security-optimizer/contract/post-hack/checkup';
import type { Job } from '@security-optimizer/contract/post-hack/endpoints';
import { screen } from '@testing-library/react';
import { sampleCheckup } from '../fake-site/checkup.js';
import { ok } from '../fake-site/server.js';
import { type FakeSite, startFakeSite } from '../fake-site/site.js';
import { openPage } from './open-page.js';

// Lazily loaded parts, so that no test waits for its compilation.
import '../../src/features/post-hack-actions/action-dialog.js';
import '../../src/features/post-hack-actions/checkup.js';
import '../../src/features/post-hack-actions/remove-dialog.js';

export interface PostHackSite extends FakeSite {
  /** The jobs in guard. */
  jobs: Job[];
  /** Numbers that the page shows; null if unknown. */
  facts: Record<string, number | null>;
  /** The checkups in guard. */
  checkup: Checkup;
  /** Responds with `jobs` and `facts`, until a test sets another response. */
  publishJobs(): void;
}

export async function startPostHackSite(): Promise<PostHackSite> {
  const site: PostHackSite = Object.assign(await startFakeSite(), {
    jobs: [],
    facts: { plugins: 12, users: 1023, sessions: 4 },
    checkup: sampleCheckup(),
    publishJobs: () => void site.replies.set('/post-hack-jobs', () => ok({ jobs: site.jobs, facts: site.facts })),
  });
  site.publishJobs();
  site.replies.set('/checkup', () => ok(site.checkup));
  return site;
}

/** Opens the page Post-hack Actions. */
export async function openPostHack(site: FakeSite, config: Record<string, unknown> = {}): Promise<void> {
  await openPage(site, { localeSlug: 'en-GB', ...config }, 'POST_HACK_ACTIONS');
}

export function findButton(name: string): Promise<HTMLElement> {
  return screen.findByRole('button', { name });
}

/** Returns the texts of all elements that match a selector. */
export function getTexts(selector: string): (string | null)[] {
  return Array.from(document.querySelectorAll(selector), (found) => found.textContent);
}
