import { FieldError, type FormFacts, FormFields, type FrameFacts, Icon, renderFrame, Tile } from './frame.js';

/** The page that shows the back-up codes, once. "Continue" needs the tick; the server checks it again. */
export function codesPage(
  facts: FrameFacts & { readonly form: FormFacts; readonly login: string; readonly codes: readonly string[] },
): string {
  const { form, codes } = facts;
  const text = [`Back-up codes for ${facts.login} at ${facts.host}`, '', ...codes, ''].join('\r\n');
  return renderFrame(facts, {
    title: 'Save your back-up codes',
    foot: 'Don’t keep them on the phone that makes your codes.',
    content: (
      <>
        <Tile icon="check" tone="on" />
        <h1>Save your back-up codes</h1>
        <p>The code was right. If you lose your phone, each of these codes lets you in once.</p>
        <ul className="so-codes">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className="so-acts">
          <button type="button" className="so-btn" data-copy={text} hidden>
            <Icon name="copy" />
            <span>Copy</span>
          </button>
          <a
            className="so-btn"
            download={`back-up-codes-${facts.host}.txt`}
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          >
            <Icon name="download" />
            Download
          </a>
          <button type="button" className="so-btn" data-print="" hidden>
            <Icon name="print" />
            Print
          </button>
        </div>
        <SavedForm form={form} error={undefined} />
      </>
    ),
  });
}

/** For a visitor who comes back to the codes, or went on without the tick: the old codes can't be shown again. */
export function codesAgainPage(
  facts: FrameFacts & { readonly form: FormFacts; readonly missingTick: boolean },
): string {
  const { form } = facts;
  return renderFrame(facts, {
    title: 'Save your back-up codes',
    foot: 'Don’t keep them on the phone that makes your codes.',
    content: (
      <>
        <Tile icon="clock" tone="warn" />
        <h1>Did you save your back-up codes?</h1>
        <p>
          They were shown once and can’t be shown again. If you don’t have them, get new ones; the old ones then stop
          working.
        </p>
        <form method="post" action={form.action}>
          <FormFields form={form} step="renew" />
          <button type="submit" className="so-btn so-btn--wide">
            Get new codes
          </button>
        </form>
        <SavedForm form={form} error={facts.missingTick ? 'Tick this to go on.' : undefined} />
      </>
    ),
  });
}

function SavedForm({ form, error }: { readonly form: FormFacts; readonly error: string | undefined }) {
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
        <span>I have saved the codes somewhere safe</span>
      </label>
      {error ? <FieldError id="saved-error" text={error} /> : null}
      <button type="submit" className="so-btn so-btn--primary so-btn--wide">
        Continue
      </button>
    </form>
  );
}
