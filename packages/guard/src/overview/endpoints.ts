import type { overviewEndpoints as calls } from '@security-optimizer/contract/overview/endpoints';
import type { ActivityLog } from '../activity/index.js';
import type { Alerts } from '../alerts/index.js';
import type { CallHandlers } from '../feature.js';
import { ApiError } from '../lib/api-error.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import { version } from '../lib/version.js';
import type { PostHack } from '../post-hack/index.js';
import type { WeeklyReports } from '../reports/index.js';
import type { Services } from '../services.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, type SettingChangeContext } from '../settings/change-settings.js';
import { readSiteSettings } from '../settings/site-settings.js';
import { adminUrl, type Branding, type SiteConfig, type SiteId } from '../site.js';
import type { TwoFactor } from '../two-factor/index.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import { fetchOverview } from '../wordpress/connector-commands.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import { listNotifications } from './notifications.js';
import { getFactsStart, readProtectionFacts, shouldAskForReview, toHardeningItems } from './overview-facts.js';
import { postToProvider } from './technical-data.js';

/** The features that the page Security Dashboard summarizes. */
export interface OverviewSources {
  readonly twoFactor: TwoFactor;
  readonly activity: ActivityLog;
  readonly reports: WeeklyReports;
  readonly postHack: Pick<PostHack, 'countFindings'>;
  readonly alerts: Pick<Alerts, 'lastFailure'>;
}

export type OverviewCalls = (typeof calls)[number];

/**
 * The endpoints of the page Security Dashboard.
 * @param started when guard first served each site, milliseconds since the Unix epoch
 */
export function overviewEndpoints(
  services: Services,
  { twoFactor, activity, alerts, reports, postHack }: OverviewSources,
  started: ReadonlyMap<SiteId, number>,
): CallHandlers<OverviewCalls> {
  const { config, change, sites, connectors, wordpress, clock } = services;
  const getSettings = ({ id }: SiteConfig) => readSiteSettings(change.settings, id);
  const admin =
    ({ id }: SiteConfig) =>
    (page: string) =>
      adminUrl(sites.get(id).facts, page);

  async function notifications(site: SiteConfig) {
    const now = clock();
    const timeZone = sites.timeZone(site.id);
    const [settings, wordpress, enrolled, reportFailure, alertFailure, droppedVisits, checkupFindings] =
      await Promise.all([
        getSettings(site),
        tryFetchOverview(services, site),
        twoFactor.enrolledUsers(site.id),
        reports.lastFailure(site.id),
        alerts.lastFailure(site.id),
        activity.store.droppedVisits(site.id, getFactsStart(timeZone, Math.floor(now / 1000))),
        postHack.countFindings(site.id),
      ]);
    const state = connectors.state(site.id);
    const { pausedUntil } = settings;
    return listNotifications(
      {
        wordpress,
        secondFactor: settings.login.sg2fa === 1,
        enrolled,
        editorsOff: settings.options.disable_file_edit === 1,
        pausedUntil: pausedUntil > now ? toLocalTimestamp(timeZone, Math.floor(pausedUntil / 1000)) : null,
        oldConnector: state.kind === 'ok' && state.version !== version ? state.version : null,
        reportFailure,
        alertFailure,
        droppedVisits,
        checkupFindings,
      },
      { admin: admin(site) },
    );
  }

  return {
    notifications: async (_input, { site }) => ({ data: await notifications(site), message: '' }),
    async hardening(_input, { site }) {
      const settings = await getSettings(site);
      const complete = settings.login.sg2fa === 0 || (await twoFactor.isComplete(site));
      return { data: toHardeningItems(settings, admin(site), complete), message: '' };
    },
    ebook: async (_input, { site }) => ({ data: toBranding(config.branding, site).ebook, message: '' }),
    async rate({ show }, { site, actor }) {
      if (show !== undefined) await changeSettings(change, { site, actor }, () => ({ rate_dismissed: 1 }));
      const { rateLink: link, rateAfterDays: afterDays } = toBranding(config.branding, site);
      const now = clock();
      const { rate_dismissed } = (await getSettings(site)).overview;
      const firstStart = started.get(site.id) ?? now;
      const shown = shouldAskForReview({ link, now, dismissed: rate_dismissed === 1, firstStart, afterDays });
      return { data: { show: shown ? 1 : 0, link }, message: '' };
    },
    async protectionFacts(_input, { site: { id } }) {
      const { store, countBlocked } = activity;
      const now = Math.floor(clock() / 1000);
      const from = getFactsStart(sites.timeZone(id), now);
      return { data: await readProtectionFacts({ store, countBlocked }, id, { from, now }), message: '' };
    },
    async 'update:consent'({ siteground_data_consent, siteground_email_consent }, { site, actor }) {
      const choice = { site, actor, data: siteground_data_consent, email: siteground_email_consent };
      await setConsent({ change, client: wordpress, urls: config.consent }, choice);
      return { data: { show_data_field: 0, show_email_field: 0 }, message: 'Your choice is saved.' };
    },
  };
}

/** Returns the provider's content for a site: the site's own, and the machine's where the site has none. */
function toBranding(branding: Branding, site: SiteConfig): Branding {
  return { ...branding, ...site.branding };
}

/** Fetches the overview. Null when WordPress does not respond, which has a notification of its own. */
async function tryFetchOverview({ wordpress }: Pick<Services, 'wordpress'>, site: SiteConfig) {
  try {
    return await fetchOverview(wordpress, site);
  } catch (error) {
    if (error instanceof ConnectorError) return null;
    throw error;
  }
}

interface ConsentServices {
  readonly change: SettingChangeContext;
  readonly client: Pick<ConnectorClient, 'user'>;
  /** URLs of the provider. */
  readonly urls: Services['config']['consent'];
}

/** The owner's consent; an undefined value does not change the stored one. */
interface ConsentChoice {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly data: 0 | 1 | undefined;
  readonly email: 0 | 1 | undefined;
}

/**
 * Stores the consent. Both questions count as answered, and WordPress does not show them again. When the configuration
 * has no URL for a question, its answer is stored as no, since nothing is sent.
 *
 * @throws ApiError when WordPress, the provider or the store can't take the change; then nothing is changed
 */
async function setConsent(deps: ConsentServices, { site, actor, data, email }: ConsentChoice): Promise<void> {
  const { technicalDataUrl, emailUrl } = deps.urls;
  if (emailUrl !== null && email !== undefined) await subscribe(deps, emailUrl, { site, actor, email });
  await changeSettings(deps.change, { site, actor }, () => ({
    ...(data === undefined ? {} : { data_consent: technicalDataUrl === null ? 0 : data }),
    ...(email === undefined ? {} : { email_consent: emailUrl === null ? 0 : email }),
    consent_asked: 1,
  }));
}

/** Sends the provider the caller's e-mail address when the answer is yes, and when a yes is withdrawn. */
async function subscribe(
  { change, client }: ConsentServices,
  url: string,
  { site, actor, email }: { readonly site: SiteConfig; readonly actor: Actor; readonly email: 0 | 1 },
): Promise<void> {
  const { overview } = await readSiteSettings(change.settings, site.id);
  if (email === overview.email_consent) return;
  const user = actor.id === null ? null : await client.user(site, actor.id);
  try {
    await postToProvider(url, { email: user?.email ?? '', agreed: email === 1 });
  } catch (cause) {
    throw new ApiError('provider_unreachable', { cause });
  }
}
