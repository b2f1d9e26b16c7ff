import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameSite } from '../../api/same-site.js';
import { ApiError } from '../../lib/api-error.js';
import { writeCookie } from '../../lib/cookies.js';
import { OutageLog } from '../../lib/outage-log.js';
import { type Notice, noticePage } from '../../pages/second-factor/notice-page.js';
import { notices } from '../../pages/second-factor/notices.js';
import { reference } from '../../proxy/request-id.js';
import type { SiteId } from '../../site.js';
import { actOnForm } from './act-on-form.js';
import {
  CHALLENGE_MS,
  CHALLENGES_PER_USER,
  challengeHash,
  findChallenge,
  hashOf,
  ID_BYTES,
  isFormToken,
} from './challenge.js';
import { CHALLENGE_COOKIE, readCookie } from './cookies.js';
import { FactorKeyProblem } from './factor-key.js';
import { readForm } from './read-form.js';
import { pageReply, type Reply, redirectReply, sendReply } from './reply.js';
import type { DoorVisit, FactorNeeded, SecondFactorDoor } from './second-factor-door.js';
import { showStep } from './show-step.js';
import { linksOf, pageFacts, type StepDeps, type VisitStep } from './visit-step.js';

/** The browser keeps the cookie longer than the challenge lives, so that an interrupted set-up can go on. */
const COOKIE_SECONDS = 24 * 3600;
const MAX_REDIRECT = 2048;

/** The door as the composition root sees it. */
export interface RunningSecondFactorDoor extends SecondFactorDoor {
  /** Reads a site's trusted devices again: at start, and when the site's version changed. Never throws. */
  reload(site: SiteId): Promise<void>;
  /** Trusts no browser for this user any more, from now on. */
  forgetDevices(site: SiteId, user: number): void;
}

/** Builds guard's pages of the second factor. */
export function createSecondFactorDoor(options: Omit<StepDeps, 'onKeyMade'>): RunningSecondFactorDoor {
  const { clock, logger } = options;
  const deps: StepDeps = {
    ...options,
    onKeyMade: () => logger.info({ event: 'second-factor-key-made' }, 'The key file of the second factor was made.'),
  };

  const outages = new OutageLog();

  const answer = (
    request: IncomingMessage,
    response: ServerResponse,
    visit: DoorVisit,
    work: () => Promise<Reply>,
  ): void => {
    work()
      .catch((error: unknown) => faultReply(deps, outages, visit, error))
      .then((reply) => sendReply(request, response, reply))
      .catch((error: unknown) => {
        logger.error({ event: 'second-factor-failed', requestId: visit.requestId, err: error }, 'No page was sent.');
        response.destroy();
      });
  };

  return {
    begin(request, response, visit, needed) {
      answer(request, response, visit, () => beginChallenge(deps, request, visit, { ...needed, purpose: 'login' }));
    },

    handle(request, response, visit) {
      const query = new URLSearchParams((request.url ?? '').split('?', 2)[1] ?? '');
      answer(request, response, visit, async () => {
        const reads = request.method === 'GET' || request.method === 'HEAD';
        if (query.get('action') === 'second-factor-setup') {
          return reads ? setUpOwn(deps, request, visit) : { status: 405 };
        }
        if (!reads && request.method !== 'POST') return { status: 405 };
        return reads ? show(deps, request, visit, query) : act(deps, request, visit, query);
      });
    },

    trustedUsers: (site, cookieHeader) => deps.devices.users(site.id, cookieHeader, clock()),

    async reload(site) {
      await deps.devices.load(site, clock()).catch((error: unknown) => {
        logger.error(
          { event: 'trusted-devices-not-read', site, err: error },
          'Trusted devices can’t be read; every log-in asks for a code.',
        );
      });
    },

    forgetDevices: (site, user) => deps.devices.forget(site, user),
  };
}

async function beginChallenge(
  deps: StepDeps,
  request: IncomingMessage,
  visit: DoorVisit,
  needed: FactorNeeded & { readonly purpose: 'login' | 'setup' },
): Promise<Reply> {
  const now = deps.clock();
  const owner = { site: visit.site.id, userId: needed.userId };
  const cookie = randomBytes(ID_BYTES).toString('base64url');
  const idHash = hashOf(cookie);
  await deps.challenges.create(
    {
      ...owner,
      idHash,
      login: needed.login,
      purpose: needed.purpose,
      browserHash: hashOf(request.headers['user-agent'] ?? ''),
      remember: needed.remember,
      redirect: needed.redirect.length > MAX_REDIRECT ? '' : needed.redirect,
      interim: needed.interim,
      stamp: needed.stamp,
      createdAt: now,
      expiresAt: now + CHALLENGE_MS,
    },
    CHALLENGES_PER_USER,
  );
  const before = challengeHash(readCookie(request.headers.cookie, CHALLENGE_COOKIE));
  if (before !== null) await deps.factors.adoptSetup(owner, { from: before, to: idHash });
  await deps.factors.rename(owner, needed.login);
  const secure = visit.scheme === 'https';
  return redirectReply(linksOf(visit.loginPath, needed.interim).self, [
    writeCookie({ name: CHALLENGE_COOKIE, value: cookie, path: visit.loginPath, maxAge: COOKIE_SECONDS, secure }),
  ]);
}

