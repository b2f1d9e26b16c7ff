import { challengePage } from '../../pages/second-factor/challenge-page.js';
import { codesAgainPage } from '../../pages/second-factor/codes-page.js';
import { enrolPage } from '../../pages/second-factor/enrol-page.js';
import { noticePage } from '../../pages/second-factor/notice-page.js';
import { notices } from '../../pages/second-factor/notices.js';
import { secretToSetUp } from './enrol.js';
import { keyForCheck } from './factor-key.js';
import { qrCode } from './qr-code.js';
import { pageReply, type Reply } from './reply.js';
import { base32, keyUri } from './totp.js';
import { formOf, linksOf, nextTask, pageFacts, type StepDeps, settingsPage, type VisitStep } from './visit-step.js';

/** What was wrong with the form that this page answers. */
export interface FormMistake {
  readonly error: string;
  readonly status: number;
  readonly retryAfter?: number;
  /** Whether "don't ask again" was ticked. */
  readonly trust: boolean;
}

/**
 * The page for what the visitor has to do next.
 * @param method how the visitor wants to confirm: with the app or a back-up code
 * @throws FactorKeyProblem, StorageError
 */
export async function showStep(
  deps: StepDeps,
  step: VisitStep,
  method: 'app' | 'backup',
  mistake?: FormMistake,
): Promise<Reply> {
  const { challenge, visit } = step;
  const facts = pageFacts(visit);
  const form = formOf(step);
  const { self, again } = linksOf(visit.loginPath, challenge.interim);
  const leave = challenge.purpose === 'login' ? again : settingsPage(deps.adminPath(visit.site));
  const { login, purpose } = challenge;
  const status = mistake?.status ?? 200;
  const error = mistake?.error;
  const finished = (page: (nonce: string) => string): Reply => ({
    ...pageReply(status, page),
    ...(mistake?.retryAfter === undefined ? {} : { retryAfter: mistake.retryAfter }),
  });

  switch (await nextTask(deps.factors, challenge)) {
    case 'code': {
      // A visitor whose code can't be checked is told so before typing one.
      const factor = await deps.factors.read(challenge);
      if (factor) await keyForCheck(deps.keyFile, factor.keyId);
      const otherMethod = method === 'app' ? `${self}&method=backup` : self;
      const trust = mistake?.trust ?? false;
      return finished((nonce) =>
        challengePage({ ...facts, nonce, form, method, login, otherMethod, leave, error, trust }),
      );
    }
    case 'enrol': {
      const secret = await secretToSetUp(deps, challenge, step.now);
      if (secret === null) return alreadySetUp(deps, step);
      const qr = qrCode(keyUri(secret, { host: facts.host, login }));
      const text = base32(secret);
      return finished((nonce) => enrolPage({ ...facts, nonce, form, purpose, login, leave, qr, secret: text, error }));
    }
    case 'save-codes':
      return finished((nonce) => codesAgainPage({ ...facts, nonce, form, missingTick: mistake !== undefined }));
    case 'nothing':
      return alreadySetUp(deps, step);
  }
}

function alreadySetUp(deps: StepDeps, { visit }: VisitStep): Reply {
  const back = settingsPage(deps.adminPath(visit.site));
  return pageReply(200, (nonce) => noticePage({ ...pageFacts(visit), nonce }, notices.alreadySetUp(back)));
}
