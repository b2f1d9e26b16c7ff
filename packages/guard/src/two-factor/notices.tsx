import type { Values } from '../i18n/language.js';
import { type IconName, Tile } from '../pages/visitor-page.js';
import { type FrameFacts, renderFrame } from './page-frame.js';

/** A page without a form: an event or the current state, and a link. The texts are English, with names in braces. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  /** Values of the names in text and foot. */
  readonly values?: Values;
  readonly tone: 'on' | 'warn' | 'danger';
  readonly icon: IconName;
  readonly button?: { readonly label: string; readonly href: string } | undefined;
  readonly foot?: string | undefined;
  /** Tells the login dialog of wp-admin, which frames this page, that it can close. */
  readonly closesDialog?: boolean;
}

export function noticePage(facts: FrameFacts, notice: Notice): string {
  const { button, values } = notice;
  const { translate } = facts.language;
  return renderFrame(facts, {
    title: translate(notice.title),
    foot: notice.foot === undefined ? undefined : translate(notice.foot, values),
    // WordPress's own wp-auth-check.js looks for this class on the body.
    ...(notice.closesDialog ? { bodyClass: 'login interim-login interim-login-success' } : {}),
    content: (
      <>
        <Tile icon={notice.icon} tone={notice.tone} />
        <h1>{translate(notice.title)}</h1>
        <p>{translate(notice.text, values)}</p>
        {button ? (
          <p className="so-front__btn">
            <a className="so-btn so-btn--primary so-btn--wide" href={button.href}>
              {translate(button.label)}
            </a>
          </p>
        ) : null}
      </>
    ),
  });
}

/** Texts of the second factor's notices. `again` is the address of the login, `wait` a formatted time. */
export const notices = {
  ended: (again: string): Notice => ({
    title: 'This login has ended',
    text: 'It took more than 10 minutes, was used already, or began in another browser. Nothing was changed.',
    tone: 'warn',
    icon: 'clock',
    button: { label: 'Log in again', href: again },
  }),
  tooMany: (again: string, wait: string | null): Notice => ({
    title: 'Too many wrong codes',
    ...(wait === null
      ? { text: 'This login has ended. You can log in again now.' }
      : { text: 'This login has ended. Codes are accepted again in {time}.', values: { time: wait } }),
    tone: 'danger',
    icon: 'error',
    button: { label: 'Log in again', href: again },
  }),
  keyProblem: (reference: string): Notice => ({
    title: 'Codes can’t be checked',
    text: 'The server can’t read the key that it needs to check your code, so this login was stopped. Your password and your authenticator app are fine.',
    tone: 'danger',
    icon: 'error',
    foot: 'Ask the site’s owner or hosting provider to put the key back. Reference {reference}.',
    values: { reference },
  }),
  failed: (again: string, reference: string): Notice => ({
    title: 'We couldn’t log you in',
    text: 'The site didn’t answer. You are not logged in. Please log in again in a minute.',
    tone: 'warn',
    icon: 'error',
    button: { label: 'Log in again', href: again },
    foot: 'If it lasts, contact the site’s owner and mention the reference {reference}.',
    values: { reference },
  }),
  unavailable: (again: string, reference: string): Notice => ({
    title: 'This doesn’t work right now',
    text: 'Something went wrong on the server. Nothing was changed. Please try again in a minute.',
    tone: 'warn',
    icon: 'error',
    button: { label: 'Try again', href: again },
    foot: 'If it lasts, contact the site’s owner and mention the reference {reference}.',
    values: { reference },
  }),
  alreadySetUp: (back: string): Notice => ({
    title: 'Two-factor authentication is already set up',
    text: 'The next login asks for a code from your phone. To move it to another phone, reset it under Login Security and set it up again.',
    tone: 'on',
    icon: 'check',
    button: { label: 'Back to the dashboard', href: back },
  }),
  logInFirst: (again: string): Notice => ({
    title: 'Log in first',
    text: 'Only an administrator who is logged in can set this up here. Everyone else is asked at the next login.',
    tone: 'warn',
    icon: 'error',
    button: { label: 'Log in', href: again },
  }),
  interimSuccess: (): Notice => ({
    title: 'You are logged in',
    text: 'You have logged in successfully.',
    tone: 'on',
    icon: 'check',
    closesDialog: true,
  }),
} as const;
