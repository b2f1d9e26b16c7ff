import { type Api, createApi } from './api/api-app.js';
import { createDownloadHandlers } from './api/download-handlers.js';
import { createHandlers, type UseCases } from './api/handlers.js';
import { composeActivity } from './compose-activity.js';
import { composeLogin } from './compose-login.js';
import { fetchSecurityOptions } from './site-security/fetch-security-options.js';
import { setSecurityOption } from './site-security/set-security-option.js';
import type { Sessions } from './wordpress/session.js';

type ActivityParts = Parameters<typeof composeActivity>[0];
type LoginParts = Parameters<typeof composeLogin>[0];
type Composed = ReturnType<typeof composeActivity> & ReturnType<typeof composeLogin>;

/**
 * The part of the composition root that is loaded with the first call of the API: its framework, and the use cases that
 * only answer calls.
 * @param parts `running`: the use cases of parts that are at work all the time
 */
export function composeApi(
  parts: Omit<ActivityParts & LoginParts, 'configured'> & {
    readonly sessions: Sessions;
    readonly running: Omit<UseCases, keyof Composed | 'fetchSecurityOptions' | 'setSecurityOption'>;
  },
): Promise<Api> {
  const { config, change, sessions, running } = parts;
  const activity = composeActivity(parts);
  return createApi({
    sessions,
    clock: change.clock,
    logger: change.logger,
    downloads: createDownloadHandlers(activity),
    handlers: createHandlers({
      fetchSecurityOptions: (site) => fetchSecurityOptions(change.settings, site),
      setSecurityOption: (wanted) => setSecurityOption(change, wanted),
      ...activity,
      ...composeLogin({ ...parts, configured: config.sites }),
      ...running,
    }),
  });
}
