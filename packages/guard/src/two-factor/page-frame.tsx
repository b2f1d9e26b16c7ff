import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../i18n/language.js';
import { Icon, rootAttributes, withParts } from '../pages/visitor-page.js';
import { contentStyles, rightToLeftStyles, visitorStyles } from '../pages/visitor-styles.js';

/** The values that every page of the second factor needs. */
export interface FrameFacts {
  /** Host without port. */
  readonly host: string;
  readonly language: Language;
  /** Allows only this page's own style and script (Content-Security-Policy). */
  readonly nonce: string;
}

/** The target of a form, and the token that proves its origin. */
export interface FormFacts {
  readonly action: string;
  readonly token: string;
}

/** Renders a page from translated texts. React escapes every untrusted value. */
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
  const styles = twoFactorStyles + (language.direction === 'rtl' ? twoFactorRightToLeftStyles : '');
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
        <script nonce={nonce} dangerouslySetInnerHTML={{ __html: twoFactorScript }} />
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

/** The two hidden fields of every form. */
export function FormFields({ form, step }: { readonly form: FormFacts; readonly step: string }): ReactNode {
  return (
    <>
      <input type="hidden" name="token" value={form.token} />
      <input type="hidden" name="step" value={step} />
    </>
  );
}

/** The account that a browser is signed in to, and the address of a page on which to continue with it. */
export interface SignedInAccount {
  readonly login: string;
  readonly url: string;
}

/**
 * The name of the user who is logging in, and a link for another user: to the login, or to a page of the account that
 * the browser is signed in to.
 */
export function AccountFooter(props: {
  readonly language: Language;
  readonly purpose: 'login' | 'setup';
  readonly login: string;
  readonly signedIn?: SignedInAccount | null;
  readonly cancelUrl: string;
}): ReactNode {
  const { signedIn } = props;
  const { translate } = props.language;
  const forLogin = props.purpose === 'login';
  return (
    <>
      {withParts(forLogin ? translate('Logging in as {login}.') : translate('Setting up for {login}.'), {
        login: <strong>{props.login}</strong>,
      })}{' '}
      {signedIn ? (
        <a className="so-link" href={signedIn.url}>
          {translate('Stay logged in as {login}', { login: signedIn.login })}
        </a>
      ) : (
        <a className="so-link" href={props.cancelUrl}>
          {forLogin ? translate('Not you?') : translate('Not now')}
        </a>
      )}
    </>
  );
}

/**
 * The script of the pages, which also work without it. It copies and prints codes, and reduces pasted text to the code.
 * It changes only plain ASCII that contains one number of the right length; any other text is pasted unchanged, for the
 * server to parse. It also notifies the Customizer that its login is complete (`wp.customize.Messenger`); the dialog of
 * other screens inspects the page. It is written for the oldest browsers that WordPress's own login supports.
 */
const twoFactorScript = `
(function () {
  var doc = document;
  function each(selector, task) { Array.prototype.forEach.call(doc.querySelectorAll(selector), task); }
  function copyByHand(text, done) {
    var area = doc.createElement('textarea');
    area.value = text;
    area.setAttribute('readonly', '');
    area.className = 'so-vh';
    doc.body.appendChild(area);
    area.select();
    try { if (doc.execCommand('copy')) done(); } finally { doc.body.removeChild(area); }
  }
  function copy(text, done) {
    if (!navigator.clipboard) return copyByHand(text, done);
    navigator.clipboard.writeText(text).then(done, function () { copyByHand(text, done); });
  }
  each('[data-copy]', function (button) {
    var said = doc.getElementById('said');
    var copied = said.getAttribute('data-copied');
    var label = button.querySelector('span');
    var before = label && label.textContent;
    button.hidden = false;
    button.addEventListener('click', function () {
      copy(button.getAttribute('data-copy'), function () {
        said.textContent = copied;
        setTimeout(function () { said.textContent = ''; if (label) label.textContent = before; }, 2000);
        if (label) label.textContent = copied;
      });
    });
  });
  each('[data-print]', function (button) {
    button.hidden = false;
    button.addEventListener('click', function () { window.print(); });
  });
  each('[data-digits]', function (input) {
    input.addEventListener('paste', function (event) {
      var data = event.clipboardData;
      if (!data) return;
      var text = data.getData('text');
      var digits = text.replace(/[^0-9]/g, '');
      if (!/^[ -~\\s]*$/.test(text) || !/^[^0-9]*[0-9](?:[ -]?[0-9])*[^0-9]*$/.test(text)) return;
      if (digits.length !== Number(input.getAttribute('data-digits'))) return;
      event.preventDefault();
      input.value = digits;
    });
  });
  if (/\\binterim-login-success\\b/.test(doc.body.className) && window.parent !== window) {
    window.parent.postMessage('{"id":"login","channel":"login"}', location.protocol + '//' + location.host);
  }
})();
`;

