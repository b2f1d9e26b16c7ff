import { type LogView, toLogHref } from '@security-optimizer/contract/activity/log-address';
import { type SettingRow, securityRows } from '@security-optimizer/contract/settings/catalogue';
import { type RefObject, useEffect, useRef } from 'react';
import { useSite } from '../../api/site-context.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { addDays, dayStart, siteNow } from '../../i18n/days.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes, restoreFocus } from '../../ui/dom.js';
import { Icon, IconTile } from '../../ui/icon.js';
import { ErrorText } from '../../ui/inline-messages.js';
import { type DialogProps, useDialogs } from '../../ui/lazy.js';
import { Ring } from '../../ui/meter.js';
import { type LoginDialogName, useLoginDialogs } from '../login-settings/login-dialogs.js';
import { useTwoFactorChange } from '../login-settings/two-factor-setup.js';
import { useSetting } from '../settings/change-setting.js';
import {
  countLoginEssentials,
  countSecurityEssentials,
  ESSENTIALS_COUNT,
  type EssentialsCount,
  essentialsText,
  getVerdict,
  isTwoFactorWaiting,
} from '../settings/essentials.js';
import { loginSettings, type SettingsSource, securitySettings } from '../settings/settings-query.js';
import { notSavedText } from '../settings/settings-section.js';
import { type SettingsState, useKnownSettings, useSiteTimeZone } from '../settings/use-settings.js';
import { factsSource, useOverview } from './overview.js';
import { openSteps, recommendedAttempts, type Step, stepRows } from './steps.js';

const dialogs = { apply: () => import('./apply-dialog.js') };

/** The protection score with its verdict, and the next steps beside it. All settings must be known. */
export function ProtectionScore() {
  const security = useKnownSettings(securitySettings);
  const login = useKnownSettings(loginSettings);
  const heading = useRef<HTMLHeadingElement>(null);
  const all = useDialogs<'apply', DialogProps>(dialogs);
  const one = useLoginDialogs();
  const first = countSecurityEssentials(security);
  const second = countLoginEssentials(login);
  const count = { on: first.on + second.on, total: first.total + second.total };
  const steps = openSteps(security, login);
  const verdict = getVerdict(count);

  const ids = steps.map(({ id }) => id).join();
  const before = useRef(ids);
  useEffect(() => {
    // The clicked button disappears with its step.
    if (before.current !== ids) restoreFocus(() => heading.current);
    before.current = ids;
  }, [ids]);

  const opener = useRef<Element | null>(null);

  function openFrom(open: () => void): void {
    opener.current = document.activeElement;
    open();
  }

  /** The dialog returns the focus, too. Either may come first, so both choose the button while it is there. */
  function returnFocus(): void {
    const button = opener.current;
    restoreFocus(() => (button !== document.body && document.contains(button) ? button : heading.current));
  }

  return (
    <>
      <div className={classes('so-hero', verdict.state !== 'ok' && `is-${verdict.state}`)}>
        <div className="so-hero__score">
          <div className="so-hero__top">
            <Ring {...count} label={essentialsText(count)} state={verdict.state} />
            <div className="so-hero__verdict">
              {/* The verdict applies to ten essentials; for a server with fewer, only the count is shown. */}
              <h2>{count.total === ESSENTIALS_COUNT ? verdict.text : essentialsText(count)}</h2>
              <p>{openText(count, isTwoFactorWaiting(login))}</p>
            </div>
          </div>
          <HeroFacts />
        </div>
        <div className="so-hero__next">
          {steps.length === 0 ? (
            <NothingLeft heading={heading} {...count} />
          ) : (
            <NextSteps
              steps={steps}
              heading={heading}
              onApplyAll={() => openFrom(() => all.open('apply'))}
              onOpen={(name) => openFrom(() => one.open(name))}
            />
          )}
        </div>
      </div>
      {all.Current === null ? null : (
        <all.Current
          onClosed={() => {
            all.closed();
            returnFocus();
          }}
        />
      )}
      {/* Not inside the steps: after the last one it would be removed before it has closed. */}
      {one.Current === null ? null : (
        <one.Current
          onClosed={() => {
            one.closed();
            returnFocus();
          }}
        />
      )}
    </>
  );
}

