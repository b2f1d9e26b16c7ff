import type { LoginOptions } from '@security-optimizer/contract/login';
import { AffixInput } from '../../../forms/affix-input.js';
import { Field } from '../../../forms/field.js';
import type { Messages } from '../../../forms/use-form-errors.js';
import { __, sprintf } from '../../../i18n/translate.js';
import type { LoginUrlForm } from '../../login-settings/login-url-form.js';

const PLAIN = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const;

export interface UrlFieldsProps {
  readonly url: LoginUrlForm;
  readonly home: string;
  readonly errors: Messages;
  readonly onChange: (field: 'login' | 'signup', value: string) => void;
}

/** The address of the login, and that of the sign-up where visitors may sign up. */
export function UrlFields({ url, home, errors, onChange }: UrlFieldsProps) {
  const field = (name: 'login' | 'signup', label: string) => (
    <Field label={label} error={errors[name]}>
      {(control) => (
        <AffixInput
          {...control}
          {...PLAIN}
          affix={home}
          dir="ltr"
          value={url[name] ?? ''}
          onChange={(event) => onChange(name, event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <>
      {field('login', __('Login URL', 'security-optimizer'))}
      {url.signup === null ? null : field('signup', __('Signup URL', 'security-optimizer'))}
    </>
  );
}

export interface NameFieldsProps {
  readonly users: LoginOptions['usernames_data']['admin_matches'];
  readonly names: Readonly<Record<string, string>>;
  readonly errors: Messages;
  readonly onChange: (user: string, value: string) => void;
}

/** A new name for each administrator with a common one. */
export function NameFields({ users, names, errors, onChange }: NameFieldsProps) {
  return (
    <>
      {users.map(({ ID, user_login }) => (
        <Field
          key={ID}
          /* translators: %s: the present username */
          label={sprintf(__('New username for %s', 'security-optimizer'), user_login)}
          error={errors[ID]}
        >
          {(control) => (
            <input
              {...control}
              {...PLAIN}
              className="so-input"
              type="text"
              value={names[ID] ?? ''}
              onChange={(event) => onChange(String(ID), event.target.value)}
            />
          )}
        </Field>
      ))}
    </>
  );
}
