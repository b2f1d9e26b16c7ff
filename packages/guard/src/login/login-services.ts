import type { Exchange, WithheldResponse } from '../hooks.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { LoginReport } from '../wordpress/login-headers.js';
import type { LoginAttempts } from './attempts.js';
import type { BasicCredentials } from './basic-credentials.js';
import type { MissingReports } from './missing-reports.js';
import type { ThrottledAccounts } from './throttled-accounts.js';

/** Dependencies of the hook of Login Security, except the snapshot of settings. */
export interface LoginServices {
  readonly attempts: Pick<
    LoginAttempts,
    'isLocked' | 'getEntry' | 'tryAcquire' | 'enqueue' | 'enqueueCheck' | 'recordFailure' | 'recordSuccess'
  >;
  readonly throttled: Pick<ThrottledAccounts, 'recordFailure'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly basicCredentials: BasicCredentials;
  /** Longest wait for a permit, milliseconds. */
  readonly waitMs: number;
  readonly missingReports: Omit<MissingReports, 'stop'>;
  /** The response to a failed login waits for this; see `LoginAttemptRepository.whenStored`. */
  whenStored(site: SiteId): Promise<void>;
  secondFactor(): SecondFactor;
  /**
   * Set where views get no permit, so that WordPress must check no password in them. Called when a plugin wanted to
   * check one in a view all the same.
   */
  readonly onPasswordInView?: (site: SiteId) => void;
}

/** The part of the second factor that Login Security uses. It starts after Login Security. */
export interface SecondFactor {
  /** Users for whom the cookies of a request hold a valid trusted-device token. Synchronous: from memory. */
  trustedUsers(site: SiteConfig, cookieHeader: string | undefined): readonly number[];
  /**
   * Handles a correct password that needs a second factor: responds to the client in place of WordPress.
   *
   * @param factor as the connector reports it
   * @param withheld WordPress's response, which the client does not get
   */
  begin(exchange: Exchange, factor: ReportedFactor, withheld: WithheldResponse): void;
}

/** A second factor that the connector requires. */
export type ReportedFactor = NonNullable<LoginReport['factor']>;

/** Long enough for a slow password check to end, short enough for a user who waits for the page. */
export const CHECK_WAIT_MS = 10_000;
