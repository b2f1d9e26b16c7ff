import type { ApiCall } from '../api/send.js';
import { isFields } from '../data/fields.js';
import { type KnownActivityOptions, readActivityOptions } from './read-activity-options.js';
import { type KnownLoginOptions, readLoginOptions } from './read-login-options.js';
import { type KnownOptions, readSecurityOptions } from './read-security-options.js';

/** Where the options of one page come from. */
export interface OptionsSource<Options extends object> {
  readonly key: readonly string[];
  readonly call: ApiCall;
  /** Takes what can be used from an answer. */
  readonly read: (data: unknown) => Options;
}

/** Name of the contract's `fetchOptions`. The contract's own module would bring Zod into the browser. */
export const FETCH_OPTIONS = 'fetchOptions';

export const securityOptions: OptionsSource<KnownOptions> = {
  key: ['options', 'security'],
  call: { suffix: '/fetch-options', body: { page: 'security' } },
  read: readSecurityOptions,
};

export const loginOptions: OptionsSource<KnownLoginOptions> = {
  key: ['options', 'login'],
  call: { suffix: '/fetch-options', body: { page: 'login' } },
  read: readLoginOptions,
};

export const activityOptions: OptionsSource<KnownActivityOptions> = {
  key: ['options', 'activity'],
  call: { suffix: '/fetch-options', body: { page: 'activity' } },
  read: readActivityOptions,
};

/** Where the jobs of Post-hack Actions stand. The page reads it: its rules need not come with every page. */
export const postHackSource: OptionsSource<{ readonly jobs?: unknown; readonly facts?: unknown }> = {
  key: ['post-hack'],
  call: { suffix: '/post-hack-jobs', body: {} },
  read: (data) => (isFields(data) && 'jobs' in data ? data : {}),
};