function openText({ on, total }: EssentialsCount, waits: boolean): string {
  const off = total - on;
  if (off === 0) return __('Every essential is on.', 'security-optimizer');
  return sprintf(
    waits
      ? // Only two-factor can be on without being complete, so all others are off.
        /* translators: %d: number of essentials */
        _n('%d essential is not complete.', '%d essentials are off or not complete.', off, 'security-optimizer')
      : on < 4
        ? /* translators: %d: number of essentials */
          _n(
            '%d essential is off. Start with it.',
            '%d essentials are off. Start with these.',
            off,
            'security-optimizer',
          )
        : /* translators: %d: number of essentials */
          _n('%d essential is still off.', '%d essentials are still off.', off, 'security-optimizer'),
    off,
  );
}

function NothingLeft({
  heading,
  on,
  total,
}: EssentialsCount & { readonly heading: { current: HTMLHeadingElement | null } }) {
  const { config } = useSite();
  const waits = on < total;
  return (
    <div className="so-hero__done">
      <IconTile name={waits ? 'phone' : 'check'} state={waits ? 'warn' : 'on'} large />
      <h2 ref={heading} tabIndex={-1}>
        {waits
          ? __('Two-factor is not set up by all', 'security-optimizer')
          : __('Nothing left to do', 'security-optimizer')}
      </h2>
      <p>
        {waits
          ? __('It is on. Login Security names who is missing, and reminds them.', 'security-optimizer')
          : sprintf(
              /* translators: %d: number of essentials */
              __('All %d essentials are on. If that changes, you will see it here.', 'security-optimizer'),
              total,
            )}
      </p>
      {config.logPageUrl === '' ? null : (
        <a className="so-btn so-btn--iconend" href={config.logPageUrl}>
          {__('Open the activity log', 'security-optimizer')}
          <Icon name="arrow-right" size={16} />
        </a>
      )}
    </div>
  );
}

const MAX_STEPS = 3;
interface NextStepsProps {
  readonly steps: readonly Step[];
  readonly heading: RefObject<HTMLHeadingElement | null>;
  readonly onApplyAll: () => void;
  /** Opens a dialog of Login Settings. */
  readonly onOpen: (name: LoginDialogName) => void;
}

