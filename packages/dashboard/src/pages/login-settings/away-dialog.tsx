import type { AwayState } from '@security-optimizer/contract/login';
import { useRef, useState } from 'react';
import { Button } from '../../components/button.js';
import { Note } from '../../components/note.js';
import { siteNow } from '../../dates/site-now.js';
import { useDateTexts } from '../../dates/use-date-texts.js';
import { useClosing } from '../../dialogs/use-closing.js';
import { focusFirstError } from '../../forms/focus-first-error.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { Segmented } from '../../forms/segmented.js';
import { useFormErrors } from '../../forms/use-form-errors.js';
import { useSave } from '../../forms/use-save.js';
import { __ } from '../../i18n/translate.js';
import { readLoginOptions } from '../../options/read-login-options.js';
import { useServices } from '../../services.js';
import { AwayDaily } from './away-daily.js';
import { type AwayForm, type AwayType, awayErrors, awayFormOf, scheduleOf, startsRightAway } from './away-form.js';
import { AwayPeriod } from './away-period.js';
import { AwayWeekly } from './away-weekly.js';
import { weekdayOf } from './away-words.js';
import type { LoginDialogProps } from './login-dialogs.js';

export interface AwayFieldsProps {
  readonly form: AwayForm;
  readonly errors: Readonly<Record<string, string>>;
  readonly now: { readonly day: string; readonly minutes: number };
  readonly startsNow: boolean;
  readonly onChange: (form: AwayForm, field: string) => void;
}

/** Configure Away Mode: for some dates, on some weekdays, or at some hours of each day. */
export default function AwayDialog({ options, store, readAgain, onClosed }: LoginDialogProps) {
  const state = options.away_mode as AwayState;
  const { config } = useServices();
  const [first] = useState(() => awayFormOf(state.schedule));
  const [form, setForm] = useState(first);
  const [now] = useState(() => siteNow(state.timezone, Date.now()));
  const body = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(awayErrors(form, now.day), () => focusFirstError(body.current));
  const saving = useSave();
  const closing = useClosing(onClosed);
  const texts = useDateTexts();
  const isOn = state.schedule.type !== 'off';

  function send(schedule: object): void {
    saving.save<unknown>({
      name: 'update:away_mode',
      call: { suffix: '/away-mode', body: schedule },
      onSuccess: (data) => {
        store(readLoginOptions(data));
        closing.close();
      },
      onFailure: (reason) => errors.showServerErrors(reason.fields),
      onUnclear: readAgain,
    });
  }

  function submit(): void {
    if (!errors.check()) return;
    send(scheduleOf(form));
  }

  const fields: AwayFieldsProps = {
    form,
    errors: errors.shown,
    now,
    startsNow: startsRightAway(form, weekdayOf(now.day), now),
    onChange: (changed, field) => {
      setForm(changed);
      errors.touch(field);
    },
  };
  return (
    <FormDialog
      title={__('Configure Away Mode', 'security-optimizer')}
      size="large"
      closing={closing}
      saving={saving}
      dirty={JSON.stringify(form) !== JSON.stringify(first)}
      onSubmit={submit}
      submitText={isOn ? __('Save', 'security-optimizer') : __('Turn on Away Mode', 'security-optimizer')}
      submitDisabled={state.away === 1}
      otherAction={
        isOn ? (
          <Button disabled={saving.pending || state.away === 1} onClick={() => send({ type: 'off' })}>
            {__('Turn off', 'security-optimizer')}
          </Button>
        ) : null
      }
    >
      <Segmented<AwayType>
        label={__('Type', 'security-optimizer')}
        value={form.type}
        options={[
          { value: 'period', text: __('Specific Period', 'security-optimizer') },
          { value: 'weekly', text: __('Weekly', 'security-optimizer') },
          { value: 'daily', text: __('Daily', 'security-optimizer') },
        ]}
        onChange={(type) => setForm({ ...form, type })}
      />
      <Note kind="warn">
        <p>
          <strong>{__('Nobody can log in while Away Mode is on, not even you.', 'security-optimizer')}</strong>{' '}
          {__('It can’t be turned off early.', 'security-optimizer')}
        </p>
      </Note>
      <div ref={body}>
        {form.type === 'period' ? <AwayPeriod {...fields} texts={texts} locale={config.localeSlug} /> : null}
        {form.type === 'weekly' ? <AwayWeekly {...fields} texts={texts} /> : null}
        {form.type === 'daily' ? <AwayDaily {...fields} texts={texts} /> : null}
      </div>
    </FormDialog>
  );
}
