import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createCookie, isSameSite, readCookie } from '../http/headers.js';
import { toReference } from '../http/request-id.js';
import { ApiError } from '../lib/api-error.js';
import { toVisitorText } from '../lib/carried-address.js';
import { OutageLog } from '../lib/logger.js';
import type { SiteConfig, SiteId } from '../site.js';
import {
  CHALLENGE_COOKIE,
  CHALLENGE_MS,
  CHALLENGES_PER_USER,
  findChallenge,
  hashToken,
  ID_BYTES,
  isFormToken,
  toChallengeHash,
} from './challenges.js';
import { FactorKeyError } from './factor-key.js';
import { handleSubmit } from './handle-submit.js';
import { type Notice, noticePage, notices } from './notices.js';
import { REDIRECT_MAX } from './redirect-target.js';
import { pageReply, type Reply, redirectReply, sendReply } from './reply.js';
import {
  showStep,
  type TwoFactorRequest,
  type TwoFactorRequirement,
  type TwoFactorServices,
  type TwoFactorStep,
  toLinks,
  toPageFacts,
} from './steps.js';

/**
 * Guard's own pages of the second factor. The hooks call `handle` for requests to the login path with
 * `?action=second-factor` (challenge, enrolment, codes; GET shows a page, POST submits a form) or
 * `?action=second-factor-setup` (administrators set up their own factor), and `begin` after a correct password. Both
 * own the response and never throw.
 */
export interface TwoFactorFlow {
  handle(request: IncomingMessage, response: ServerResponse, facts: TwoFactorRequest): void;
  /**
   * Begins a challenge after a correct password.
   * @param json for a program: the response is JSON with the URL of the next step; otherwise it is a redirect
   */
  begin(
    request: IncomingMessage,
    response: ServerResponse,
    facts: TwoFactorRequest,
    needed: TwoFactorRequirement,
    json: boolean,
  ): void;
  /** Users for whom the cookies of this request hold a valid trusted-device token. Synchronous: from memory. */
  trustedUsers(site: SiteConfig, cookieHeader: string | undefined): readonly number[];
}

/** Lifetime of the cookie, seconds. It exceeds that of the challenge, so that an interrupted setup can continue. */
const COOKIE_SECONDS = 24 * 3600;

/** The flow with the methods that only its feature uses. */
export interface RunningTwoFactorFlow extends TwoFactorFlow {
  /** Reloads a site's trusted devices: at start, and when the site's version has changed. Never throws. */
  reload(site: SiteId): Promise<void>;
  /** Stops trusting all browsers for this user. */
  forgetDevices(site: SiteId, user: number): void;
}

/** Creates guard's pages of the second factor. */
export function createTwoFactorFlow(options: Omit<TwoFactorServices, 'onKeyCreated'>): RunningTwoFactorFlow {
  const { clock, logger } = options;
  const deps: TwoFactorServices = {
    ...options,
    onKeyCreated: () => logger.info({ event: 'second-factor-key-made' }, 'The key file of the second factor was made.'),
  };

  const outages = new OutageLog();

  const sendResult = (
    request: IncomingMessage,
    response: ServerResponse,
    facts: TwoFactorRequest,
    work: () => Promise<Reply>,
    json = false,
  ): void => {
    work()
      .catch((error: unknown) => errorReply(deps, outages, facts, error))
      .then((reply) => (json && reply.page !== undefined ? toProgramError(facts, reply) : reply))
      .then((reply) => sendReply(request, response, reply))
      .catch((error: unknown) => {
        logger.error({ event: 'second-factor-failed', requestId: facts.requestId, err: error }, 'No page was sent.');
        response.destroy();
      });
  };

  return {
    begin(request, response, facts, needed, json) {
      const work = async () => {
        const reply = await beginChallenge(deps, request, facts, { ...needed, purpose: 'login' });
        return json ? toProgramReply(facts, reply) : reply;
      };
      sendResult(request, response, facts, work, json);
    },

    handle(request, response, facts) {
      const query = new URLSearchParams((request.url ?? '').split('?', 2)[1] ?? '');
      sendResult(request, response, facts, async () => {
        const reads = request.method === 'GET' || request.method === 'HEAD';
        if (query.get('action') === 'second-factor-setup') {
          return reads ? startOwnSetup(deps, request, facts) : { status: 405 };
        }
        if (!reads && request.method !== 'POST') return { status: 405 };
        return reads ? show(deps, request, facts, query) : submit(deps, request, facts, query);
      });
    },

    trustedUsers: (site, cookieHeader) => deps.devices.listUsers(site.id, cookieHeader, clock()),

    async reload(site) {
      await deps.devices.load(site, clock()).catch((error: unknown) => {
        logger.error(
          { event: 'trusted-devices-read-failed', site, err: error },
          'Trusted devices can’t be read; every login asks for a code.',
        );
      });
    },

    forgetDevices: (site, user) => deps.devices.forget(site, user),
  };
}

