import { customLoginUrl } from '@security-optimizer/contract/login/endpoints';
import { useId, useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { useSite } from '../../api/site-context.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __ } from '../../i18n/translate.js';
import { useDialogClose } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';
import { AffixInput, Field } from '../../ui/field.js';
import { Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';
import { isCustomLoginUrl } from '../settings/essentials.js';
import { loginSettings } from '../settings/settings-query.js';
import { useKnownSettings, useSettingsCache } from '../settings/use-settings.js';
import { getLoginUrlErrors, type LoginUrlForm, suggestLoginPath, toLoginPath, toLoginUrlForm } from './login-forms.js';

/** Configure Login URL: default or custom URLs for login and signup. */
export default function LoginUrlDialog({ onClosed }: DialogProps) {
  const settings = useKnownSettings(loginSettings);
  const { store, refetch } = useSettingsCache(loginSettings);
  const { config } = useSite();
  const home = config.homeUrl.replace(/\/*$/, '/');
  const [entries] = useState(settings.login_url ?? []);
  const [first] = useState(() => toLoginUrlForm(isCustomLoginUrl(settings) ? 'custom' : 'default', entries));
  const [form, setForm] = useState(first);
  const body = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(getLoginUrlErrors(form, home), () => focusFirstError(body.current));
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const isCustom = form.type === 'custom';
  const name = useId();

  function submit(): void {
    if (!errors.check()) return;
    const login = isCustom ? toLoginPath(form.login, home) : form.login;
    const signup = isCustom && form.signup !== null ? toLoginPath(form.signup, home) : form.signup;
    saving.save<unknown>({
      call: toCall(customLoginUrl, { type: form.type, login, signup }),
      onSuccess: (data) => {
        const { login_url } = loginSettings.read(data);
        if (login_url === undefined) void refetch();
        else store({ login_url });
        closing.close();
      },
      onFailure: (reason) => errors.showServerErrors(reason.fields),
      onUnclear: refetch,
    });
  }

  function choose(type: LoginUrlForm['type']): void {
    setForm(toLoginUrlForm(type, entries));
    errors.showServerErrors({});
  }

  function change(field: 'login' | 'signup', value: string): void {
    setForm({ ...form, [field]: value });
    errors.touch(field);
  }

  const choices = [
    {
      type: 'default' as const,
      title: __('Default', 'security-optimizer'),
      text: toLoginUrlForm('default', entries).login.replace(/^https?:\/\//, ''),
    },
    {
      type: 'custom' as const,
      title: __('Custom', 'security-optimizer'),
      text: __('An address only your team knows', 'security-optimizer'),
    },
  ];
  const input = (field: 'login' | 'signup', label: string) => (
    <Field
      label={label}
      error={errors.shown[field]}
      help={
        isCustom && field === 'login'
          ? __('Letters, digits, hyphens and underscores, 3 to 64 characters.', 'security-optimizer')
          : undefined
      }
    >
      {(control) =>
        isCustom ? (
          <AffixInput
            {...control}
            affix={home}
            dir="ltr"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={form[field] ?? ''}
            onChange={(event) => change(field, event.target.value)}
          />
        ) : (
          <input
            {...control}
            className="so-input"
            type="text"
            dir="ltr"
            readOnly
            title={form[field] ?? ''}
            value={form[field] ?? ''}
          />
        )
      }
    </Field>
  );

  return (
    <FormDialog
      title={__('Configure Login URL', 'security-optimizer')}
      size="large"
      closing={closing}
      saving={saving}
      dirty={JSON.stringify(form) !== JSON.stringify(first)}
      onSubmit={submit}
    >
      <p>
        {__('Tell your team the new address before you save. The old one stops working at once.', 'security-optimizer')}
      </p>
      <div className="so-choices" role="radiogroup" aria-label={__('Type', 'security-optimizer')}>
        {choices.map(({ type, title, text }) => (
          <label key={type} className={classes('so-check so-choice', form.type === type && 'is-on')}>
            <input type="radio" name={name} checked={form.type === type} onChange={() => choose(type)} />
            <span>
              <b>{title}</b>
              <small dir={type === 'default' ? 'ltr' : undefined}>{text}</small>
            </span>
          </label>
        ))}
      </div>
      {isCustom && form.signup !== null ? (
        <Note kind="warn">
          <p>
            <strong>{__('Change the signup URL as well.', 'security-optimizer')}</strong>{' '}
            {__(
              'The sign-up page links to your login page and would give the new address away. Update any link to it on your site and in your e-mails.',
              'security-optimizer',
            )}
          </p>
        </Note>
      ) : null}
      <div ref={body}>
        {input('login', __('Login URL', 'security-optimizer'))}
        {isCustom ? (
          <p className="so-after-field">
            <button type="button" className="so-link" onClick={() => change('login', suggestLoginPath())}>
              {__('Suggest a random address', 'security-optimizer')}
            </button>
          </p>
        ) : null}
        {form.signup === null ? null : input('signup', __('Signup URL', 'security-optimizer'))}
      </div>
    </FormDialog>
  );
}
