import { PLACES, renderVisitorPage, type VisitorPage } from './visitor-page.js';

const BAN = ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M4.7 4.7l10.6 10.6'];
const LOCK = [
  'M6 9h8a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2z',
  'M6.8 9V6.2a3.2 3.2 0 0 1 6.4 0V9',
];
const UNKNOWN = [
  'M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15',
  'M7.8 7.9a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6',
  'M10 14.1h.01',
];
const CLOCK = ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M10 5.8V10l2.8 1.8'];

const MISTAKE = 'Is this a mistake? Contact the site’s owner and mention the reference.';
const LATER = 'If it lasts, contact the site’s owner and mention the reference.';

/** Every page that guard itself answers with, by name, with its HTTP status. */
export const visitorPages = {
  blocked: {
    status: 403,
    title: 'Blocked',
    heading: 'You are blocked from this site',
    text: `The owner of ${PLACES.host} doesn’t accept visits from your address at the moment.`,
    tone: 'danger',
    icon: BAN,
    details: true,
    foot: MISTAKE,
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    heading: 'This can’t be opened',
    text: `${PLACES.host} doesn’t open this address to anyone.`,
    tone: 'quiet',
    icon: LOCK,
    details: true,
    foot: MISTAKE,
  },
  'login-access': {
    status: 403,
    title: 'Not allowed',
    heading: 'You can’t log in from here',
    text: `The owner of ${PLACES.host} lets people log in from known addresses only.`,
    tone: 'quiet',
    icon: LOCK,
    details: true,
    foot: MISTAKE,
  },
  'login-busy': {
    status: 429,
    title: 'Please try again',
    heading: 'Please try again in a moment',
    text: 'Other log-ins from your network are still being checked. You are not locked out.',
    tone: 'warn',
    icon: CLOCK,
    details: true,
    foot: 'The rest of the site works as usual.',
  },
  'not-found': {
    status: 404,
    title: 'Page not found',
    heading: 'Page not found',
    text: `There is nothing at this address of ${PLACES.host}.`,
    tone: 'quiet',
    icon: UNKNOWN,
    details: false,
    foot: 'Check the address, or go to the front page.',
  },
  'bad-request': {
    status: 400,
    title: 'Bad request',
    heading: 'This request can’t be understood',
    text: 'It could mean more than one thing, so it was not answered.',
    tone: 'quiet',
    icon: UNKNOWN,
    details: true,
    foot: MISTAKE,
  },
  'bad-method': {
    status: 405,
    title: 'Not allowed',
    heading: 'This can’t be done here',
    text: `${PLACES.host} doesn’t accept this kind of request.`,
    tone: 'quiet',
    icon: LOCK,
    details: true,
    foot: MISTAKE,
  },
  'too-long': {
    status: 414,
    title: 'Address too long',
    heading: 'This address is too long',
    text: `${PLACES.host} can’t read an address of this length.`,
    tone: 'quiet',
    icon: UNKNOWN,
    details: false,
    foot: 'Check the address, or go to the front page.',
  },
  unreachable: {
    status: 502,
    title: 'Not available',
    heading: 'The site doesn’t answer',
    text: `${PLACES.host} is not available at the moment. Please try again in a minute.`,
    tone: 'warn',
    icon: CLOCK,
    details: true,
    foot: LATER,
  },
  busy: {
    status: 503,
    title: 'Busy',
    heading: 'The site is very busy',
    text: `${PLACES.host} can’t take more visitors at the moment. Please try again in a minute.`,
    tone: 'warn',
    icon: CLOCK,
    details: true,
    foot: LATER,
  },
  slow: {
    status: 504,
    title: 'No answer in time',
    heading: 'The site took too long',
    text: `${PLACES.host} didn’t answer in time. Please try again in a minute.`,
    tone: 'warn',
    icon: CLOCK,
    details: true,
    foot: LATER,
  },
} as const satisfies Record<string, VisitorPage & { readonly status: number }>;

export type PageName = keyof typeof visitorPages;

/** What differs from visitor to visitor. */
export interface VisitorPageFacts {
  readonly host: string;
  readonly address: string;
  readonly time: Date;
  readonly reference: string;
}

const rendered = new Map<PageName, string>();

/** The page as HTML. Every value that comes from the visitor is escaped here. */
export function visitorPage(name: PageName, facts: VisitorPageFacts): string {
  let page = rendered.get(name);
  if (page === undefined) {
    page = renderVisitorPage(visitorPages[name]);
    rendered.set(name, page);
  }
  const host = facts.host === '' ? 'This site' : facts.host;
  return page
    .replaceAll(PLACES.host, escapeHtml(host))
    .replaceAll(PLACES.initial, escapeHtml(host.slice(0, 1).toUpperCase()))
    .replaceAll(PLACES.address, escapeHtml(facts.address))
    .replaceAll(PLACES.time, `${TIME.format(facts.time)} UTC`)
    .replaceAll(PLACES.reference, facts.reference);
}

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'$]/g, (character) => `&#${character.charCodeAt(0)};`);
}
