import type { Language } from '../i18n/language.js';
import { Icon, Tile } from '../pages/visitor-page.js';
import {
  AccountFooter,
  FieldError,
  type FormFacts,
  FormFields,
  type FrameFacts,
  renderFrame,
  type SignedInAccount,
} from './page-frame.js';

/**
 * Length of the field for a code: enough for the line of a mail that contains it. The server extracts the code from the
 * text, in the digits of any script, so the field has no pattern. A form with this many characters of any kind is
 * within the limit that the server reads.
 */
const LONGEST_TEXT = 300;

/** The page that asks for a code of the app, or for a back-up code. */
export function challengePage(
  facts: FrameFacts & {
    readonly form: FormFacts;
    readonly method: 'app' | 'backup';
    readonly login: string;
    /** Another account that the browser is signed in to. */
    readonly signedIn: SignedInAccount | null;
    /** Address of the same page with the other method. */
    readonly otherMethodUrl: string;
    /** Address of the login. */
    readonly cancelUrl: string;
    readonly error?: string | undefined;
    /** Whether "don't ask again" was ticked in the submitted form. */
    readonly trust: boolean;
  },
): string {
  const { form, method, error, host, language } = facts;
  const { translate } = language;
  const app = method === 'app';
  return renderFrame(facts, {
    title: translate('Confirm it’s you'),
    foot: (
      <AccountFooter
        language={language}
        purpose="login"
        login={facts.login}
        signedIn={facts.signedIn}
        cancelUrl={facts.cancelUrl}
      />
    ),
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
              maxLength={LONGEST_TEXT}
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
          <a className="so-link" href={facts.otherMethodUrl}>
            {app ? translate('Use a back-up code') : translate('Use the authenticator app')}
          </a>
        </p>
      </>
    ),
  });
}

/** The page that shows the back-up codes, once. "Continue" needs the checkbox; the server checks it again. */
export function codesPage(
  facts: FrameFacts & { readonly form: FormFacts; readonly login: string; readonly codes: readonly string[] },
): string {
  const { form, codes, login, host, language } = facts;
  const { translate } = language;
  const heading = translate('Back-up codes for {login} at {host}', { login, host });
  const text = [heading, '', ...codes, ''].join('\r\n');
  return renderFrame(facts, {
    title: translate('Save your back-up codes'),
    foot: translate('Don’t keep them on the phone that makes your codes.'),
    content: (
      <>
        <Tile icon="check" tone="on" />
        <h1>{translate('Save your back-up codes')}</h1>
        <p>{translate('The code was right. If you lose your phone, each of these codes lets you in once.')}</p>
        <ul className="so-codes">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className="so-acts">
          <button type="button" className="so-btn" data-copy={text} hidden>
            <Icon name="copy" />
            <span>{translate('Copy')}</span>
          </button>
          <a
            className="so-btn"
            download={`${translate('back-up-codes')}-${host}.txt`}
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          >
            <Icon name="download" />
            {translate('Download')}
          </a>
          <button type="button" className="so-btn" data-print="" hidden>
            <Icon name="print" />
            {translate('Print')}
          </button>
        </div>
        <SavedForm language={language} form={form} error={undefined} />
      </>
    ),
  });
}

/**
 * The page for a user who returns to the codes, or submits without the checkbox: the old codes can't be shown again.
 */
export function codesAgainPage(
  facts: FrameFacts & { readonly form: FormFacts; readonly missingTick: boolean },
): string {
  const { form, language } = facts;
  const { translate } = language;
  return renderFrame(facts, {
    title: translate('Save your back-up codes'),
    foot: translate('Don’t keep them on the phone that makes your codes.'),
    content: (
      <>
        <Tile icon="clock" tone="warn" />
        <h1>{translate('Did you save your back-up codes?')}</h1>
        <p>
          {translate(
            'They were shown once and can’t be shown again. If you don’t have them, get new ones; the old ones then stop working.',
          )}
        </p>
        <form method="post" action={form.action}>
          <FormFields form={form} step="renew" />
          <button type="submit" className="so-btn so-btn--wide">
            {translate('Get new codes')}
          </button>
        </form>
        <SavedForm
          language={language}
          form={form}
          error={facts.missingTick ? translate('Tick this to go on.') : undefined}
        />
      </>
    ),
  });
}

