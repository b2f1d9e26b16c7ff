import type { ActivityFilter } from '@security-optimizer/contract/activity';
import { IP_FILTER_PATTERN } from '@security-optimizer/contract/activity-limits';
import { messages } from '@security-optimizer/contract/messages';
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from '../../../components/button.js';
import { classes } from '../../../components/classes.js';
import { focusFirstError } from '../../../forms/focus-first-error.js';
import { useFormErrors } from '../../../forms/use-form-errors.js';
import { __, translate } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { type Applied, type Choice, choiceOf, NOTHING_APPLIED, withChoice } from '../list/applied.js';
import { FilterDropdown } from './filter-dropdown.js';
import { FilterPeriod } from './filter-period.js';

export interface FilterPanelProps {
  readonly name: 'unknown' | 'registered';
  readonly filters: readonly ActivityFilter[];
  readonly applied: Applied;
  /** The closing animation is running. */
  readonly leaving: boolean;
  /** The button that opens and closes it. */
  readonly opener: RefObject<HTMLButtonElement | null>;
  readonly onApply: (applied: Applied) => void;
  readonly onClose: () => void;
}

/** What to show of a list. Nothing happens before Apply. */
export default function FilterPanel({ name, filters, applied, leaving, opener, onApply, onClose }: FilterPanelProps) {
  const [draft, setDraft] = useState(applied);
  const panel = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(wrongChoices(draft.choices), () => focusFirstError(panel.current));
  const close = useRef({ onClose, finish });
  close.current = { onClose, finish };

  useEffect(() => {
    panel.current?.querySelector('input')?.focus();
    const onPress = ({ target }: Event): void => {
      const isInside = target instanceof Node && (panel.current?.contains(target) || opener.current?.contains(target));
      if (!isInside) close.current.onClose();
    };
    document.addEventListener('mousedown', onPress);
    return () => document.removeEventListener('mousedown', onPress);
  }, [opener]);

  useEffect(() => {
    if (leaving) return;
    // Also while nothing inside has the focus. What is open inside takes the key for itself.
    const onKeyDown = ({ key }: globalThis.KeyboardEvent): void => {
      if (key === 'Escape') close.current.finish();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [leaving]);

  function finish(): void {
    opener.current?.focus();
    onClose();
  }

  function choose(field: Pick<Choice, 'group' | 'child'>, choice: Choice | null): void {
    setDraft((before) => ({
      choices: withChoice(before.choices, field, choice),
      // A day that is chosen here is a whole one.
      exact: before.exact && field.group !== 'date',
    }));
    errors.touch(field.group);
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (leaving || !errors.check()) return;
    finish();
    onApply({ ...draft, choices: draft.choices.map(trimmed) });
  }

  return (
    <>
      <div className={classes('so-filter__scrim', leaving && 'is-leaving')} />
      <div
        ref={panel}
        className={classes('so-filter so-pop', leaving && 'is-leaving')}
        role="dialog"
        aria-hidden={leaving || undefined}
        aria-label={__('Filter', 'security-optimizer')}
      >
        <form noValidate onSubmit={submit}>
          <div className="so-filter__head">
            <h3>{__('Filter', 'security-optimizer')}</h3>
            <button
              type="button"
              className="so-iconbtn"
              aria-label={__('Close', 'security-optimizer')}
              onClick={finish}
            >
              <Icon name="x" />
            </button>
          </div>
          <div className="so-filter__body">
            {filters.map((filter) =>
              filter.type === 'datepicker' ? (
                <FilterPeriod
                  key={filter.wp_name}
                  choices={draft.choices}
                  onChange={(child, choice) => choose({ group: filter.wp_name, child }, choice)}
                />
              ) : (
                filter.children.map((child) => (
                  <FilterDropdown
                    key={`${filter.wp_name}/${child.id}`}
                    list={name}
                    filter={filter}
                    child={child}
                    choices={draft.choices}
                    error={errors.shown[filter.wp_name]}
                    onChange={(choice) => choose({ group: filter.wp_name, child: child.id }, choice)}
                  />
                ))
              ),
            )}
          </div>
          <div className="so-filter__foot">
            <Button
              kind="quiet"
              onClick={() => {
                finish();
                onApply(NOTHING_APPLIED);
              }}
            >
              {__('Clear all', 'security-optimizer')}
            </Button>
            <Button kind="primary" submit>
              {__('Apply', 'security-optimizer')}
            </Button>
          </div>
        </form>
      </div>
    </>
  );
}

function wrongChoices(choices: readonly Choice[]): Readonly<Record<string, string>> {
  const ip = choiceOf(choices, 'ip');
  return ip === undefined || IP_FILTER_PATTERN.test(String(ip.value).trim())
    ? {}
    : { ip: translate(messages.invalidFormat) };
}

function trimmed(choice: Choice): Choice {
  const { value } = choice;
  return typeof value === 'string' ? { ...choice, value: value.trim(), text: choice.text.trim() } : choice;
}
