import type { Language } from '../i18n/language.js';
import { stripPort } from '../lib/address.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { AuditStore } from '../settings/audit-store.js';
import type { SiteConfig } from '../site.js';
import type { SessionIssuer, UserLookup } from '../wordpress/connector-client.js';
import { type ChallengeStore, type StoredChallenge, toFormToken } from './challenges.js';
import type { FactorTriesStore } from './check-code.js';
import { createQrCode, type EnrolmentServices, getSetupSecret } from './enrolment.js';
import { getKeyForCheck } from './factor-key.js';
import type { FactorStore } from './factor-store.js';
import { noticePage, notices } from './notices.js';
import type { FormFacts, FrameFacts, SignedInAccount } from './page-frame.js';
import { challengePage, codesAgainPage, enrolPage } from './pages.js';
import { pageReply, type Reply } from './reply.js';
import { toBase32, toKeyUri } from './totp.js';
import type { TrustedDevices } from './trusted-devices.js';

/** A request to the pages of the second factor. */
export interface TwoFactorRequest {
  readonly site: SiteConfig;
  /** Client address in canonical text, as it is seen. It is sent to WordPress. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly requestId: string;
  /** Current path of the login, with leading slash and home: `/wp-login.php` or the custom address. */
  readonly loginPath: string;
  /** The site's language. */
  readonly language: Language;
  /** The browser sent a session cookie of WordPress. */
  readonly mayBeSignedIn: boolean;
}

/** The connector's report that a password was correct but a second factor is needed. */
export interface TwoFactorRequirement {
  readonly userId: number;
  readonly login: string;
  readonly remember: boolean;
  /**
   * The target that the visitor requested, or '' for the default page. WordPress validates it when it creates the
   * session.
   */
  readonly redirect: string;
  /** WordPress has already decided: `redirect` is the target of its own response to the login. */
  readonly decided: boolean;
  /** Path of the site of a network on which the login began, `/two/`; empty for its main site. */
  readonly sitePath: string;
  /** The login dialog inside wp-admin (`interim-login`). */
  readonly interim: boolean;
  /** Changes with the user's password, and with a role that determines whether a second factor is needed. */
  readonly stamp: string;
}