/** The most valuable essentials that are off, each with a button. */
function NextSteps({ steps, heading, onApplyAll, onOpen }: NextStepsProps) {
  const shown = steps.slice(0, MAX_STEPS);

  return (
    <>
      <div className="so-hero__head">
        <h2 ref={heading} tabIndex={-1}>
          {__('Next steps', 'security-optimizer')}
          {steps.length > shown.length ? (
            <>
              {' '}
              <small className="so-num">
                {sprintf(
                  /* translators: 1: steps that are shown, 2: all steps */
                  __('%1$d of %2$d', 'security-optimizer'),
                  shown.length,
                  steps.length,
                )}
              </small>
            </>
          ) : null}
        </h2>
        <Button kind="primary" onClick={onApplyAll}>
          {__('Apply all recommended', 'security-optimizer')}
        </Button>
      </div>
      <ul className="so-next">
        {shown.map((step) => (
          <li key={step.id}>
            <IconTile name={step.icon} state="off" />
            <StepRow step={step} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly onOpen: (name: LoginDialogName) => void;
}

function StepRow({ step, onOpen }: StepRowProps) {
  const { two_factor_users: users } = useKnownSettings(loginSettings);
  const { id, needsInput } = step;
  if (id === 'login_url') return <StepButton step={step} onStart={() => onOpen('url')} />;
  if (id === 'disable_usernames' && needsInput) return <StepButton step={step} onStart={() => onOpen('usernames')} />;
  if (id === 'sg2fa' && users) return <StepButton step={step} onStart={() => onOpen('two-factor')} />;
  return <SettingStep step={step} />;
}

/** A step that is one simple setting. */
function SettingStep({ step }: { readonly step: Step }) {
  const login = useKnownSettings(loginSettings);
  const setting = stepRows.find(({ field }) => field === step.id) as SettingRow;
  const source: SettingsSource<object> = securityRows.includes(setting) ? securitySettings : loginSettings;
  const twoFactor = useTwoFactorChange(null);
  const control = useSetting(source, setting, step.id === 'sg2fa' ? twoFactor : {});
  return (
    <StepButton
      step={step}
      state={control.pending ? 'saving' : control.failed === null ? null : 'failed'}
      onStart={() => control.set(step.id === 'login_attempts' ? recommendedAttempts(login) : 1)}
    />
  );
}

interface StepButtonProps {
  readonly step: Step;
  readonly state?: 'saving' | 'failed' | null;
  readonly onStart: () => void;
}

function StepButton({ step: { title, benefit, needsInput }, state = null, onStart }: StepButtonProps) {
  const label = needsInput
    ? /* translators: %s: name of a setting */
      sprintf(__('Configure: %s', 'security-optimizer'), title)
    : /* translators: %s: name of a setting */
      sprintf(__('Turn on: %s', 'security-optimizer'), title);
  return (
    <>
      <div className="so-next__text">
        <b>{title}</b>
        <small>{benefit}</small>
        {state === 'failed' ? <ErrorText>{notSavedText(0)}</ErrorText> : null}
      </div>
      <Button
        small
        aria-label={label}
        pendingText={state === 'saving' ? __('Turning on…', 'security-optimizer') : undefined}
        onClick={onStart}
      >
        {needsInput ? __('Configure', 'security-optimizer') : __('Turn on', 'security-optimizer')}
      </Button>
    </>
  );
}

/** Days that the figures count. */
const FACT_DAYS = 7;

/** Figures below the score, each with a link to its entries in the log; unknown ones are omitted. */
function HeroFacts() {
  const { config } = useSite();
  const zone = useSiteTimeZone();
  const { part: facts, missing } = useOverview(factsSource);
  const from = String(dayStart(zone, addDays(siteNow(zone, Date.now()).day, 1 - FACT_DAYS)));
  const all: readonly { value: number | null | undefined; text: string; view: Partial<LogView> }[] = [
    {
      value: facts?.blocked,
      text: __('blocked in 7 days', 'security-optimizer'),
      view: { preset: 'blocked', filters: { from } },
    },
    { value: facts?.block_list, text: __('on the block list', 'security-optimizer'), view: { tab: 'blocked' } },
    {
      value: facts?.failed_logins,
      text: __('failed logins', 'security-optimizer'),
      view: { preset: 'failed-logins', filters: { from } },
    },
  ];
  // Reserves their space: the score would move later.
  if (facts === undefined && !missing)
    return <div className="so-hero__facts so-hero__facts--wait" aria-hidden="true" />;
  const shown = all.filter(({ value }) => value != null);
  if (shown.length === 0) return null;
  const { logPageUrl } = config;
  return (
    <ul className={classes('so-hero__facts so-num', logPageUrl !== '' && 'so-hero__facts--links')}>
      {shown.map(({ value, text, view }) => {
        const fact = (
          <>
            <b>{formatNumber(value ?? 0)}</b> <small>{text}</small>
          </>
        );
        return (
          <li key={text}>
            {logPageUrl === '' ? (
              fact
            ) : (
              <a href={toLogHref(logPageUrl, view)}>
                {fact}
                <Icon name="chevron-right" />
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Placeholder of score and next steps while the settings load. */
export function ScoreSkeleton() {
  return (
    <div className="so-hero so-hero--sk" aria-busy="true">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <div className="so-hero__score">
        <span className="so-sk so-sk--ring" />
        <span className="so-sk so-sk--title" />
      </div>
      <div className="so-hero__next">
        {[1, 2, 3, 4].map((row) => (
          <span key={row} className="so-sk so-sk--help" />
        ))}
      </div>
    </div>
  );
}

/** Shown when the settings could not be loaded. */
export function ScoreFailed({ parts }: { readonly parts: readonly SettingsState<unknown>[] }) {
  const failed = parts.flatMap((part) => (part.state === 'failed' ? [part] : []));
  const first = failed[0];
  if (first === undefined) return null;
  return (
    <div className="so-hero__failed">
      <LoadFailed
        text={__('We couldn’t read the settings, so we can’t say how safe this site is.', 'security-optimizer')}
        failure={first.failure}
        retrying={failed.some(({ retrying }) => retrying)}
        onRetry={() => {
          for (const part of failed) part.retry();
        }}
      />
    </div>
  );
}
