import type { postHackEndpoints } from '@security-optimizer/contract/post-hack';
import type { CheckupPart } from '../post-hack/checkup.js';
import { jobAnswer, type PostHackActions } from '../post-hack/post-hack.js';
import type { SiteConfig } from '../site.js';
import type { Handlers } from './handlers.js';

/** The use cases behind the page Post-hack Actions. */
export interface PostHackUseCases {
  readonly postHack: PostHackActions;
  readonly checkup: (site: SiteConfig) => Promise<CheckupPart[]>;
}

type PostHackCall = (typeof postHackEndpoints)[number]['name'];

/** Connects each call of the page Post-hack Actions with its use case. */
export function createPostHackHandlers({ postHack, checkup }: PostHackUseCases): Pick<Handlers, PostHackCall> {
  return {
    async reinstallPlugins({ only }, { site, actor }) {
      const job = await postHack.reinstallPlugins({ site, actor, only: only ?? null });
      return { data: { job: jobAnswer(job) }, message: 'The plugins are being reinstalled. You can leave this page.' };
    },
    async forcePasswordReset({ go_on }, { site, actor }) {
      const job = await postHack.forcePasswordReset({ site, actor, goOn: go_on === 1 });
      return {
        data: { job: jobAnswer(job) },
        message: 'Everyone is logged out and has to choose a new password. You have to log in again, too.',
      };
    },
    async logOutUsers({ keep_mine }, { site, actor, visitor }) {
      const job = await postHack.logOutUsers({ site, actor, keep: keep_mine === 1 ? visitor : null });
      return { data: { job: jobAnswer(job) }, message: 'All users are logged out.' };
    },
    async postHackJobs(_input, { site }) {
      return { data: await postHack.jobs(site), message: '' };
    },
    async checkup(_input, { site }) {
      return { data: { parts: await checkup(site) }, message: '' };
    },
  };
}
