import { randomBytes } from 'node:crypto';
import { createCookie } from '../http/headers.js';
import { createKnownBrowserCookie, readKnownBrowser } from '../http/login-cookies.js';
import { toReference } from '../http/request-id.js';
import { formatWait } from '../i18n/time-labels.js';
import { toClientKey } from '../lib/address.js';
import { parseVisitor, toVisitorText } from '../lib/carried-address.js';
import type { LoginAttempts } from '../login/index.js';
import { recordSuccess } from '../login/index.js';
import { CHALLENGE_COOKIE, ID_BYTES } from './challenges.js';
import { type CodeOutcome, checkCode, consumeAppCode, consumeBackupCode } from './check-code.js';
import { confirmSetup, formatBackupCode, parseBackupCode, renewSetupCodes } from './enrolment.js';
import { noticePage, notices } from './notices.js';
import { codesPage } from './pages.js';
import { toRedirectTarget, toVisibleUrl } from './redirect-target.js';
import { pageReply, type Reply, redirectReply } from './reply.js';
import {
  getNextTask,
  showStep,
  type TwoFactorRequest,
  type TwoFactorServices,
  type TwoFactorStep,
  toForm,
  toLinks,
  toPageFacts,
  toSettingsPage,
} from './steps.js';
import { parseCode } from './totp.js';
import { TRUSTED_SECONDS, toDeviceCookieName } from './trusted-devices.js';

/**
 * Handles a submitted form of the second factor. The user and the next step are read from the stored challenge, never
 * from the form: a form for another step is redirected to the page of the correct one.
 *
 * @throws FactorKeyError, StorageError
 */
export async function handleSubmit(
  deps: TwoFactorServices,
  step: TwoFactorStep,
  fields: URLSearchParams,
): Promise<Reply> {
  const wanted = fields.get('step');
  const code = fields.get('code') ?? '';
  const task = await getNextTask(deps.factors, step.challenge);
  if (task === 'code' && (wanted === 'code' || wanted === 'backup')) {
    return confirmLogin(deps, step, { code, method: wanted, trust: fields.get('trust') === '1' });
  }
  if (task === 'enrol' && wanted === 'enrol') return confirmFirstCode(deps, step, code);
  if (task === 'save-codes' && wanted === 'renew') {
    const codes = await renewSetupCodes(deps, step.challenge);
    if (codes !== null) return codesReply(step, codes);
  }
  if (task === 'save-codes' && wanted === 'continue') return finishSetup(deps, step, fields.get('saved') === '1');
  return redirectReply(toLinks(step.request.loginPath, step.challenge.interim).self);
}

async function confirmLogin(
  deps: TwoFactorServices,
  step: TwoFactorStep,
  form: { readonly code: string; readonly method: 'code' | 'backup'; readonly trust: boolean },
): Promise<Reply> {
  const { challenge, now } = step;
  const { translate } = step.request.language;
  const { code, trust } = form;
  const app = form.method === 'code';
  const method = app ? 'app' : 'backup';
  if ((app ? parseCode(code) : parseBackupCode(code)) === null) {
    const error = app ? translate('A code has 6 digits.') : translate('A back-up code has 8 digits.');
    return showStep(deps, step, method, { error, status: 400, trust });
  }
  const consume = app ? consumeAppCode : consumeBackupCode;
  const outcome = await checkCode(deps, challenge, now, () => consume(deps, challenge, code, now));
  if (outcome.kind !== 'right') {
    return refusedReply(deps, step, outcome, method, {
      trust,
      wrong: app
        ? translate('This code isn’t right. Wait for the next one and try again.')
        : translate('This back-up code isn’t right, or was used before.'),
    });
  }
  // Only one request may convert a challenge to a session.
  if (!(await deps.challenges.end(challenge.site, challenge.idHash, now))) {
    return redirectReply(toLinks(step.request.loginPath, challenge.interim).self);
  }
  logEvent(deps, step, 'second-factor-passed', { method });
  if (!app) await recordAudit(deps, step, 'factor_backup_code');
  return finishChallenge(deps, step, trust);
}

