import { type Language, perLanguage } from '../i18n/language.js';
import { formatUtcTime } from '../i18n/time-labels.js';
import { POSITIONS, renderVisitorPage, type VisitorPage } from './visitor-page.js';

const MISTAKE = 'Is this a mistake? Contact the site’s owner and mention the reference.';
const UNSUPPORTED = {
  title: 'Not allowed',
  heading: 'This can’t be done here',
  text: '{host} doesn’t accept this kind of request.',
  tone: 'quiet',
  icon: 'lock',
  details: true,
  foot: MISTAKE,
} as const;
const LATER = 'If it lasts, contact the site’s owner and mention the reference.';

/** Every page that guard itself sends, by name, with its HTTP status. */
export const visitorPages = {
  blocked: {
    status: 403,
    title: 'You are blocked',
    heading: 'You are blocked from this site',
    text: 'The owner of {host} doesn’t accept visits from your address at the moment.',
    tone: 'danger',
    icon: 'ban',
    details: true,
    foot: MISTAKE,
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    heading: 'This can’t be opened',
    text: '{host} doesn’t open this address to anyone.',
    tone: 'quiet',
    icon: 'lock',
    details: true,
    foot: MISTAKE,
  },
  'login-access': {
    status: 403,
    title: 'Not allowed',
    heading: 'You can’t log in from here',
    text: 'The owner of {host} lets people log in from known addresses only.',
    tone: 'quiet',
    icon: 'lock',
    details: true,
    foot: MISTAKE,
  },
  'login-busy': {
    status: 429,
    title: 'Please try again',
    heading: 'Please try again in a moment',
    text: 'Other logins are still being checked. You are not locked out.',
    tone: 'warn',
    icon: 'clock',
    details: true,
    foot: 'The rest of the site works as usual.',
  },
  'not-found': {
    status: 404,
    title: 'Page not found',
    heading: 'Page not found',
    text: 'There is nothing at this address of {host}.',
    tone: 'quiet',
    icon: 'unknown',
    details: false,
    foot: 'Check the address, or go to the front page.',
  },
  'bad-request': {
    status: 400,
    title: 'Bad request',
    heading: 'This request can’t be understood',
    text: 'It could mean more than one thing, so it was not answered.',
    tone: 'quiet',
    icon: 'unknown',
    details: true,
    foot: MISTAKE,
  },
  'bad-method': { status: 405, ...UNSUPPORTED },
  expectation: { status: 417, ...UNSUPPORTED },
  'too-long': {
    status: 414,
    title: 'Address too long',
    heading: 'This address is too long',
    text: '{host} can’t read an address of this length.',
    tone: 'quiet',
    icon: 'unknown',
    details: false,
    foot: 'Check the address, or go to the front page.',
  },
  unreachable: {
    status: 502,
    title: 'Not available',
    heading: 'The site doesn’t answer',
    text: '{host} is not available at the moment. Please try again in a minute.',
    tone: 'warn',
    icon: 'clock',
    details: true,
    foot: LATER,
  },
  // The same text as `unreachable`: the reason is for the operator only.
  unavailable: {
    status: 503,
    title: 'Not available',
    heading: 'The site doesn’t answer',
    text: '{host} is not available at the moment. Please try again in a minute.',
    tone: 'warn',
    icon: 'clock',
    details: true,
    foot: LATER,
  },
  busy: {
    status: 503,
    title: 'Busy',
    heading: 'The site is very busy',
    text: '{host} can’t take more visitors at the moment. Please try again in a minute.',
    tone: 'warn',
    icon: 'clock',
    details: true,
    foot: LATER,
  },
  slow: {
    status: 504,
    title: 'No answer in time',
    heading: 'The site took too long',
    text: '{host} didn’t answer in time. Please try again in a minute.',
    tone: 'warn',
    icon: 'clock',
    details: true,
    foot: LATER,
  },
} as const satisfies Record<string, VisitorPage & { readonly status: number }>;

export type PageName = keyof typeof visitorPages;

/** Values that differ between visitors. */
export interface VisitorPageFacts {
  readonly host: string;
  readonly address: string;
  readonly time: Date;
  readonly reference: string;
}

const rendered = perLanguage(() => new Map<PageName, string>());

/** Renders the page as HTML. Every value from the visitor is escaped. */
export function visitorPage(language: Language, name: PageName, facts: VisitorPageFacts): string {
  const pages = rendered(language);
  let page = pages.get(name);
  if (page === undefined) {
    page = renderVisitorPage(language, visitorPages[name]);
    pages.set(name, page);
  }
  return withHost(language, page, facts.host)
    .replaceAll(POSITIONS.address, escapeHtml(facts.address))
    .replaceAll(POSITIONS.time, escapeHtml(formatUtcTime(language, facts.time)))
    .replaceAll(POSITIONS.reference, facts.reference);
}

/** Fills the site's name into a rendered page. */
export function withHost(language: Language, page: string, named: string): string {
  const host = named === '' ? language.translate('This site') : named;
  return page
    .replaceAll(POSITIONS.host, escapeHtml(host))
    .replaceAll(POSITIONS.initial, escapeHtml(host.slice(0, 1).toUpperCase()));
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'$]/g, (character) => `&#${character.charCodeAt(0)};`);
}
