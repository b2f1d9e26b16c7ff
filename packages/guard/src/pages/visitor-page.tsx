import { Fragment, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../i18n/language.js';
import { contentStyles, rightToLeftStyles, visitorStyles } from './visitor-styles.js';

/**
 * The texts of a page for visitors. They never name the reason, the product or its version. They are English and are
 * translated when the page is rendered; `{host}` is the site.
 */
export interface VisitorPage {
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly tone: 'danger' | 'warn' | 'quiet' | 'info';
  readonly icon: IconName;
  /** Whether the card shows address, time and reference. */
  readonly details: boolean;
  /** Further content of the card, translated. */
  readonly content?: ReactNode;
  readonly foot: string;
}

/** Placeholders in the rendered page for values that differ between visitors. */
export const POSITIONS = {
  host: '%%HOST%%',
  initial: '%%INITIAL%%',
  address: '%%ADDRESS%%',
  time: '%%TIME%%',
  reference: '%%REFERENCE%%',
} as const;

/** Renders a page in a language; the placeholders are filled in per visitor. */
export function renderVisitorPage(language: Language, page: VisitorPage): string {
  return `<!DOCTYPE html>${renderToStaticMarkup(<Document language={language} page={page} />)}`;
}

/** Root attributes of a page. English pages, sent the most, omit the default direction. */
export function rootAttributes({ tag, direction }: Language) {
  return { className: 'so-fronthtml', lang: tag, dir: direction === 'rtl' ? direction : undefined };
}

function Document({ language, page }: { readonly language: Language; readonly page: VisitorPage }): ReactNode {
  const { translate, direction } = language;
  const styles =
    visitorStyles + (page.content === undefined ? '' : contentStyles) + (direction === 'rtl' ? rightToLeftStyles : '');
  const host = POSITIONS.host;
  return (
    <html {...rootAttributes(language)}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{translate(page.title)}</title>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; React would escape its quotes */}
        <style dangerouslySetInnerHTML={{ __html: styles }} />
      </head>
      <body>
        <div className="so so-front">
          <header className="so-front__site">
            <i aria-hidden="true">{POSITIONS.initial}</i>
            {POSITIONS.host}
          </header>
          <main className="so-front__card">
            <Tile tone={page.tone} icon={page.icon} />
            <h1>{translate(page.heading, { host })}</h1>
            <p>{translate(page.text, { host })}</p>
            {page.details ? <Details language={language} /> : null}
            {page.content}
          </main>
          <footer className="so-front__foot">{translate(page.foot)}</footer>
        </div>
      </body>
    </html>
  );
}

function Details({ language: { translate } }: { readonly language: Language }): ReactNode {
  return (
    <dl className="so-dl">
      <div>
        <dt>{translate('Your address')}</dt>
        <dd className="so-mono" dir="ltr">
          {POSITIONS.address}
        </dd>
      </div>
      <div>
        <dt>{translate('Time')}</dt>
        <dd dir="ltr">{POSITIONS.time}</dd>
      </div>
      <div>
        <dt>{translate('Reference')}</dt>
        <dd className="so-mono" dir="ltr">
          {POSITIONS.reference}
        </dd>
      </div>
    </dl>
  );
}

/** SVG path data of the design's icons, 20 x 20. */
const icons = {
  ban: ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M4.7 4.7l10.6 10.6'],
  lock: ['M6 9h8a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2z', 'M6.8 9V6.2a3.2 3.2 0 0 1 6.4 0V9'],
  unknown: [
    'M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15',
    'M7.8 7.9a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6',
    'M10 14.1h.01',
  ],
  clock: ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M10 5.8V10l2.8 1.8'],
  timer: ['M10 5.1a6.2 6.2 0 1 0 0 12.4a6.2 6.2 0 1 0 0-12.4', 'M10 8v3.3l2.2 1.5', 'M8 2.5h4'],
  moon: ['M16.6 12.1A7 7 0 1 1 8.1 3.3a5.6 5.6 0 0 0 8.5 8.8z'],
  phone: ['M7.5 2h5a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-5a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2z', 'M9 15.2h2'],
  check: ['M4.5 10.5l3.7 3.7 7.3-7.9'],
  error: ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M10 6.2v4.5M10 13.6h.01'],
  copy: [
    'M9 7h6a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2z',
    'M13 7V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h2',
  ],
  download: ['M10 3v9.5M6 8.8l4 4 4-4M3.5 16.5h13'],
  print: [
    'M6 7V3h8v4M6 14H4.5A1.5 1.5 0 0 1 3 12.5v-4A1.5 1.5 0 0 1 4.5 7h11A1.5 1.5 0 0 1 17 8.5v4a1.5 1.5 0 0 1-1.5 1.5H14',
    'M6 11.5h8V17H6z',
  ],
} as const satisfies Record<string, readonly string[]>;

export type IconName = keyof typeof icons;

export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {icons[name].map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  );
}

/** The icon at the head of a page. */
export function Tile(props: {
  readonly icon: IconName;
  readonly tone: 'on' | 'info' | 'quiet' | 'warn' | 'danger';
}): ReactNode {
  return (
    <span className={`so-tile so-tile--${props.tone}`}>
      <Icon name={props.icon} size={24} />
    </span>
  );
}

/**
 * Renders a text whose placeholders (`{login}`) are elements, in the order of the translation.
 * @param plain renders the text between them
 */
export function withParts(
  text: string,
  parts: Readonly<Record<string, ReactNode>>,
  plain: (text: string) => ReactNode = (text) => text,
): ReactNode {
  // Every second piece is the name of a placeholder.
  const pieces = text.split(/\{(\w+)\}/);
  return pieces.map((piece, at) => {
    const part = at % 2 === 1 ? (parts[piece] ?? `{${piece}}`) : piece === '' ? null : plain(piece);
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change places
    return <Fragment key={at}>{part}</Fragment>;
  });
}