async function beginChallenge(
  deps: TwoFactorServices,
  request: IncomingMessage,
  facts: TwoFactorRequest,
  needed: TwoFactorRequirement & { readonly purpose: 'login' | 'setup' },
): Promise<Reply> {
  const now = deps.clock();
  const owner = { site: facts.site.id, userId: needed.userId };
  const cookie = randomBytes(ID_BYTES).toString('base64url');
  const idHash = hashToken(cookie);
  await deps.challenges.create(
    {
      ...owner,
      idHash,
      login: needed.login,
      purpose: needed.purpose,
      remember: needed.remember,
      redirect: needed.redirect.length > REDIRECT_MAX ? '' : needed.redirect,
      decided: needed.decided,
      sitePath: needed.sitePath,
      interim: needed.interim,
      stamp: needed.stamp,
      createdAt: now,
      expiresAt: now + CHALLENGE_MS,
    },
    CHALLENGES_PER_USER,
  );
  const before = toChallengeHash(readCookie(request.headers.cookie, CHALLENGE_COOKIE));
  if (before !== null) await deps.factors.adoptSetup(owner, { from: before, to: idHash });
  await deps.factors.rename(owner, needed.login);
  const secure = facts.scheme === 'https';
  return redirectReply(toLinks(facts.loginPath, needed.interim).self, [
    createCookie({ name: CHALLENGE_COOKIE, value: cookie, path: facts.loginPath, maxAge: COOKIE_SECONDS, secure }),
  ]);
}

/**
 * The start of a challenge for a program, for example a page that logs in by script or a phone app. The fields have the
 * places in which clients of WordPress's REST API and of `admin-ajax.php` expect them.
 */
function toProgramReply(facts: TwoFactorRequest, started: Reply): Reply {
  const url = `${facts.scheme}://${facts.host}${started.location ?? facts.loginPath}`;
  const message = facts.language.translate('This account needs a second factor. Go on with the login at {url}', {
    url,
  });
  return {
    ...toJsonReply(401, 'two_factor_required', message, { url }),
    ...(started.cookies && { cookies: started.cookies }),
  };
}

function toProgramError(facts: TwoFactorRequest, { status }: Reply): Reply {
  const message = facts.language.translate('The second factor can’t be checked right now. Try again later.');
  return toJsonReply(status, 'two_factor_unavailable', message, {});
}

function toJsonReply(status: number, code: string, message: string, more: Readonly<Record<string, string>>): Reply {
  return { status, json: { success: false, code, message, status, ...more, data: { status, message, ...more } } };
}

async function show(
  deps: TwoFactorServices,
  request: IncomingMessage,
  facts: TwoFactorRequest,
  query: URLSearchParams,
): Promise<Reply> {
  const step = await findStep(deps, request, facts);
  if (step === null) return endedReply(facts, query);
  return showStep(deps, step, query.get('method') === 'backup' ? 'backup' : 'app');
}

async function submit(
  deps: TwoFactorServices,
  request: IncomingMessage,
  facts: TwoFactorRequest,
  query: URLSearchParams,
): Promise<Reply> {
  if (!isSameSite(request.headers, facts.host)) return endedReply(facts, query);
  const fields = await readForm(request);
  if (fields === null) return { status: 400 };
  const step = await findStep(deps, request, facts);
  if (step === null) return endedReply(facts, query);
  // An older page of this browser: show the next step instead of handling the form.
  if (!isFormToken(step.cookie, fields.get('token') ?? '')) {
    return redirectReply(toLinks(facts.loginPath, step.challenge.interim).self);
  }
  if (!(await isStillValid(deps, step))) {
    const { site, userId: user, login, idHash } = step.challenge;
    await deps.challenges.end(site, idHash, step.now);
    const { requestId } = facts;
    const address = toVisitorText(facts.address);
    deps.logger.warn(
      { event: 'second-factor-outdated', site, user, login, address, requestId },
      'A login was continued after password, role or session of its user had changed, and was refused.',
    );
    return endedReply(facts, query);
  }
  return handleSubmit(deps, step, fields);
}

