import { randomBytes } from 'node:crypto';
import { writeCookie } from '../../lib/cookies.js';
import { noticePage } from '../../pages/second-factor/notice-page.js';
import { notices } from '../../pages/second-factor/notices.js';
import { reference } from '../../proxy/request-id.js';
import { ID_BYTES } from './challenge.js';
import { CHALLENGE_COOKIE, deviceCookie } from './cookies.js';
import { pageReply, type Reply, redirectReply } from './reply.js';
import { safeRedirect } from './safe-redirect.js';
import { TRUSTED_SECONDS } from './trusted-devices.js';
import { linksOf, pageFacts, type StepDeps, settingsPage, type VisitStep } from './visit-step.js';

/**
 * The end of a challenge that was passed and used up: WordPress makes the session, its cookies go to the browser
 * unchanged. An administrator who only set up a factor goes back to the dashboard with the session there is.
 *
 * @param trust whether the visitor asked not to be asked again in this browser
 */
export async function finish(deps: StepDeps, step: VisitStep, trust: boolean): Promise<Reply> {
  const { visit, challenge } = step;
  const { site, scheme, host, address, requestId } = visit;
  const forget = writeCookie({
    name: CHALLENGE_COOKIE,
    value: '',
    path: visit.loginPath,
    maxAge: 0,
    secure: scheme === 'https',
  });
  const adminPath = deps.adminPath(site);
  if (challenge.purpose === 'setup') return redirectReply(settingsPage(adminPath), [forget]);

  let issued: Awaited<ReturnType<StepDeps['issuer']['issueSession']>>;
  try {
    issued = await deps.issuer.issueSession(site, {
      user: challenge.userId,
      remember: challenge.remember,
      redirect: challenge.redirect,
      interim: challenge.interim,
      stamp: challenge.stamp,
      newFactor: challenge.confirmed,
      sender: { host, scheme, address, requestId },
    });
  } catch (error) {
    deps.logger.error(
      { event: 'session-not-issued', site: site.id, user: challenge.userId, requestId, err: error },
      'A user passed the second factor, but WordPress made no session.',
    );
    const { again } = linksOf(visit.loginPath, challenge.interim);
    const notice = notices.failed(again, reference(requestId));
    return pageReply(502, (nonce) => noticePage({ ...pageFacts(visit), nonce }, notice));
  }

  const { userId: user } = challenge;
  const known = deps.noteLogin(visit, { user, cookieHeader: step.cookieHeader, now: step.now });
  const cookies = [...issued.setCookies, known, forget];
  if (trust) {
    // The session is there; that the browser is not trusted only means one more code next time.
    await trustBrowser(deps, step).then(
      (cookie) => cookies.push(cookie),
      (error: unknown) =>
        deps.logger.error({ event: 'second-factor-failed', site: site.id, requestId, err: error }, 'Not trusted.'),
    );
  }
  if (challenge.interim) {
    const page = (nonce: string) => noticePage({ ...pageFacts(visit), nonce }, notices.interimSuccess());
    return { ...pageReply(200, page), cookies };
  }
  return redirectReply(safeRedirect(issued.redirect, { scheme, host }, `${adminPath}/`), cookies);
}

async function trustBrowser(deps: StepDeps, step: VisitStep): Promise<string> {
  const { visit, challenge, cookieHeader, now } = step;
  const token = randomBytes(ID_BYTES).toString('base64url');
  const value = await deps.devices.trust(visit.site.id, challenge.userId, { token, cookieHeader, now });
  deps.logger.info(
    { event: 'second-factor-device-trusted', site: visit.site.id, user: challenge.userId, address: visit.address },
    'A browser is trusted for 30 days.',
  );
  return writeCookie({
    name: deviceCookie(visit.site.id),
    value,
    path: '/',
    maxAge: TRUSTED_SECONDS,
    secure: visit.scheme === 'https',
  });
}
