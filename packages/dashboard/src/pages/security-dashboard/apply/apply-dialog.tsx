import { useRef, useState } from 'react';
import { Button } from '../../../components/button.js';
import { Note } from '../../../components/note.js';
import { Dialog } from '../../../dialogs/dialog.js';
import { useClosing } from '../../../dialogs/use-closing.js';
import { focusFirstError } from '../../../forms/focus-first-error.js';
import { useFormErrors } from '../../../forms/use-form-errors.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import { openSteps, recommendedAttempts, type StepId } from '../../../protection/steps.js';
import { useServices } from '../../../services.js';
import { loginUrlErrors, loginUrlFormOf } from '../../login-settings/login-url-form.js';
import { renameErrors } from '../../login-settings/rename-errors.js';
import { isOfSite } from '../../login-settings/use-login-changes.js';
import type { HeroProps } from '../hero/hero.js';
import { type ApplyForm, callOf, inSafeOrder } from './apply-calls.js';
import { NameFields, UrlFields } from './apply-fields.js';
import { ApplyItem } from './apply-item.js';
import { useApply } from './use-apply.js';

export interface ApplyDialogProps extends Pick<HeroProps, 'security' | 'login'> {
  /** The dialog has played its closing animation and can be taken away. */
  readonly onClosed: () => void;
}

/** Apply all recommended: lists what would change and what it costs, and makes the ticked changes when told so. */
export default function ApplyDialog({ security, login, onClosed }: ApplyDialogProps) {
  const { config, navigate } = useServices();
  const home = config.homeUrl.replace(/\/*$/, '/');
  // The steps of the moment when the dialog opened: what is done stays in the list, with its result.
  const [steps] = useState(() => openSteps(security.options, login.options));
  const [users] = useState(() => login.options.usernames_data ?? { admin_matches: [], all_users: [] });
  const [first] = useState<ApplyForm>(() => ({
    url: loginUrlFormOf('custom', login.options.login_url ?? []),
    names: Object.fromEntries(users.admin_matches.map(({ ID }) => [ID, ''])),
  }));
  const [form, setForm] = useState(first);
  const [ticked, setTicked] = useState<readonly StepId[]>(() => steps.map(({ id }) => id));
  const body = useRef<HTMLUListElement>(null);
  const apply = useApply({ security, login });
  const closing = useClosing(onClosed);

  const wanted = inSafeOrder(ticked.filter((id) => apply.results[id]?.state !== 'done'));
  const takenNames = users.all_users.map(({ user_login }) => user_login);
  const errors = useFormErrors(
    {
      ...(wanted.includes('login_url') ? loginUrlErrors(form.url, home) : {}),
      ...(wanted.includes('disable_usernames')
        ? renameErrors(
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
  const canSetUp = !apply.running && apply.setUpUrl !== null && isOfSite(apply.setUpUrl, config.homeUrl);

  async function submit(): Promise<void> {
    if (apply.running) return;
    if (canSetUp && wanted.length === 0) return navigate(apply.setUpUrl ?? '');
    if (wanted.length === 0 || !errors.check()) return;
    const attempts = recommendedAttempts(login.options);
    const fields = await apply.start(wanted.map((id) => [id, callOf(id, form, attempts, home)] as const));
    errors.showServerErrors(fields);
  }

  function tick(id: StepId): void {
    setTicked(ticked.includes(id) ? ticked.filter((item) => item !== id) : [...ticked, id]);
  }

  const fieldsOf = (id: StepId) => {
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
      <p>{__('Here is what changes. Untick anything you want to leave as it is.', 'security-optimizer')}</p>
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
            {fieldsOf(step.id)}
          </ApplyItem>
        ))}
      </ul>
      <div role="status">
        {hasRun ? (
          <Note kind={failed > 0 ? 'warn' : 'ok'}>
            <p>
              {outcomeText(done, failed)}
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

function outcomeText(done: number, failed: number): string {
  const made = sprintf(
    /* translators: %d: number of changes */
    _n('%d change is made.', '%d changes are made.', done, 'security-optimizer'),
    done,
  );
  if (failed === 0) return made;
  const lost = sprintf(
    /* translators: %d: number of changes */
    _n(
      '%d change failed; the reason stands below it.',
      '%d changes failed; the reason stands below each.',
      failed,
      'security-optimizer',
    ),
    failed,
  );
  return done === 0 ? lost : `${made} ${lost}`;
}
