import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../texts/language.js';
import { type IconName, Tile } from './icon.js';
import { contentStyles, rightToLeftStyles, visitorStyles } from './visitor-styles.js';

/**
 * What a visitor is told. Plain words; never the reason, never the product's name or version. The words are English
 * and are translated when the page is rendered; `{host}` names the site.
 */
export interface VisitorPage {
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly tone: 'danger' | 'warn' | 'quiet' | 'info';
  readonly icon: IconName;
  /** Whether the card shows address, time and reference. */
  readonly details: boolean;
  /** What else stands in the card, translated. */
  readonly content?: ReactNode;
  readonly foot: string;
}

/** Stand in the rendered page for what differs from visitor to visitor. */
export const PLACES = {
  host: '%%HOST%%',
  initial: '%%INITIAL%%',
  address: '%%ADDRESS%%',
  time: '%%TIME%%',
  reference: '%%REFERENCE%%',
} as const;

/** Renders a page in a language; the places are filled in per visitor. */
export function renderVisitorPage(language: Language, page: VisitorPage): string {
  return `<!DOCTYPE html>${renderToStaticMarkup(<Document language={language} page={page} />)}`;
}

/** Root attributes of a page. English pages, sent the most, go without what is the default. */
export function rootAttributes({ tag, direction }: Language) {
  return { className: 'so-fronthtml', lang: tag, dir: direction === 'rtl' ? direction : undefined };
}

function Document({ language, page }: { readonly language: Language; readonly page: VisitorPage }): ReactNode {
  const { translate, direction } = language;
  const styles =
    visitorStyles + (page.content === undefined ? '' : contentStyles) + (direction === 'rtl' ? rightToLeftStyles : '');
  const host = PLACES.host;
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
            <i aria-hidden="true">{PLACES.initial}</i>
            {PLACES.host}
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
          {PLACES.address}
        </dd>
      </div>
      <div>
        <dt>{translate('Time')}</dt>
        <dd dir="ltr">{PLACES.time}</dd>
      </div>
      <div>
        <dt>{translate('Reference')}</dt>
        <dd className="so-mono" dir="ltr">
          {PLACES.reference}
        </dd>
      </div>
    </dl>
  );
}