async function confirmFirstCode(deps: TwoFactorServices, step: TwoFactorStep, code: string): Promise<Reply> {
  const { challenge, now } = step;
  const { translate } = step.request.language;
  if (parseCode(code) === null) {
    return showStep(deps, step, 'app', { error: translate('A code has 6 digits.'), status: 400, trust: false });
  }
  let codes: readonly string[] | null = null;
  const outcome = await checkCode(deps, challenge, now, async () => {
    codes = await confirmSetup(deps, challenge, code, now);
    return codes !== null;
  });
  if (outcome.kind === 'right' && codes !== null) return codesReply(step, codes);
  const wrong = translate('This code isn’t right. Check the time on your phone, then try the next code.');
  return refusedReply(deps, step, outcome, 'app', { trust: false, wrong });
}

async function finishSetup(deps: TwoFactorServices, step: TwoFactorStep, saved: boolean): Promise<Reply> {
  const { challenge, now, request } = step;
  if (!saved) {
    const error = request.language.translate('Tick this to go on.');
    return showStep(deps, step, 'app', { error, status: 400, trust: false });
  }
  if (!(await deps.factors.enable(challenge, { challenge: challenge.idHash, at: now }))) {
    return redirectReply(toLinks(step.request.loginPath, challenge.interim).self);
  }
  logEvent(deps, step, 'second-factor-set-up', { purpose: challenge.purpose });
  await recordAudit(deps, step, 'factor_set_up');
  return finishChallenge(deps, step, false);
}

function codesReply(step: TwoFactorStep, codes: readonly string[]): Reply {
  const facts = {
    ...toPageFacts(step.request),
    form: toForm(step),
    login: step.challenge.login,
    codes: codes.map(formatBackupCode),
  };
  return pageReply(200, (nonce) => codesPage({ ...facts, nonce }));
}

async function refusedReply(
  deps: TwoFactorServices,
  step: TwoFactorStep,
  outcome: CodeOutcome,
  method: 'app' | 'backup',
  form: { readonly trust: boolean; readonly wrong: string },
): Promise<Reply> {
  const { challenge, request, now } = step;
  const { language } = request;
  const until = outcome.kind === 'paused' || outcome.kind === 'over' ? outcome.until : 0;
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  const retry = seconds > 0 ? { retryAfter: seconds } : {};
  logEvent(deps, step, 'second-factor-refused', { outcome: outcome.kind, method, pausedSeconds: seconds });
  // A code that was not checked doesn't count as wrong.
  if (outcome.kind !== 'paused') await recordAudit(deps, step, 'factor_failed');
  switch (outcome.kind) {
    case 'paused': {
      const error = language.translate('Too many wrong codes. Try again in {time}.', {
        time: formatWait(language, seconds),
      });
      return showStep(deps, step, method, { error, status: 429, trust: form.trust, ...retry });
    }
    case 'over': {
      const { again } = toLinks(request.loginPath, challenge.interim);
      const notice = notices.tooMany(again, seconds > 0 ? formatWait(language, seconds) : null);
      return { ...pageReply(429, (nonce) => noticePage({ ...toPageFacts(request), nonce }, notice)), ...retry };
    }
    default:
      return showStep(deps, step, method, { error: form.wrong, status: 403, trust: form.trust });
  }
}

function logEvent(deps: TwoFactorServices, { challenge, request }: TwoFactorStep, event: string, more: object): void {
  const { site, userId, login } = challenge;
  const { requestId } = request;
  const address = toVisitorText(request.address);
  deps.logger.info({ event, site, user: userId, login, address, requestId, ...more }, 'Second factor.');
}

/** Writes an audit row, which the Activity Log shows too. A login continues even when the row can't be written. */
async function recordAudit(
  deps: TwoFactorServices,
  { challenge, request, now }: TwoFactorStep,
  name: 'factor_set_up' | 'factor_failed' | 'factor_backup_code',
): Promise<void> {
  const actor = { id: challenge.userId, login: challenge.login, address: toVisitorText(request.address) };
  await deps.audit.add(challenge.site, { actor, at: now }, [{ name, before: null, after: null }]).catch((error) => {
    deps.logger.error({ event: 'audit-store-failed', site: challenge.site, name, err: error }, 'Not written down.');
  });
}

