import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../texts/language.js';
import { rootAttributes } from '../visitor-page.js';
import { withParts } from '../with-parts.js';
import { secondFactorScript } from './second-factor-script.js';
import { secondFactorRightToLeftStyles, secondFactorStyles } from './second-factor-styles.js';

/** What every page of the second factor is given. */
export interface FrameFacts {
  /** Host without port. */
  readonly host: string;
  readonly language: Language;
  /** Allows exactly this page's own style and script (Content-Security-Policy). */
  readonly nonce: string;
}

/** The form's way home: where it is sent and the token that proves where it came from. */
export interface FormFacts {
  readonly action: string;
  readonly token: string;
}

/** Renders one page; its words are translated already. React escapes every value that comes from outside. */
export function renderFrame(
  facts: FrameFacts,
  page: {
    readonly title: string;
    readonly wide?: boolean;
    readonly bodyClass?: string;
    readonly foot?: ReactNode;
    readonly content: ReactNode;
  },
): string {
  const { host, language, nonce } = facts;
  const styles = secondFactorStyles + (language.direction === 'rtl' ? secondFactorRightToLeftStyles : '');
  return `<!DOCTYPE html>${renderToStaticMarkup(
    <html {...rootAttributes(language)}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{page.title}</title>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; React would escape its quotes */}
        <style nonce={nonce} dangerouslySetInnerHTML={{ __html: styles }} />
      </head>
      <body className={page.bodyClass}>
        <div className="so so-front">
          <header className="so-front__site">
            <i aria-hidden="true">{host.slice(0, 1).toUpperCase()}</i>
            {host}
          </header>
          <main className={page.wide ? 'so-front__card so-front__card--l' : 'so-front__card'}>{page.content}</main>
          {page.foot ? <footer className="so-front__foot">{page.foot}</footer> : null}
          <p className="so-vh" role="status" id="said" data-copied={language.translate('Copied')} />
        </div>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; React would escape its quotes */}
        <script nonce={nonce} dangerouslySetInnerHTML={{ __html: secondFactorScript }} />
      </body>
    </html>,
  )}`;
}

/** Paths of the design's icons, 20 x 20. */
export const icons = {
  phone: ['M7.5 2h5a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-5a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2z', 'M9 15.2h2'],
  check: ['M4.5 10.5l3.7 3.7 7.3-7.9'],
  error: ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M10 6.2v4.5M10 13.6h.01'],
  clock: ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M10 5.8V10l2.8 1.8'],
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

export function Icon({ name, size = 20 }: { readonly name: keyof typeof icons; readonly size?: number }): ReactNode {
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

export function Tile({
  icon,
  tone,
}: {
  readonly icon: keyof typeof icons;
  readonly tone: 'on' | 'warn' | 'danger';
}): ReactNode {
  return (
    <span className={`so-tile so-tile--${tone}`}>
      <Icon name={icon} size={24} />
    </span>
  );
}

export function FieldError({ id, text }: { readonly id: string; readonly text: string }): ReactNode {
  return (
    <p className="so-error" id={id} role="alert">
      <Icon name="error" />
      <span>{text}</span>
    </p>
  );
}

/** The two fields that every form carries. */
export function FormFields({ form, step }: { readonly form: FormFacts; readonly step: string }): ReactNode {
  return (
    <>
      <input type="hidden" name="token" value={form.token} />
      <input type="hidden" name="step" value={step} />
    </>
  );
}

/** Who is logging in, and the way out for somebody else. */
export function WhoFoot(props: {
  readonly language: Language;
  readonly purpose: 'login' | 'setup';
  readonly login: string;
  readonly leave: string;
}): ReactNode {
  const { translate } = props.language;
  const forLogin = props.purpose === 'login';
  return (
    <>
      {withParts(forLogin ? translate('Logging in as {login}.') : translate('Setting up for {login}.'), {
        login: <strong>{props.login}</strong>,
      })}{' '}
      <a className="so-link" href={props.leave}>
        {forLogin ? translate('Not you?') : translate('Not now')}
      </a>
    </>
  );
}
