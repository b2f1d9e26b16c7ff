import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../texts/language.js';
import { Icon } from '../icon.js';
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