/**
 * Ends a passed challenge: WordPress creates the session, and its cookies are sent to the browser unchanged. An
 * administrator who only set up a factor returns to the dashboard with the existing session.
 *
 * @param trust whether the user chose to trust this browser
 */
async function finishChallenge(deps: TwoFactorServices, step: TwoFactorStep, trust: boolean): Promise<Reply> {
  const { request, challenge } = step;
  const { site, scheme, host, address, requestId } = request;
  const forget = createCookie({
    name: CHALLENGE_COOKIE,
    value: '',
    path: request.loginPath,
    maxAge: 0,
    secure: scheme === 'https',
  });
  const adminPath = deps.adminPath(site);
  if (challenge.purpose === 'setup') return redirectReply(toSettingsPage(adminPath), [forget]);

  let issued: Awaited<ReturnType<TwoFactorServices['issuer']['issueSession']>>;
  try {
    issued = await deps.issuer.issueSession(site, {
      user: challenge.userId,
      remember: challenge.remember,
      redirect: challenge.redirect,
      decided: challenge.decided,
      sitePath: challenge.sitePath,
      interim: challenge.interim,
      stamp: challenge.stamp,
      newFactor: challenge.confirmed,
      sender: { host, scheme, address, requestId },
    });
  } catch (error) {
    deps.logger.error(
      { event: 'session-issue-failed', site: site.id, user: challenge.userId, requestId, err: error },
      'A user passed the second factor, but WordPress made no session.',
    );
    const { again } = toLinks(request.loginPath, challenge.interim);
    const notice = notices.failed(again, toReference(requestId));
    return pageReply(502, (nonce) => noticePage({ ...toPageFacts(request), nonce }, notice));
  }

  const { userId: user } = challenge;
  const known = deps.recordLogin(request, { user, cookieHeader: step.cookieHeader, now: step.now });
  const cookies = [...issued.setCookies, known, forget];
  if (trust) {
    // The session exists. Without the trust, the user only has to enter one more code next time.
    await trustBrowser(deps, step).then(
      (cookie) => cookies.push(cookie),
      (error: unknown) =>
        deps.logger.error({ event: 'second-factor-failed', site: site.id, requestId, err: error }, 'Not trusted.'),
    );
  }
  if (challenge.interim) {
    const page = (nonce: string) => noticePage({ ...toPageFacts(request), nonce }, notices.interimSuccess());
    return { ...pageReply(200, page), cookies };
  }
  const wanted = toVisibleUrl(issued.redirect, { scheme, host }, site);
  return redirectReply(toRedirectTarget(wanted, { scheme, host }, `${adminPath}/`), cookies);
}

async function trustBrowser(deps: TwoFactorServices, step: TwoFactorStep): Promise<string> {
  const { request, challenge, cookieHeader, now } = step;
  const address = toVisitorText(request.address);
  const token = randomBytes(ID_BYTES).toString('base64url');
  const value = await deps.devices.trust(request.site.id, challenge.userId, { token, cookieHeader, now });
  deps.logger.info(
    { event: 'second-factor-device-trusted', site: request.site.id, user: challenge.userId, address },
    'A browser is trusted for 30 days.',
  );
  return createCookie({
    name: toDeviceCookieName(request.site.id),
    value,
    path: '/',
    maxAge: TRUSTED_SECONDS,
    secure: request.scheme === 'https',
  });
}

/**
 * Records a login that passed the second factor: it clears the same failures as any other login, and the browser
 * becomes a known browser of the user.
 *
 * @param home URL path of the site's home
 * @returns the `Set-Cookie` text of the known browser
 */
export function recordLogin(
  attempts: Pick<LoginAttempts, 'recordSuccess'>,
  home: string,
  { site, scheme, address }: TwoFactorRequest,
  login: { readonly user: number; readonly cookieHeader: string | undefined; readonly now: number },
): string {
  const { user, cookieHeader, now } = login;
  const device = readKnownBrowser(site.secret, cookieHeader, now);
  const from = parseVisitor(address);
  if (from !== null) recordSuccess(attempts, { site: site.id, key: toClientKey(from), device, user }, now);
  return createKnownBrowserCookie(site.secret, {
    home,
    scheme,
    now,
    device,
    user,
    freshId: randomBytes(8).toString('hex'),
  });
}