const TICK = `url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='%23fff' stroke-width='2.4' stroke-linecap='round' stroke-linejoin='round'%3E%3Cpath d='M5.4 10.4l3 3 6.2-6.6'/%3E%3C/svg%3E")`;
const MONOSPACE =
  'ui-monospace,SFMono-Regular,Menlo,Consolas,"Roboto Mono","Liberation Mono","DejaVu Sans Mono",monospace';

/** Styles of the second factor's pages, in addition to those of every visitor page. */
const twoFactorStyles = `${visitorStyles}${contentStyles}
.so-front [hidden]{display:none}
.so-front ul,.so-front ol{margin:0;padding:0;list-style:none}
.so-tile--on{color:#0a6a56;background:#e6f3ee}
.so-front__card--l{max-width:760px}
.so-front__card>form{margin-top:24px}
.so-link{color:#0a6a56;font-weight:500;text-decoration:underline;text-decoration-color:#bcdcd2;text-underline-offset:2px;border-radius:2px}
.so-link:hover{color:#085545;text-decoration-color:currentColor}
.so-link:focus,.so-btn:focus,.so-iconbtn:focus,.so-check input:focus{outline:2px solid #1b66c9;outline-offset:2px}
.so-label{display:block;margin-bottom:6px;font-size:13px;font-weight:600}
.so-input{display:block;width:100%;height:44px;margin:0;padding:7px 12px;color:#14212a;background:#fff;border:1px solid #84929b;border-radius:8px;font:16px/20px inherit;-webkit-appearance:none;appearance:none}
.so-input:focus{border-color:#1b66c9;outline:2px solid #1b66c9;outline-offset:-2px}
.so-input::placeholder{color:#5f6d77;opacity:1}
.so-code{height:56px;padding-left:20px;font-family:${MONOSPACE};font-size:26px;line-height:32px;letter-spacing:.32em;text-align:center;font-variant-numeric:tabular-nums}
.so-code--long{letter-spacing:.16em}
.has-error .so-input{border-color:#b42318;box-shadow:inset 0 0 0 1px #b42318}
.so-front .so-error{display:flex;align-items:flex-start;margin-top:6px;color:#b42318;font-size:13px;line-height:16px;font-weight:500}
.so-error svg{flex:none;width:16px;height:16px;margin-right:6px}
.so-check{display:flex;align-items:flex-start}
.so-check input{flex:none;width:20px;height:20px;margin:0 12px 0 0;background:#fff;border:1.5px solid #84929b;border-radius:4px;-webkit-appearance:none;appearance:none;cursor:pointer}
.so-check input:checked{border-color:#0a6a56;background:#0a6a56 ${TICK} center/18px 18px no-repeat}
.so-field+.so-check,.so-check+.so-btn,.so-field+.so-btn,.so-check+.so-error{margin-top:20px}
.so-check+.so-error+.so-btn{margin-top:20px}
.so-btn{display:inline-flex;flex:none;align-items:center;justify-content:center;min-height:44px;padding:7px 14px;color:#14212a;background:#fff;border:1px solid #c3ccd1;border-radius:8px;box-shadow:0 1px 2px rgba(16,32,40,.05);font-family:inherit;font-size:14px;line-height:20px;font-weight:600;text-decoration:none;text-align:center;white-space:nowrap;cursor:pointer}
.so-btn:hover{background:#f6f8f8;border-color:#84929b}
.so-btn svg{width:18px;height:18px;margin:0 6px 0 -3px}
.so-btn--primary{color:#fff;background:#0a6a56;border-color:#0a6a56}
.so-btn--primary:hover{color:#fff;background:#085545;border-color:#085545}
.so-btn--wide{width:100%}
.so-front .so-front__btn{margin-top:28px}
.so-front .so-front__left{margin-top:24px;font-size:13px}
.so-iconbtn{display:inline-flex;flex:none;align-items:center;justify-content:center;width:32px;height:32px;padding:0;color:#4f5e68;background:transparent;border:1px solid transparent;border-radius:8px;cursor:pointer}
.so-iconbtn:hover{color:#14212a;background:#eceff0}
.so-enrol{display:flex;margin-top:28px}
.so-enrol__qr{flex:none;width:232px;margin-right:40px}
.so-enrol__qr svg{display:block;width:232px;height:232px;padding:20px;background:#fff;border:1px solid #dde3e6;border-radius:12px}
.so-enrol__do{flex:1 1 auto;min-width:0}
.so-todo>li{position:relative;padding-left:40px}
.so-todo>li+li{margin-top:20px}
.so-todo>li>i{position:absolute;top:-2px;left:0;display:flex;align-items:center;justify-content:center;width:24px;height:24px;color:#0a6a56;background:#e6f3ee;border-radius:50%;font-style:normal;font-size:13px;font-weight:600}
.so-todo b{font-weight:600}
.so-todo p{color:#4f5e68}
.so-front .so-todo .so-error{color:#b42318}
.so-secret{display:flex;align-items:center;justify-content:space-between;min-height:50px;margin-top:12px;padding:8px 8px 8px 12px;background:#f6f8f8;border:1px solid #dde3e6;border-radius:8px}
.so-secret code{font-family:${MONOSPACE};font-size:13px;letter-spacing:.04em;word-break:break-word}
.so-enrol__form{display:flex;margin-top:12px}
.so-enrol__form .so-field{flex:1 1 auto;min-width:0}
.so-enrol__form .so-field+.so-btn{min-width:104px;height:44px;margin:0 0 0 8px}
.so-enrol__form .so-code{height:44px;padding-left:12px;font-size:18px;letter-spacing:.24em}
.so-front .so-codes{display:flex;flex-wrap:wrap;margin-top:24px;padding:12px 20px;background:#f6f8f8;border:1px solid #dde3e6;border-radius:12px}
.so-codes li{flex:0 0 50%;padding:6px 0;font-family:${MONOSPACE};font-size:16px;line-height:24px;letter-spacing:.06em;text-align:center}
.so-acts{display:flex;flex-wrap:wrap;margin:4px 0 0 -8px}
.so-acts .so-btn{flex:1 1 auto;margin:8px 0 0 8px;padding-left:10px;padding-right:10px}
.so-vh{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip:rect(0 0 0 0);white-space:nowrap}
@media (max-width:800px){.so-front{padding:24px 12px}.so-front__card{padding:24px 20px}.so-front h1{font-size:20px}.so-check{min-height:44px;padding:12px 0}.so-field+.so-check,.so-check+.so-btn{margin-top:8px}.so-front__left .so-link,.so-front__foot .so-link{display:inline-block;margin:-12px 0;padding:12px 0}.so-enrol{display:block}.so-enrol__qr{margin:0 auto 24px}.so-iconbtn{width:44px;height:44px}}
@media print{.so-acts,.so-front__card form,.so-front__foot,.so-tile{display:none}.so-front{padding:0}.so-front__card{border:0;box-shadow:none}}
@media (forced-colors:active){.so-tile,.so-btn,.so-check input{border:1px solid}.so-check input{-webkit-appearance:auto;appearance:auto}}
`.replaceAll('\n', '');

/** Additional styles for right-to-left languages. Codes and keys stay left to right. */
const twoFactorRightToLeftStyles = `${rightToLeftStyles}
.so-error svg{margin-right:0;margin-left:6px}
.so-check input{margin:0 0 0 12px}
.so-btn svg{margin:0 -3px 0 6px}
.so-code,.so-codes,.so-secret code{direction:ltr}
.so-codes li{text-align:center}
.so-enrol__qr{margin-right:0;margin-left:40px}
.so-todo>li{padding-right:40px;padding-left:0}
.so-todo>li>i{right:0;left:auto}
.so-secret{padding:8px 12px 8px 8px}
.so-enrol__form .so-field+.so-btn{margin:0 8px 0 0}
.so-acts{margin:4px -8px 0 0}
.so-acts .so-btn{margin:8px 8px 0 0}
@media (max-width:800px){.so-enrol__qr{margin:0 auto 24px}}
`.replaceAll('\n', '');
