import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { type ReactNode, useId, useRef, useState } from 'react';
import { useSite } from '../../api/site-context.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Dialog, useDialogClose } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';
import { AffixInput, Field, TextInput } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import { ErrorText, Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { SafeHtml } from '../../ui/safe-html.js';
import { focusFirstError, type Messages, useFormErrors } from '../../ui/use-form-errors.js';
import {
  getLoginUrlErrors,
  getRenameErrors,
  type LoginUrlForm,
  toLoginUrlForm,
} from '../login-settings/login-forms.js';
import { isSiteUrl } from '../login-settings/two-factor-setup.js';
import { isTwoFactorWaiting, setUpText } from '../settings/essentials.js';
import { type LoginSettings, loginSettings, securitySettings } from '../settings/settings-query.js';
import { useKnownSettings } from '../settings/use-settings.js';
import { type ApplyForm, inSafeOrder, type StepResult, toApiCall, useApply } from './apply-steps.js';
import { openSteps, recommendedAttempts, type Step, type StepId } from './steps.js';

/** Apply all recommended: lists the changes with their effects, and makes the ticked ones. */
export default function ApplyDialog({ onClosed }: DialogProps) {
  const security = useKnownSettings(securitySettings);
  const login = useKnownSettings(loginSettings);
  const { config, navigate } = useSite();
  const home = config.homeUrl.replace(/\/*$/, '/');
  // A snapshot: finished steps stay in the list with their result.
  const [steps] = useState(() => openSteps(security, login));
  const [users] = useState(() => login.usernames_data ?? { admin_matches: [], all_users: [] });
  const [first] = useState<ApplyForm>(() => ({
    url: toLoginUrlForm('custom', login.login_url ?? []),
    names: Object.fromEntries(users.admin_matches.map(({ ID }) => [ID, ''])),
  }));
  const [form, setForm] = useState(first);
  const [ticked, setTicked] = useState<readonly StepId[]>(() => steps.map(({ id }) => id));
  const body = useRef<HTMLUListElement>(null);
  const apply = useApply();
  const closing = useDialogClose(onClosed);

  const wanted = inSafeOrder(ticked.filter((id) => apply.results[id]?.state !== 'done'));
  const takenNames = users.all_users.map(({ user_login }) => user_login);
  const errors = useFormErrors(
    {
      ...(wanted.includes('login_url') ? getLoginUrlErrors(form.url, home) : {}),
      ...(wanted.includes('disable_usernames')
        ? getRenameErrors(
            users.admin_matches.map(({ ID }) => [String(ID), form.names[ID] ?? ''] as const),
            takenNames,
          )
        : {}),
    },
    () => focusFirstError(body.current),
  );
  const done = steps.filter(({ id }) => apply.results[id]?.state === 'done').length;
  const failed = steps.filter(({ id }) => apply.results[id]?.state === 'failed').length;
  const hasRun = !apply.running && done + failed > 0;
  const remaining = steps.filter(({ id }) => apply.results[id] === undefined).map(({ title }) => title);
  const canSetUp = !apply.running && apply.setUpUrl !== null && isSiteUrl(apply.setUpUrl, config.homeUrl);

  async function submit(): Promise<void> {
    if (apply.running) return;
    if (canSetUp && wanted.length === 0) return navigate(apply.setUpUrl ?? '');
    if (wanted.length === 0 || !errors.check()) return;
    const attempts = recommendedAttempts(login);
    const fields = await apply.start(wanted.map((id) => [id, toApiCall(id, form, attempts, home)] as const));
    errors.showServerErrors(fields);
  }

  function tick(id: StepId): void {
    setTicked(ticked.includes(id) ? ticked.filter((item) => item !== id) : [...ticked, id]);
  }

  const renderFields = (id: StepId) => {
    if (id === 'login_url') {
      return (
        <UrlFields
          url={form.url}
          home={home}
          errors={errors.shown}
          onChange={(field, value) => {
            setForm({ ...form, url: { ...form.url, [field]: value } });
            errors.touch(field);
          }}
        />
      );
    }
    if (id !== 'disable_usernames' || users.admin_matches.length === 0) return null;
    return (
      <NameFields
        users={users.admin_matches}
        names={form.names}
        errors={errors.shown}
        onChange={(user, value) => {
          setForm({ ...form, names: { ...form.names, [user]: value } });
          errors.touch(user);
        }}
      />
    );
  };

  return (
    <Dialog
      title={__('Apply all recommended', 'security-optimizer')}
      size="large"
      closing={closing}
      pending={apply.running}
      dirty={wanted.length > 0 && JSON.stringify(form) !== JSON.stringify(first)}
      onSubmit={() => void submit()}
      cancelText={hasRun ? __('Close', 'security-optimizer') : __('Cancel', 'security-optimizer')}
      footText={__('You can undo each one later.', 'security-optimizer')}
      footer={
        wanted.length === 0 && canSetUp ? (
          <Button kind="primary" submit>
            {__('Set up my second factor', 'security-optimizer')}
          </Button>
        ) : hasRun && wanted.length === 0 ? null : (
          <Button
            kind="primary"
            submit
            disabled={wanted.length === 0 && !apply.running}
            pendingText={apply.running ? __('Applying…', 'security-optimizer') : undefined}
          >
            {sprintf(
              /* translators: %d: number of changes */
              _n('Apply %d change', 'Apply %d changes', wanted.length, 'security-optimizer'),
              wanted.length,
            )}
          </Button>
        )
      }
    >
      {done < steps.length ? (
        <p>{__('Here is what changes. Untick anything you want to leave as it is.', 'security-optimizer')}</p>
      ) : null}
      <ul className="so-apply" ref={body}>
        {steps.map((step) => (
          <ApplyItem
            key={step.id}
            step={step}
            ticked={ticked.includes(step.id)}
            result={apply.results[step.id]}
            locked={apply.running}
            onTick={() => tick(step.id)}
          >
            {renderFields(step.id)}
          </ApplyItem>
        ))}
      </ul>
      <div role="status">
        {hasRun ? (
          <Note kind={failed > 0 ? 'warn' : 'ok'}>
            <p>
              {outcomeText(done, failed, remaining, login)}
              {canSetUp ? (
                <>
                  {' '}
                  <strong>
                    {__('Set up your own second factor now: you need it at your next login.', 'security-optimizer')}
                  </strong>
                </>
              ) : null}
            </p>
          </Note>
        ) : null}
      </div>
    </Dialog>
  );
}

