import type { AwayState } from '@security-optimizer/contract/login';
import { localTimestamp } from '../activity/local-days.js';
import { ApiError } from '../lib/api-error.js';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';
import { awayAt } from './away-schedule.js';
import { awayStateOf } from './away-state.js';
import { type AwayInput, parseAwaySchedule } from './parse-away-schedule.js';

export interface AwayModeDeps extends ChangeDeps {
  readonly timeZone: (site: SiteId) => string;
}

/**
 * Sets the schedule of Away Mode; it can't be changed while it is on, also not to off.
 *
 * @throws ApiError away_mode_on, or invalid_input naming the fields; StorageError
 */
export async function setAwayMode(
  deps: AwayModeDeps,
  { site, actor, input }: { readonly site: SiteConfig; readonly actor: Actor; readonly input: AwayInput },
): Promise<{ readonly state: AwayState; readonly message: string }> {
  const timeZone = deps.timeZone(site.id);
  const { after } = await changeSettings(deps, { site, actor }, ({ login }) => {
    const nowMs = deps.clock();
    const { until } = awayAt(login.away_mode, timeZone, nowMs);
    if (until !== null) {
      throw new ApiError('away_mode_on', {
        message: english.translate('Away Mode is on until {time}.', { time: localTimestamp(timeZone, until / 1000) }),
      });
    }
    return { away_mode: parseAwaySchedule(input, { timeZone, nowMs, current: login.away_mode }) };
  });
  const state = awayStateOf(after.login.away_mode, timeZone, deps.clock());
  return { state, message: textFor(state, timeZone) };
}

/** Moments stand as in the lists, so that the dashboard can write them in the owner's language. */
function textFor({ until, next_from }: AwayState, timeZone: string): string {
  if (until !== null)
    return english.translate('Away Mode is on until {time}.', { time: localTimestamp(timeZone, until) });
  return next_from === null
    ? 'Away Mode is off.'
    : english.translate('Away Mode begins on {time}.', { time: localTimestamp(timeZone, next_from) });
}
