import { Tile } from '../icon.js';
import { FieldError, type FormFacts, FormFields, type FrameFacts, renderFrame, WhoFoot } from './frame.js';

/** The page that asks for a code: of the app, or one of the back-up codes. */
export function challengePage(
  facts: FrameFacts & {
    readonly form: FormFacts;
    readonly method: 'app' | 'backup';
    readonly login: string;
    /** Address of the same page with the other method. */
    readonly otherMethod: string;
    /** Address of the log-in. */
    readonly leave: string;
    readonly error?: string | undefined;
    /** Whether "don't ask again" was ticked in the form that came back. */
    readonly trust: boolean;
  },
): string {
  const { form, method, error, host, language } = facts;
  const { translate } = language;
  const app = method === 'app';
  return renderFrame(facts, {
    title: translate('Confirm it’s you'),
    foot: <WhoFoot language={language} purpose="login" login={facts.login} leave={facts.leave} />,
    content: (
      <>
        <Tile icon="phone" tone="on" />
        <h1>{translate('Confirm it’s you')}</h1>
        <p>
          {app
            ? translate('Open your authenticator app and enter the 6-digit code for {host}.', { host })
            : translate('Enter one of the back-up codes that you saved. Each of them works once.')}
        </p>
        <form method="post" action={form.action}>
          <FormFields form={form} step={app ? 'code' : 'backup'} />
          <div className={error ? 'so-field has-error' : 'so-field'}>
            <label className="so-label" htmlFor="code">
              {app ? translate('Code') : translate('Back-up code')}
            </label>
            <input
              className={app ? 'so-input so-code' : 'so-input so-code so-code--long'}
              id="code"
              name="code"
              type="text"
              inputMode="numeric"
              pattern="[0-9 ]*"
              maxLength={app ? 7 : 9}
              data-digits={app ? 6 : 8}
              autoComplete={app ? 'one-time-code' : 'off'}
              required
              // biome-ignore lint/a11y/noAutofocus: the page asks for this one thing and nothing else
              autoFocus
              aria-invalid={error ? true : undefined}
              aria-describedby={error ? 'code-error' : undefined}
            />
            {error ? <FieldError id="code-error" text={error} /> : null}
          </div>
          <label className="so-check">
            <input type="checkbox" name="trust" value="1" defaultChecked={facts.trust} />
            <span>{translate('Don’t ask again on this device for 30 days')}</span>
          </label>
          <button type="submit" className="so-btn so-btn--primary so-btn--wide">
            {translate('Log in')}
          </button>
        </form>
        <p className="so-front__left">
          <a className="so-link" href={facts.otherMethod}>
            {app ? translate('Use a back-up code') : translate('Use the authenticator app')}
          </a>
        </p>
      </>
    ),
  });
}
