import { codesPage } from '../../pages/second-factor/codes-page.js';
import { noticePage } from '../../pages/second-factor/notice-page.js';
import { notices } from '../../pages/second-factor/notices.js';
import { waitInWords } from '../../pages/time-words.js';
import { normaliseBackupCode, showBackupCode } from './backup-codes.js';
import { type CodeOutcome, checkCode } from './check-code.js';
import { confirmSetup, renewSetupCodes } from './enrol.js';
import { finish } from './finish.js';
import { pageReply, type Reply, redirectReply } from './reply.js';
import { showStep } from './show-step.js';
import { spendAppCode, spendBackupCode } from './spend-code.js';
import { normaliseCode } from './totp.js';
import { formOf, linksOf, nextTask, pageFacts, type StepDeps, type VisitStep } from './visit-step.js';

/**
 * Acts on a form of the second factor. Who the visitor is and what is due comes from the stored challenge, never from
 * the form: a form for another step only leads to the page of the right one.
 *
 * @throws FactorKeyProblem, StorageError
 */
export async function actOnForm(deps: StepDeps, step: VisitStep, fields: URLSearchParams): Promise<Reply> {
  const wanted = fields.get('step');
  const code = fields.get('code') ?? '';
  const task = await nextTask(deps.factors, step.challenge);
  if (task === 'code' && (wanted === 'code' || wanted === 'backup')) {
    return confirmLogin(deps, step, { code, method: wanted, trust: fields.get('trust') === '1' });
  }
  if (task === 'enrol' && wanted === 'enrol') return confirmFirstCode(deps, step, code);
  if (task === 'save-codes' && wanted === 'renew') {
    const codes = await renewSetupCodes(deps, step.challenge);
    if (codes !== null) return showCodes(step, codes);
  }
  if (task === 'save-codes' && wanted === 'continue') return goOn(deps, step, fields.get('saved') === '1');
  return redirectReply(linksOf(step.visit.loginPath, step.challenge.interim).self);
}

async function confirmLogin(
  deps: StepDeps,
  step: VisitStep,
  form: { readonly code: string; readonly method: 'code' | 'backup'; readonly trust: boolean },
): Promise<Reply> {
  const { challenge, now } = step;
  const { translate } = step.visit.language;
  const { code, trust } = form;
  const app = form.method === 'code';
  const method = app ? 'app' : 'backup';
  if ((app ? normaliseCode(code) : normaliseBackupCode(code)) === null) {
    const error = app ? translate('A code has 6 digits.') : translate('A back-up code has 8 digits.');
    return showStep(deps, step, method, { error, status: 400, trust });
  }
  const spend = app ? spendAppCode : spendBackupCode;
  const outcome = await checkCode(deps, challenge, now, () => spend(deps, challenge, code, now));
  if (outcome.kind !== 'right') {
    return refused(deps, step, outcome, method, {
      trust,
      wrong: app
        ? translate('This code isn’t right. Wait for the next one and try again.')
        : translate('This back-up code isn’t right, or was used before.'),
    });
  }
  // Only one request may turn a challenge into a session.
  if (!(await deps.challenges.end(challenge.site, challenge.idHash, now))) {
    return redirectReply(linksOf(step.visit.loginPath, challenge.interim).self);
  }
  log(deps, step, 'second-factor-passed', { method });
  if (!app) await writeDown(deps, step, 'factor_backup_code');
  return finish(deps, step, trust);
}

async function confirmFirstCode(deps: StepDeps, step: VisitStep, code: string): Promise<Reply> {
  const { challenge, now } = step;
  const { translate } = step.visit.language;
  if (normaliseCode(code) === null) {
    return showStep(deps, step, 'app', { error: translate('A code has 6 digits.'), status: 400, trust: false });
  }
  let codes: readonly string[] | null = null;
  const outcome = await checkCode(deps, challenge, now, async () => {
    codes = await confirmSetup(deps, challenge, code, now);
    return codes !== null;
  });
  if (outcome.kind === 'right' && codes !== null) return showCodes(step, codes);
  const wrong = translate('This code isn’t right. Check the time on your phone, then try the next code.');
  return refused(deps, step, outcome, 'app', { trust: false, wrong });
}

async function goOn(deps: StepDeps, step: VisitStep, saved: boolean): Promise<Reply> {
  const { challenge, now, visit } = step;
  if (!saved) {
    const error = visit.language.translate('Tick this to go on.');
    return showStep(deps, step, 'app', { error, status: 400, trust: false });
  }
  if (!(await deps.factors.enable(challenge, { challenge: challenge.idHash, at: now }))) {
    return redirectReply(linksOf(step.visit.loginPath, challenge.interim).self);
  }
  log(deps, step, 'second-factor-set-up', { purpose: challenge.purpose });
  await writeDown(deps, step, 'factor_set_up');
  return finish(deps, step, false);
}

function showCodes(step: VisitStep, codes: readonly string[]): Reply {
  const facts = {
    ...pageFacts(step.visit),
    form: formOf(step),
    login: step.challenge.login,
    codes: codes.map(showBackupCode),
  };
  return pageReply(200, (nonce) => codesPage({ ...facts, nonce }));
}

async function refused(
  deps: StepDeps,
  step: VisitStep,
  outcome: CodeOutcome,
  method: 'app' | 'backup',
  form: { readonly trust: boolean; readonly wrong: string },
): Promise<Reply> {
  const { challenge, visit, now } = step;
  const { language } = visit;
  const until = outcome.kind === 'paused' || outcome.kind === 'over' ? outcome.until : 0;
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  const retry = seconds > 0 ? { retryAfter: seconds } : {};
  log(deps, step, 'second-factor-refused', { outcome: outcome.kind, method, pausedSeconds: seconds });
  // A code that was not looked at is no wrong one.
  if (outcome.kind !== 'paused') await writeDown(deps, step, 'factor_failed');
  switch (outcome.kind) {
    case 'paused': {
      const error = language.translate('Too many wrong codes. Try again in {time}.', {
        time: waitInWords(language, seconds),
      });
      return showStep(deps, step, method, { error, status: 429, trust: form.trust, ...retry });
    }
    case 'over': {
      const { again } = linksOf(visit.loginPath, challenge.interim);
      const notice = notices.tooMany(again, seconds > 0 ? waitInWords(language, seconds) : null);
      return { ...pageReply(429, (nonce) => noticePage({ ...pageFacts(visit), nonce }, notice)), ...retry };
    }
    default:
      return showStep(deps, step, method, { error: form.wrong, status: 403, trust: form.trust });
  }
}

function log(deps: StepDeps, { challenge, visit }: VisitStep, event: string, more: object): void {
  const { site, userId, login } = challenge;
  const { address, requestId } = visit;
  deps.logger.info({ event, site, user: userId, login, address, requestId, ...more }, 'Second factor.');
}

/** Into the record of changes, from where it goes to the Activity Log. That it can't be written stops no log-in. */
async function writeDown(
  deps: StepDeps,
  { challenge, visit, now }: VisitStep,
  name: 'factor_set_up' | 'factor_failed' | 'factor_backup_code',
): Promise<void> {
  const actor = { id: challenge.userId, login: challenge.login, address: visit.address };
  await deps.audit.add(challenge.site, { actor, at: now }, [{ name, before: null, after: null }]).catch((error) => {
    deps.logger.error({ event: 'audit-not-stored', site: challenge.site, name, err: error }, 'Not written down.');
  });
}
