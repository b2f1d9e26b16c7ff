import { Icon } from '../icon.js';
import { FieldError, type FormFacts, FormFields, type FrameFacts, renderFrame, WhoFoot } from './frame.js';

/** The page on which a user sets up an authenticator app: QR code, key as text and first code in one step. */
export function enrolPage(
  facts: FrameFacts & {
    readonly form: FormFacts;
    readonly purpose: 'login' | 'setup';
    readonly login: string;
    readonly leave: string;
    /** Path of the QR code and how many units wide and high it is. */
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
    foot: <WhoFoot language={language} purpose={facts.purpose} login={facts.login} leave={facts.leave} />,
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
                      pattern="[0-9 ]*"
                      maxLength={7}
                      data-digits={6}
                      autoComplete="one-time-code"
                      placeholder="000000"
                      required
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