/** The services that the steps of the second factor use. */
export interface TwoFactorServices extends EnrolmentServices {
  readonly factors: FactorStore;
  readonly challenges: ChallengeStore;
  readonly tries: FactorTriesStore;
  readonly devices: TrustedDevices;
  readonly issuer: SessionIssuer;
  readonly users: UserLookup;
  /** The audit of factors that were set up or failed, and of used back-up codes. */
  readonly audit: Pick<AuditStore, 'add'>;
  /**
   * Records each successful login.
   * @returns the `Set-Cookie` text of the known browser
   */
  readonly recordLogin: (
    request: TwoFactorRequest,
    login: { readonly user: number; readonly cookieHeader: string | undefined; readonly now: number },
  ) => string;
  /** Path of wp-admin, without trailing slash. */
  readonly adminPath: (site: SiteConfig) => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A request with its challenge. */
export interface TwoFactorStep {
  readonly request: TwoFactorRequest;
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
  /** The start of the login. */
  readonly again: string;
}

export function toLinks(loginPath: string, interim: boolean): StepLinks {
  return {
    self: `${loginPath}?action=second-factor${interim ? '&interim-login=1' : ''}`,
    again: `${loginPath}${interim ? '?interim-login=1' : ''}`,
  };
}

/** Page of the dashboard to which an administrator returns after the setup. */
export function toSettingsPage(adminPath: string): string {
  return `${adminPath}/admin.php?page=login-settings`;
}

export function toForm({ request, challenge, cookie }: TwoFactorStep): FormFacts {
  return { action: toLinks(request.loginPath, challenge.interim).self, token: toFormToken(cookie) };
}

/** The host without its port, and the language of the pages. */
export function toPageFacts({ host, language }: TwoFactorRequest): Omit<FrameFacts, 'nonce'> {
  return { host: stripPort(host), language };
}

/**
 * The visitor's next task, according to the store.
 * @throws StorageError
 */
export async function getNextTask(
  factors: Pick<FactorStore, 'read'>,
  challenge: StoredChallenge,
): Promise<'code' | 'enrol' | 'save-codes' | 'nothing'> {
  const factor = await factors.read(challenge);
  if (factor?.enabled) return challenge.purpose === 'login' ? 'code' : 'nothing';
  return challenge.confirmed && factor?.setupChallenge === challenge.idHash ? 'save-codes' : 'enrol';
}

/** The fault of the submitted form. */
export interface FormError {
  readonly error: string;
  readonly status: number;
  readonly retryAfter?: number;
  /** Whether "don't ask again" was ticked. */
  readonly trust: boolean;
}

/**
 * The page for the visitor's next task.
 * @param method the visitor's choice: the app or a back-up code
 * @throws FactorKeyError, StorageError
 */
export async function showStep(
  deps: TwoFactorServices,
  step: TwoFactorStep,
  method: 'app' | 'backup',
  mistake?: FormError,
): Promise<Reply> {
  const { challenge, request } = step;
  const facts = toPageFacts(request);
  const form = toForm(step);
  const { self, again } = toLinks(request.loginPath, challenge.interim);
  const cancelUrl = challenge.purpose === 'login' ? again : toSettingsPage(deps.adminPath(request.site));
  const { login, purpose } = challenge;
  const status = mistake?.status ?? 200;
  const error = mistake?.error;
  const finished = (page: (nonce: string) => string): Reply => ({
    ...pageReply(status, page),
    ...(mistake?.retryAfter === undefined ? {} : { retryAfter: mistake.retryAfter }),
  });

  switch (await getNextTask(deps.factors, challenge)) {
    case 'code': {
      // Reports that codes can't be checked before the visitor types one.
      const factor = await deps.factors.read(challenge);
      if (factor) await getKeyForCheck(deps.keyFile, factor.keyId);
      const otherMethodUrl = method === 'app' ? `${self}&method=backup` : self;
      const trust = mistake?.trust ?? false;
      const signedIn = await findOtherAccount(deps, step);
      return finished((nonce) =>
        challengePage({ ...facts, nonce, form, method, login, signedIn, otherMethodUrl, cancelUrl, error, trust }),
      );
    }
    case 'enrol': {
      const secret = await getSetupSecret(deps, challenge, step.now);
      if (secret === null) return alreadySetUp(deps, step);
      const qr = createQrCode(toKeyUri(secret, { host: facts.host, login }));
      const text = toBase32(secret);
      return finished((nonce) =>
        enrolPage({ ...facts, nonce, form, purpose, login, cancelUrl, qr, secret: text, error }),
      );
    }
    case 'save-codes':
      return finished((nonce) => codesAgainPage({ ...facts, nonce, form, missingTick: mistake !== undefined }));
    case 'nothing':
      return alreadySetUp(deps, step);
  }
}

/**
 * The account that this browser is signed in to, when it differs from that of the challenge. A plugin that switches
 * accounts may have caused this challenge for a user who can't provide the code, and who is still signed in.
 */
async function findOtherAccount(
  { users, adminPath, logger }: TwoFactorServices,
  { request, challenge, cookieHeader }: TwoFactorStep,
): Promise<SignedInAccount | null> {
  if (!request.mayBeSignedIn || cookieHeader === undefined || challenge.purpose !== 'login') return null;
  const { site, host, scheme, address, requestId } = request;
  const sender = { host, scheme, address, requestId };
  const visitor = await users.identify(site, { cookie: cookieHeader, sender }).catch((error: unknown) => {
    logger.debug({ event: 'signed-in-account-unknown', site: site.id, requestId, err: error }, 'No way back is shown.');
    return null;
  });
  if (visitor === null || visitor.id === challenge.userId) return null;
  return { login: visitor.login, url: `${adminPath(site)}/` };
}

function alreadySetUp(deps: TwoFactorServices, { request }: TwoFactorStep): Reply {
  const back = toSettingsPage(deps.adminPath(request.site));
  return pageReply(200, (nonce) => noticePage({ ...toPageFacts(request), nonce }, notices.alreadySetUp(back)));
}
