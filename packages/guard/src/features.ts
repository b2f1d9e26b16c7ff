import type { PreloadedBlocks } from './activity/index.js';
import { type ActivityLog, activityLog } from './activity/index.js';
import { alerts as alertsFeature } from './alerts/index.js';
import type { Endpoints, Feature, RunningFeature } from './feature.js';
import { combineHooks, type RequestHooks } from './hooks.js';
import { type LoginSecurity, loginSecurity } from './login/index.js';
import { securityOverview } from './overview/index.js';
import { postHackActions } from './post-hack/index.js';
import { weeklyReports } from './reports/index.js';
import type { Cleanup, Services } from './services.js';
import type { SiteId } from './site.js';
import { siteSecurity } from './site-security/index.js';
import { twoFactorAuthentication } from './two-factor/index.js';

/** All started features. */
export interface RunningFeatures {
  /** Resolves when all data that guard needs before the first request is in memory. */
  readonly ready: Promise<unknown>;
  /** The hooks that the gateway calls. */
  readonly hooks: RequestHooks;
  /** Numbers for the metrics. */
  readonly gauges: Pick<LoginSecurity['attempts'], 'lockCount' | 'waiting'>;
  /** Login Security for views that worker processes forward. */
  readonly views: LoginSecurity['views'];
  /** Where worker processes record visits. */
  readonly activity: Pick<ActivityLog, 'store' | 'visitRules' | 'handleVisitor'>;
  /** Loads all endpoints of the API. */
  loadEndpoints(): Promise<Endpoints>;
  /** Called once guard is serving. */
  onServing(): Promise<void>;
  /** Loads the data of a site that is added while guard runs. @throws StorageError */
  loadSite(site: SiteId): Promise<void>;
  /** Stores the remaining data of a site that is no longer served. */
  dropSite(site: SiteId): Promise<void>;
}

/**
 * Starts all features, in order, each with the earlier ones that it uses. No other module lists all features.
 */
export async function startFeatures(
  services: Services,
  blocked: PreloadedBlocks,
  cleanup: Cleanup,
): Promise<RunningFeatures> {
  const running: RunningFeature[] = [];
  const start = async <Running extends RunningFeature, Earlier>(
    feature: Feature<Running, Earlier>,
    earlier: Earlier,
  ): Promise<Running> => {
    const started = await feature.start(services, earlier);
    running.push(started);
    // If another feature fails to start, nobody awaits this promise: its rejection must not stay unhandled.
    started.ready?.catch(() => undefined);
    cleanup.add(feature.name, () => started.stop?.());
    return started;
  };

  const login = await start(loginSecurity, undefined);
  const twoFactor = await start(twoFactorAuthentication, { login });
  const activity = await start(activityLog, { login, blocked });
  const security = await start(siteSecurity, undefined);
  const alerts = await start(alertsFeature, { login, activity });
  const reports = await start(weeklyReports, { twoFactor, activity, alerts });
  const postHack = await start(postHackActions, { twoFactor, activity, alerts });
  const overview = await start(securityOverview, { twoFactor, activity, alerts, reports, postHack });
  const features = [login, twoFactor, activity, security, alerts, reports, postHack, overview] as const;

  cleanup.add('work of the features', () => {
    for (const { drain } of running) drain?.();
  });
  return {
    ready: Promise.all(running.map(({ ready }) => ready)),
    hooks: combineHooks(running.map(({ hooks }) => hooks ?? {})),
    gauges: login.attempts,
    activity,
    views: login.views,
    async loadEndpoints() {
      const { settingHandlers } = await import('./api/setting-handlers.js');
      const parts = await Promise.all(features.map((feature) => feature.loadEndpoints()));
      // A missing handler for a call of the contract is a compile error.
      const handlers = { ...settingHandlers(services.change), ...merge(parts, 'handlers') };
      return { handlers, pages: merge(parts, 'pages'), downloads: merge(parts, 'downloads') };
    },
    async onServing() {
      for (const feature of running) await feature.onServing?.();
    },
    async loadSite(site) {
      for (const feature of running) await feature.loadSite?.(site);
    },
    async dropSite(site) {
      for (const feature of running) await feature.dropSite?.(site);
    },
  };
}

type Member<Part, Group extends string> = Part extends { readonly [Name in Group]: infer Members } ? Members : never;
type All<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer Both) => void
  ? Both
  : never;

/** Merges one group of all parts into one object. */
function merge<Part extends object, Group extends keyof Endpoints>(
  parts: readonly Part[],
  group: Group,
): All<Member<Part, Group>> {
  const groups = parts.map((part) => (part as { readonly [Name in Group]?: object })[group]);
  return Object.assign({}, ...groups) as All<Member<Part, Group>>;
}
