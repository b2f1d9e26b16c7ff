import type { checkupEndpoints } from '@security-optimizer/contract/post-hack/checkup-endpoints';
import type { postHackEndpoints as actions } from '@security-optimizer/contract/post-hack/endpoints';
import { toResponseValues } from '@security-optimizer/contract/settings/catalogue';
import type { SettingCalls } from '@security-optimizer/contract/settings/endpoints';
import type { ActivityLog } from '../activity/index.js';
import type { Alerts } from '../alerts/index.js';
import type { CallHandlers } from '../feature.js';
import type { Services } from '../services.js';
import type { Actor } from '../settings/audit-store.js';
import { readSiteSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';
import type { CheckupRuns } from './checkup-runs.js';
import type { FindingRemoval } from './finding-removal.js';
import { type PostHackContext, postHack, toJobResponse } from './post-hack.js';

/** The setting's endpoint is served with those of all simple settings. */
export type PostHackCalls = Exclude<(typeof actions | typeof checkupEndpoints)[number], SettingCalls>;

/** The endpoints of the page Post-hack Actions. */
export function postHackEndpoints(
  { change }: Pick<Services, 'change'>,
  parts: PostHackContext & {
    readonly checkups: CheckupRuns;
    readonly removal: FindingRemoval;
    readonly activity: Pick<ActivityLog, 'handleAuditChange'>;
    readonly alerts: Pick<Alerts, 'listEmailsFor'>;
  },
): CallHandlers<PostHackCalls> {
  const remedies = postHack(parts);
  const { checkups, removal } = parts;

  async function describeCheckups(site: SiteId, { id }: Actor, all = false) {
    const [state, { postHack }] = await Promise.all([
      checkups.describe(site, all, id),
      readSiteSettings(change.settings, site),
    ]);
    const emails = [...parts.alerts.listEmailsFor(site, 'checkup-finding')];
    const weekly = { ...checkups.weeklyTime(site), ...toResponseValues('postHack', postHack), emails };
    return { ...state, weekly };
  }

  return {
    async reinstallPlugins({ only }, { site, actor }) {
      const job = await remedies.reinstallPlugins({ site, actor, only: only ?? null });
      return {
        data: { job: toJobResponse(job) },
        message: 'The plugins are being reinstalled. You can leave this page.',
      };
    },
    async forcePasswordReset({ go_on }, { site, actor }) {
      const job = await remedies.forcePasswordReset({ site, actor, continueStopped: go_on === 1 });
      return {
        data: { job: toJobResponse(job) },
        message: 'Everyone is logged out and has to choose a new password. You have to log in again, too.',
      };
    },
    async logOutUsers({ keep_mine }, { site, actor, visitor }) {
      const job = await remedies.logOutUsers({ site, actor, keep: keep_mine === 1 ? visitor : null });
      return { data: { job: toJobResponse(job) }, message: 'All users are logged out.' };
    },
    async postHackJobs(_input, { site }) {
      return { data: await remedies.jobs(site), message: '' };
    },
    checkup: async ({ all }, { site, actor }) => ({
      data: await describeCheckups(site.id, actor, all === 1),
      message: '',
    }),
    async runCheckup(_input, { site, actor }) {
      checkups.begin(site);
      return { data: await describeCheckups(site.id, actor), message: '' };
    },
    async keepFinding({ key, keep }, { site, actor }) {
      await checkups.markFinding(site.id, key, keep === 1, actor);
      parts.activity.handleAuditChange();
      return {
        data: await describeCheckups(site.id, actor),
        message: keep === 1 ? '' : 'It is a finding again.',
      };
    },
    async removeFinding({ key, only }, { site, actor }) {
      const message = await removal.remove(site, { key, only: only ?? null }, actor);
      return { data: await describeCheckups(site.id, actor), message };
    },
    async restoreFiles({ ids }, { site, actor }) {
      const message = await removal.restore(site, ids, actor);
      return { data: await describeCheckups(site.id, actor), message };
    },
  };
}
