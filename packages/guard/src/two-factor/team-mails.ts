import { TEAM_MAILS_MAX } from '@security-optimizer/contract/login/limits';
import { type ServerText, toParam } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { Language } from '../i18n/language.js';
import { formatDayAndTime } from '../i18n/time-labels.js';
import { ApiError } from '../lib/api-error.js';
import { shortText } from '../lib/plain-text.js';
import type { Mailer } from '../mail/mailer.js';
import type { Notice } from '../mail/notice-mail.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig } from '../site.js';
import type { TeamMember } from '../wordpress/connector-responses.js';

/** Number of mails that are sent at the same time. */
const CONCURRENT_MAX = 4;
/** Limit for a name that users have chosen, characters. */
const NAME_MAX = 80;

export interface TeamMailContext {
  readonly mailer: Mailer;
  readonly language: Language;
  readonly timeZone: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export interface TeamMailFacts {
  /** The address of the login. */
  readonly login: string;
  readonly actor: Actor;
}

/** The mail with the address of the login. */
export function loginUrlNotice({ language, timeZone, now }: TeamMailContext, { login, actor }: TeamMailFacts): Notice {
  const site = new URL(login).host;
  return {
    subject: language.translate('How to log in to {site}', { site }),
    date: formatDayAndTime(language, timeZone, now),
    headline: language.translate('This is where you log in'),
    lead: language.translate('Use this address from now on. An older one may not work any more.'),
    facts: [{ name: language.translate('Login URL'), value: login, mono: true }],
    task: {
      kind: 'info',
      title: language.translate('Save it as a bookmark'),
      text: language.translate('Only your team should know this address, so please do not pass it on.'),
      button: { href: login, label: language.translate('Log in') },
    },
    reason: language.translate('{user} sent this to all who work on {site}.', {
      user: shortText(actor.login, NAME_MAX),
      site,
    }),
  };
}

/** The mail that explains how to set up the second factor. */
export function twoFactorNotice({ language, timeZone, now }: TeamMailContext, { login, actor }: TeamMailFacts): Notice {
  const site = new URL(login).host;
  return {
    subject: language.translate('Set up two-factor authentication for {site}', { site }),
    date: formatDayAndTime(language, timeZone, now),
    headline: language.translate('Your login needs a second step'),
    lead: language.translate(
      'At every login {site} asks for a code from your phone. You set it up at your next login, in about 2 minutes.',
      { site },
    ),
    facts: [],
    task: {
      kind: 'info',
      title: language.translate('What you need'),
      text: language.translate(
        'An app for such codes on your phone, for example Google Authenticator or Microsoft Authenticator. Log in as usual; the next page leads you through it.',
      ),
      button: { href: login, label: language.translate('Log in') },
    },
    reason: language.translate('{user} sent this because your account on {site} needs it.', {
      user: shortText(actor.login, NAME_MAX),
      site,
    }),
  };
}

/**
 * Sends a notice to each of these users, a few at a time.
 *
 * @returns the number of recipients, and the text for the owner
 * @throws ApiError mail_not_sent when no mail was sent, or when there are too many users
 */
export async function mailTeam(
  { mailer, language }: Pick<TeamMailContext, 'mailer' | 'language'>,
  {
    site,
    users,
    notice,
  }: { readonly site: SiteConfig; readonly users: readonly TeamMember[]; readonly notice: Notice },
): Promise<{ readonly mailed: number; readonly failed: number; readonly message: ServerText }> {
  if (users.length > TEAM_MAILS_MAX) throw refusal(serverMessage('team_too_large', { most: TEAM_MAILS_MAX }));
  if (users.length === 0) throw refusal('Nobody has an e-mail address that we can use.');
  const { renderNotice } = await import('../mail/notice-mail.js');
  const mail = renderNotice(notice, language);
  const reasons: ServerText[] = [];
  for (let at = 0; at < users.length; at += CONCURRENT_MAX) {
    const outcomes = users.slice(at, at + CONCURRENT_MAX).map(({ email }) => mailer.send(site, { ...mail, to: email }));
    for (const outcome of await Promise.all(outcomes)) if (outcome.kind !== 'sent') reasons.push(outcome.reason);
  }
  const [failed, mailed] = [reasons.length, users.length - reasons.length];
  const [reason] = reasons;
  if (reason === undefined) return { mailed, failed, message: serverMessage('team_mailed', { count: mailed }) };
  if (mailed === 0) throw refusal(reason);
  return {
    mailed,
    failed,
    message: serverMessage('team_mailed_some', { count: mailed, failed, reason: toParam(reason) }),
  };
}

function refusal(message: ServerText): ApiError {
  return new ApiError('mail_not_sent', { message });
}
