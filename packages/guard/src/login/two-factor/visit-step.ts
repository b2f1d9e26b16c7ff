import { withoutPort } from '../../lib/authority.js';
import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { FormFacts, FrameFacts } from '../../pages/second-factor/frame.js';
import type { SiteConfig } from '../../site.js';
import type { AuditStore } from '../../storage/audit-store.js';
import type { ChallengeStore, StoredChallenge } from '../../storage/challenge-store.js';
import type { FactorTriesStore } from '../../storage/factor-tries-store.js';
import type { SecondFactorStore } from '../../storage/second-factor-store.js';
import { formToken } from './challenge.js';
import type { EnrolDeps } from './enrol.js';
import type { DoorVisit } from './second-factor-door.js';
import type { SessionIssuer, SessionOfVisitor } from './session-issuer.js';
import type { TrustedDevices } from './trusted-devices.js';

/** What the steps of the second factor work with. */
export interface StepDeps extends EnrolDeps {
  readonly factors: SecondFactorStore;
  readonly challenges: ChallengeStore;
  readonly tries: FactorTriesStore;
  readonly devices: TrustedDevices;
  readonly issuer: SessionIssuer;
  readonly visitors: SessionOfVisitor;
  /** Where it is written down that a factor was set up, failed, or replaced by a back-up code. */
  readonly audit: Pick<AuditStore, 'add'>;
  /** Told of each log-in that ended well. @returns `Set-Cookie` text, by which the browser is known as no stranger */
  readonly noteLogin: (
    visit: DoorVisit,
    login: { readonly user: number; readonly cookieHeader: string | undefined; readonly now: number },
  ) => string;
  /** Path of wp-admin, without slash at the end. */
  readonly adminPath: (site: SiteConfig) => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A visitor at a challenge of their own. */
export interface VisitStep {
  readonly visit: DoorVisit;
  readonly challenge: StoredChallenge;
  /** The challenge cookie. */
  readonly cookie: string;
  readonly cookieHeader: string | undefined;
  readonly now: number;
}

/** Addresses that the pages of a challenge link to. */
export interface StepLinks {
  /** The challenge's own page. */
  readonly self: string;
  /** The log-in, from the start. */
  readonly again: string;
}

export function linksOf(loginPath: string, interim: boolean): StepLinks {
  return {
    self: `${loginPath}?action=second-factor${interim ? '&interim-login=1' : ''}`,
    again: `${loginPath}${interim ? '?interim-login=1' : ''}`,
  };
}

/** Page of the dashboard to which an administrator goes back after setting up. */
export function settingsPage(adminPath: string): string {
  return `${adminPath}/admin.php?page=login-settings`;
}

export function formOf({ visit, challenge, cookie }: VisitStep): FormFacts {
  return { action: linksOf(visit.loginPath, challenge.interim).self, token: formToken(cookie) };
}

/** The host as people know it, and the language of the pages. */
export function pageFacts({ host, language }: DoorVisit): Omit<FrameFacts, 'nonce'> {
  return { host: withoutPort(host), language };
}

/** What the visitor has to do next, by what is stored now. Throws StorageError. */
export async function nextTask(
  factors: Pick<SecondFactorStore, 'read'>,
  challenge: StoredChallenge,
): Promise<'code' | 'enrol' | 'save-codes' | 'nothing'> {
  const factor = await factors.read(challenge);
  if (factor?.enabled) return challenge.purpose === 'login' ? 'code' : 'nothing';
  return challenge.confirmed && factor?.setupChallenge === challenge.idHash ? 'save-codes' : 'enrol';
}