/** @param remaining titles of the changes that were not ticked */
function outcomeText(done: number, failed: number, remaining: readonly string[], login: LoginSettings): string {
  const texts = [
    done > 0 &&
      sprintf(
        /* translators: %d: number of changes */
        _n('%d change is made.', '%d changes are made.', done, 'security-optimizer'),
        done,
      ),
    failed > 0 &&
      sprintf(
        /* translators: %d: number of changes */
        _n(
          '%d change failed; the reason stands below it.',
          '%d changes failed; the reason stands below each.',
          failed,
          'security-optimizer',
        ),
        failed,
      ),
    remaining.length > 0 &&
      /* translators: %s: names of options, separated by commas */
      sprintf(__('Left as it is: %s.', 'security-optimizer'), remaining.join(', ')),
    isTwoFactorWaiting(login) &&
      sprintf(
        /* translators: %s: name of an option, with the people who have set it up in parentheses */
        __('Still open: %s.', 'security-optimizer'),
        `${__('Two-factor Authentication', 'security-optimizer')} (${setUpText(login)})`,
      ),
  ];
  return texts.filter(Boolean).join(' ');
}

interface ApplyItemProps {
  readonly step: Step;
  readonly ticked: boolean;
  readonly result: StepResult | undefined;
  /** Changes are running. */
  readonly locked: boolean;
  readonly onTick: () => void;
  /** Input fields of the change. */
  readonly children: ReactNode;
}

/** A change with its checkbox and effect, and later its result. */
function ApplyItem({ step, ticked, result, locked, onTick, children }: ApplyItemProps) {
  const id = useId();
  const isDone = result?.state === 'done';
  const isRunning = result?.state === 'running';
  return (
    <li>
      <div className={classes('so-check', isDone && 'is-done')}>
        {isDone || isRunning ? (
          <span className="so-apply__state">
            {isDone ? <Icon name="check-circle" /> : <span className="so-spin" />}
          </span>
        ) : (
          <input
            type="checkbox"
            id={id}
            checked={ticked}
            disabled={locked}
            aria-describedby={`${id}-text`}
            onChange={onTick}
          />
        )}
        <span>
          <label htmlFor={id}>
            <b>{step.title}</b>
          </label>
          <small id={`${id}-text`}>{stateText(step, result)}</small>
        </span>
      </div>
      {ticked && !isDone && children ? (
        <fieldset className="so-apply__more" disabled={locked}>
          <legend className="so-vh">{step.title}</legend>
          {children}
        </fieldset>
      ) : null}
      {result?.state === 'failed' ? (
        <ErrorText className="so-apply__error">
          {__('Not done.', 'security-optimizer')} <SafeHtml text={result.text} />
        </ErrorText>
      ) : null}
    </li>
  );
}

function stateText({ effect }: Step, result: StepResult | undefined): ReactNode {
  switch (result?.state) {
    case 'done':
      return (
        <>
          {__('Done.', 'security-optimizer')} <SafeHtml text={result.text} />
        </>
      );
    case 'running':
      return __('Saving…', 'security-optimizer');
    default:
      return effect;
  }
}

interface UrlFieldsProps {
  readonly url: LoginUrlForm;
  readonly home: string;
  readonly errors: Messages;
  readonly onChange: (field: 'login' | 'signup', value: string) => void;
}

/** The login URL, and the signup URL if registration is enabled. */
function UrlFields({ url, home, errors, onChange }: UrlFieldsProps) {
  const field = (name: 'login' | 'signup', label: string) => (
    <Field label={label} error={errors[name]}>
      {(control) => (
        <AffixInput
          {...control}
          affix={home}
          dir="ltr"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
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

interface NameFieldsProps {
  readonly users: LoginOptions['usernames_data']['admin_matches'];
  readonly names: Readonly<Record<string, string>>;
  readonly errors: Messages;
  readonly onChange: (user: string, value: string) => void;
}

/** New usernames for administrators with a common one. */
function NameFields({ users, names, errors, onChange }: NameFieldsProps) {
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
            <TextInput {...control} value={names[ID] ?? ''} onText={(text) => onChange(String(ID), text)} />
          )}
        </Field>
      ))}
    </>
  );
}
