import type { Notice } from './notice-page.js';

/** Texts of the second factor's notices. `again` is the address of the log-in, `wait` a time in words. */
export const notices = {
  ended: (again: string): Notice => ({
    title: 'This log-in has ended',
    text: 'It took more than 10 minutes, was used already, or began in another browser. Nothing was changed.',
    tone: 'warn',
    icon: 'clock',
    button: { label: 'Log in again', href: again },
  }),
  tooMany: (again: string, wait: string | null): Notice => ({
    title: 'Too many wrong codes',
    ...(wait === null
      ? { text: 'This log-in has ended. You can log in again now.' }
      : { text: 'This log-in has ended. Codes are accepted again in {time}.', values: { time: wait } }),
    tone: 'danger',
    icon: 'error',
    button: { label: 'Log in again', href: again },
  }),
  keyProblem: (reference: string): Notice => ({
    title: 'Codes can’t be checked',
    text: 'The server can’t read the key that it needs to check your code, so this log-in was stopped. Your password and your authenticator app are fine.',
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
    text: 'The next log-in asks for a code from your phone. To move it to another phone, reset it under Login Security and set it up again.',
    tone: 'on',
    icon: 'check',
    button: { label: 'Back to the dashboard', href: back },
  }),
  logInFirst: (again: string): Notice => ({
    title: 'Log in first',
    text: 'Only an administrator who is logged in can set this up here. Everyone else is asked at the next log-in.',
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
