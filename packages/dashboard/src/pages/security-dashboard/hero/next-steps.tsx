import { siteSecurityToggles } from '@security-optimizer/contract/protections';
import type { RefObject } from 'react';
import { Button } from '../../../components/button.js';
import { ErrorText } from '../../../components/error-text.js';
import { IconTile } from '../../../components/icon-tile.js';
import { notSavedText } from '../../../components/not-saved-text.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { recommendedAttempts, type Step } from '../../../protection/steps.js';
import type { LoginDialogName } from '../../login-settings/login-dialogs.js';
import { useLoginChanges } from '../../login-settings/use-login-changes.js';
import { type Toggle, useToggles } from '../../site-security/use-toggles.js';
import type { HeroProps } from './hero.js';

/** More would no longer say where to begin. */
const MOST_STEPS = 3;
const toggles: readonly Toggle[] = siteSecurityToggles;

export interface NextStepsProps extends Pick<HeroProps, 'security' | 'login'> {
  readonly steps: readonly Step[];
  readonly heading: RefObject<HTMLHeadingElement | null>;
  readonly onApplyAll: () => void;
  /** Opens the dialog of a row. */
  readonly onOpen: (name: LoginDialogName) => void;
}

/** The most valuable essentials that are off, each with the button of its own row. */
export function NextSteps({ steps, security, login, heading, onApplyAll, onOpen }: NextStepsProps) {
  const rows = useToggles(security.store);
  const loginRows = useLoginChanges(login.store);
  const changes = { ...rows.changes, ...loginRows.changes };
  const shown = steps.slice(0, MOST_STEPS);

  function start({ id, asks }: Step): void {
    if (id === 'login_url') onOpen('url');
    else if (id === 'disable_usernames' && asks) onOpen('usernames');
    else if (id === 'login_attempts') loginRows.setAttempts(login.options, recommendedAttempts(login.options));
    else if (id === 'sg2fa' || id === 'disable_usernames') loginRows.toggle(id, 1);
    else {
      const toggle = toggles.find(({ field }) => field === id);
      if (toggle !== undefined) rows.change(toggle, 1);
    }
  }

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
          <StepRow
            key={step.id}
            step={step}
            state={changes[`update:${step.id}`]?.state ?? null}
            onStart={() => start(step)}
          />
        ))}
      </ul>
    </>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly state: 'saving' | 'failed' | null;
  readonly onStart: () => void;
}

function StepRow({ step: { icon, title, benefit, asks }, state, onStart }: StepRowProps) {
  const label = asks
    ? /* translators: %s: name of a setting */
      sprintf(__('Configure: %s', 'security-optimizer'), title)
    : /* translators: %s: name of a setting */
      sprintf(__('Turn on: %s', 'security-optimizer'), title);
  return (
    <li>
      <IconTile name={icon} state="off" />
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
        {asks ? __('Configure', 'security-optimizer') : __('Turn on', 'security-optimizer')}
      </Button>
    </li>
  );
}