async function show(
  deps: StepDeps,
  request: IncomingMessage,
  visit: DoorVisit,
  query: URLSearchParams,
): Promise<Reply> {
  const step = await stepOf(deps, request, visit);
  if (step === null) return ended(visit, query);
  return showStep(deps, step, query.get('method') === 'backup' ? 'backup' : 'app');
}

async function act(deps: StepDeps, request: IncomingMessage, visit: DoorVisit, query: URLSearchParams): Promise<Reply> {
  if (!isSameSite(request.headers, visit.host)) return ended(visit, query);
  const fields = await readForm(request);
  if (fields === null) return { status: 400 };
  const step = await stepOf(deps, request, visit);
  if (step === null) return ended(visit, query);
  // An older page of this browser: show what is due now instead of acting on it.
  if (!isFormToken(step.cookie, fields.get('token') ?? '')) {
    return redirectReply(linksOf(visit.loginPath, step.challenge.interim).self);
  }
  if (!(await isStillTheirs(deps, step))) {
    const { site, userId: user, login, idHash } = step.challenge;
    await deps.challenges.end(site, idHash, step.now);
    const { address, requestId } = visit;
    deps.logger.warn(
      { event: 'second-factor-outdated', site, user, login, address, requestId },
      'A log-in was continued after password, role or session of its user had changed, and was refused.',
    );
    return ended(visit, query);
  }
  return actOnForm(deps, step, fields);
}

/**
 * Whether whoever began the challenge could begin it now: the password is still the same, and the role; or, who sets up
 * the own factor, still has the session.
 */
async function isStillTheirs(deps: StepDeps, { visit, challenge, cookieHeader }: VisitStep): Promise<boolean> {
  if (challenge.purpose === 'setup')
    return (await signedInAdministrator(deps, visit, cookieHeader))?.id === challenge.userId;
  const user = await deps.visitors.user(visit.site, challenge.userId);
  return user !== null && (challenge.stamp === '' || user.stamp === challenge.stamp);
}

async function signedInAdministrator(deps: StepDeps, visit: DoorVisit, cookie: string | undefined) {
  const { site, host, scheme, address, requestId } = visit;
  const sender = { host, scheme, address, requestId };
  const visitor = cookie === undefined ? null : await deps.visitors.whoIs(site, { cookie, sender });
  return visitor?.administrator === true ? visitor : null;
}

async function stepOf(deps: StepDeps, request: IncomingMessage, visit: DoorVisit): Promise<VisitStep | null> {
  const now = deps.clock();
  const cookieHeader = request.headers.cookie;
  const cookie = readCookie(cookieHeader, CHALLENGE_COOKIE);
  const userAgent = request.headers['user-agent'] ?? '';
  const found = await findChallenge(deps.challenges, { site: visit.site.id, cookie, userAgent, now });
  if (found.kind === 'other-browser') {
    const { address, requestId } = visit;
    const { site, userId: user, login } = found.challenge;
    deps.logger.warn(
      { event: 'second-factor-other-browser', site, user, login, address, requestId },
      'A log-in was continued in another browser and refused.',
    );
  }
  return found.kind === 'found' && cookie !== null
    ? { visit, challenge: found.challenge, cookie, cookieHeader, now }
    : null;
}

/** An administrator with a session sets up the own factor now. */
async function setUpOwn(deps: StepDeps, request: IncomingMessage, visit: DoorVisit): Promise<Reply> {
  const visitor = await signedInAdministrator(deps, visit, request.headers.cookie);
  if (visitor === null) {
    return notice(visit, 403, notices.logInFirst(linksOf(visit.loginPath, false).again));
  }
  const { id: userId, login } = visitor;
  const needed = { userId, login, remember: false, redirect: '', interim: false, stamp: '', purpose: 'setup' } as const;
  return beginChallenge(deps, request, visit, needed);
}

function ended(visit: DoorVisit, query: URLSearchParams): Reply {
  return notice(visit, 403, notices.ended(linksOf(visit.loginPath, query.has('interim-login')).again));
}

function notice(visit: DoorVisit, status: number, content: Notice): Reply {
  return pageReply(status, (nonce) => noticePage({ ...pageFacts(visit), nonce }, content));
}

function faultReply(deps: StepDeps, outages: OutageLog, visit: DoorVisit, error: unknown): Reply {
  const { requestId, site } = visit;
  if (error instanceof FactorKeyProblem) {
    deps.logger.error(
      { event: `second-factor-key-${error.problem}`, site: site.id, requestId, detail: error.message },
      'Codes can’t be checked, so nobody with a second factor can log in. Put the right two-factor.key back.',
    );
    return notice(visit, 503, notices.keyProblem(reference(requestId)));
  }
  // WordPress was not asked, or does not answer anybody.
  const { code } = error instanceof ApiError ? error : { code: 'internal' };
  if (code === 'internal' || (code !== 'too_many_calls' && outages.note(`${site.id} ${code}`, deps.clock()) !== null)) {
    deps.logger.error({ event: 'second-factor-failed', site: site.id, requestId, err: error }, 'A step failed.');
  }
  return notice(visit, 503, notices.unavailable(linksOf(visit.loginPath, false).again, reference(requestId)));
}
