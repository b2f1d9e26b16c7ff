import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { LoginAttempts } from './attempts.js';
import type { LostReports } from './lost-reports.js';
import type { SlowAccounts } from './slow-accounts.js';
import type { SecondFactorDoor } from './two-factor/second-factor-door.js';

/** What the request path needs of Login Security beside the snapshot of settings. */
export interface LoginGate {
  readonly attempts: LoginAttempts;
  readonly slow: SlowAccounts;
  readonly door: SecondFactorDoor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest time in line for a password check, milliseconds. */
  readonly waitMs: number;
  readonly lost: LostReports;
  /** What the answer to a failed log-in waits for; see `AttemptKeeper.settled`. */
  settled(site: SiteId): Promise<void>;
}

/** Long enough for a slow password check before it, short enough for someone who looks at an empty page. */
export const LOGIN_WAIT_MS = 10_000;
