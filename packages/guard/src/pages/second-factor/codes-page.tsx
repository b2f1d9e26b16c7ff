import type { Language } from '../../texts/language.js';
import { Icon, Tile } from '../icon.js';
import { FieldError, type FormFacts, FormFields, type FrameFacts, renderFrame } from './frame.js';

/** The page that shows the back-up codes, once. "Continue" needs the tick; the server checks it again. */
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

/** For a visitor who comes back to the codes, or went on without the tick: the old codes can't be shown again. */
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
