import { type ReactNode, useId } from 'react';
import { classes } from '../../../components/classes.js';
import { ErrorText } from '../../../components/error-text.js';
import { ServerText } from '../../../components/server-text.js';
import { __ } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import type { Step } from '../../../protection/steps.js';
import type { StepResult } from './use-apply.js';

export interface ApplyItemProps {
  readonly step: Step;
  readonly ticked: boolean;
  readonly result: StepResult | undefined;
  /** Changes are being made. */
  readonly locked: boolean;
  readonly onTick: () => void;
  /** What the change asks for. */
  readonly children: ReactNode;
}

/** A change in the list: a box to tick with its price; afterwards what became of it. */
export function ApplyItem({ step, ticked, result, locked, onTick, children }: ApplyItemProps) {
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
          {__('Not done.', 'security-optimizer')} <ServerText text={result.text} />
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
          {__('Done.', 'security-optimizer')} <ServerText text={result.text} />
        </>
      );
    case 'running':
      return __('Saving…', 'security-optimizer');
    default:
      return effect;
  }
}