function SavedForm(props: {
  readonly language: Language;
  readonly form: FormFacts;
  readonly error: string | undefined;
}) {
  const { form, error } = props;
  const { translate } = props.language;
  return (
    <form method="post" action={form.action}>
      <FormFields form={form} step="continue" />
      <label className="so-check">
        <input
          type="checkbox"
          name="saved"
          value="1"
          required
          // biome-ignore lint/a11y/noAutofocus: only after a refused submission, for what was missing
          autoFocus={error !== undefined}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? 'saved-error' : undefined}
        />
        <span>{translate('I have saved the codes somewhere safe')}</span>
      </label>
      {error ? <FieldError id="saved-error" text={error} /> : null}
      <button type="submit" className="so-btn so-btn--primary so-btn--wide">
        {translate('Continue')}
      </button>
    </form>
  );
}

/** The page on which a user sets up an authenticator app: QR code, key as text and first code in one step. */
export function enrolPage(
  facts: FrameFacts & {
    readonly form: FormFacts;
    readonly purpose: 'login' | 'setup';
    readonly login: string;
    readonly cancelUrl: string;
    /** Path of the QR code, and its width and height in modules. */
    readonly qr: { readonly size: number; readonly path: string };
    /** The key in base 32. */
    readonly secret: string;
    readonly error?: string | undefined;
  },
): string {
  const { form, qr, secret, error, language } = facts;
  const { translate } = language;
  return renderFrame(facts, {
    title: translate('Set up two-factor authentication'),
    wide: true,
    foot: <AccountFooter language={language} purpose={facts.purpose} login={facts.login} cancelUrl={facts.cancelUrl} />,
    content: (
      <>
        <h1>{translate('Set up two-factor authentication')}</h1>
        <p>
          {translate(
            'This site asks administrators and editors for a code from their phone. It takes about two minutes, once.',
          )}
        </p>
        <div className="so-enrol">
          <div className="so-enrol__qr">
            <svg
              viewBox={`0 0 ${qr.size} ${qr.size}`}
              width="232"
              height="232"
              shapeRendering="crispEdges"
              role="img"
              aria-label={translate('QR code with the key for your authenticator app')}
            >
              <path fill="#14212a" d={qr.path} />
            </svg>
          </div>
          <div className="so-enrol__do">
            <ol className="so-todo">
              <li>
                <i aria-hidden="true">1</i>
                <b>{translate('Get an authenticator app')}</b>
                <p>{translate('Any app that shows 6-digit codes will do.')}</p>
              </li>
              <li>
                <i aria-hidden="true">2</i>
                <b>{translate('Scan the QR code')}</b>
                <p>{translate('Can’t scan it? Type this key into the app.')}</p>
                <div className="so-secret">
                  <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
                  <button
                    type="button"
                    className="so-iconbtn"
                    aria-label={translate('Copy the key')}
                    data-copy={secret}
                    hidden
                  >
                    <Icon name="copy" />
                  </button>
                </div>
              </li>
              <li>
                <i aria-hidden="true">3</i>
                <b>{translate('Enter the code from the app')}</b>
                <form className="so-enrol__form" method="post" action={form.action}>
                  <FormFields form={form} step="enrol" />
                  <div className={error ? 'so-field has-error' : 'so-field'}>
                    <label className="so-vh" htmlFor="code">
                      {translate('Code')}
                    </label>
                    <input
                      className="so-input so-code"
                      id="code"
                      name="code"
                      type="text"
                      inputMode="numeric"
                      maxLength={LONGEST_TEXT}
                      data-digits={6}
                      autoComplete="one-time-code"
                      placeholder="000000"
                      required
                      // biome-ignore lint/a11y/noAutofocus: after a wrong code the page asks for this one thing
                      autoFocus={error !== undefined}
                      aria-invalid={error ? true : undefined}
                      aria-describedby={error ? 'code-error' : undefined}
                    />
                    {error ? <FieldError id="code-error" text={error} /> : null}
                  </div>
                  <button type="submit" className="so-btn so-btn--primary">
                    {translate('Turn on')}
                  </button>
                </form>
              </li>
            </ol>
          </div>
        </div>
      </>
    ),
  });
}
