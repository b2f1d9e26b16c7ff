import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { LoginAttempts } from './attempts.js';
import type { BasicCredentials } from './basic-credentials.js';
import type { MissingReports } from './missing-reports.js';
import type { ThrottledAccounts } from './throttled-accounts.js';

/** The parts of Login Security that the gateway uses, beside the snapshot of settings. */
export interface LoginServices {
  readonly attempts: LoginAttempts;
  readonly throttled: ThrottledAccounts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly basicCredentials: BasicCredentials;
  /** Longest wait for a permit, milliseconds. */
  readonly waitMs: number;
  readonly missingReports: MissingReports;
  /** The response to a failed login waits for this; see `LoginAttemptRepository.whenStored`. */
  whenStored(site: SiteId): Promise<void>;
}

/** Long enough for a slow password check to end, short enough for a person in front of an empty page. */
export const LOGIN_WAIT_MS = 10_000;