/**
 * Whether the user who began the challenge could still begin it: password and role are unchanged, and an administrator
 * who sets up their own factor still has the session.
 */
async function isStillValid(
  deps: TwoFactorServices,
  { request, challenge, cookieHeader }: TwoFactorStep,
): Promise<boolean> {
  if (challenge.purpose === 'setup')
    return (await findSignedInAdministrator(deps, request, cookieHeader))?.id === challenge.userId;
  const user = await deps.users.user(request.site, challenge.userId);
  return user !== null && (challenge.stamp === '' || user.stamp === challenge.stamp);
}

async function findSignedInAdministrator(deps: TwoFactorServices, facts: TwoFactorRequest, cookie: string | undefined) {
  const { site, host, scheme, address, requestId } = facts;
  const sender = { host, scheme, address, requestId };
  const visitor = cookie === undefined ? null : await deps.users.identify(site, { cookie, sender });
  return visitor?.administrator === true ? visitor : null;
}

async function findStep(
  deps: TwoFactorServices,
  request: IncomingMessage,
  facts: TwoFactorRequest,
): Promise<TwoFactorStep | null> {
  const now = deps.clock();
  const cookieHeader = request.headers.cookie;
  const cookie = readCookie(cookieHeader, CHALLENGE_COOKIE);
  const challenge = await findChallenge(deps.challenges, { site: facts.site.id, cookie, now });
  return challenge === null || cookie === null ? null : { request: facts, challenge, cookie, cookieHeader, now };
}

/** Starts the setup for an administrator with a session. */
async function startOwnSetup(
  deps: TwoFactorServices,
  request: IncomingMessage,
  facts: TwoFactorRequest,
): Promise<Reply> {
  const visitor = await findSignedInAdministrator(deps, facts, request.headers.cookie);
  if (visitor === null) {
    return noticeReply(facts, 403, notices.logInFirst(toLinks(facts.loginPath, false).again));
  }
  const { id: userId, login } = visitor;
  const needed = {
    userId,
    login,
    remember: false,
    redirect: '',
    decided: false,
    sitePath: '',
    interim: false,
  } as const;
  return beginChallenge(deps, request, facts, { ...needed, stamp: '', purpose: 'setup' });
}

function endedReply(facts: TwoFactorRequest, query: URLSearchParams): Reply {
  return noticeReply(facts, 403, notices.ended(toLinks(facts.loginPath, query.has('interim-login')).again));
}

function noticeReply(facts: TwoFactorRequest, status: number, content: Notice): Reply {
  return pageReply(status, (nonce) => noticePage({ ...toPageFacts(facts), nonce }, content));
}

function errorReply(deps: TwoFactorServices, outages: OutageLog, facts: TwoFactorRequest, error: unknown): Reply {
  const { requestId, site } = facts;
  if (error instanceof FactorKeyError) {
    deps.logger.error(
      { event: `second-factor-key-${error.problem}`, site: site.id, requestId, detail: error.message },
      'Codes can’t be checked, so nobody with a second factor can log in. Put the right two-factor.key back.',
    );
    return noticeReply(facts, 503, notices.keyProblem(toReference(requestId)));
  }
  // WordPress was not queried, or does not respond at all.
  const { code } = error instanceof ApiError ? error : { code: 'internal' };
  if (
    code === 'internal' ||
    (code !== 'too_many_calls' && outages.record(`${site.id} ${code}`, deps.clock()) !== null)
  ) {
    deps.logger.error({ event: 'second-factor-failed', site: site.id, requestId, err: error }, 'A step failed.');
  }
  return noticeReply(facts, 503, notices.unavailable(toLinks(facts.loginPath, false).again, toReference(requestId)));
}

/** Limit for the body of a form, bytes. The forms hold a token, a code and checkboxes. */
const MAX_BYTES = 4096;

/** Fields of a form sent as `application/x-www-form-urlencoded`. Null for another type, or when it is too long. */
function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // The body is read in flowing mode: only then does the server's timeout for silent clients apply.
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(chunk);
      else resolve(null);
    });
    request.once('end', () => resolve(new URLSearchParams(Buffer.concat(chunks).toString('utf8'))));
    // The client disconnected.
    request.once('error', () => resolve(null));
    request.once('close', () => resolve(null));
  });
}
