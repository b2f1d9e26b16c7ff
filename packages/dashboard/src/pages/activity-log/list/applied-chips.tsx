import { __, sprintf } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { type Applied, type Choice, NOTHING_APPLIED, withChoice } from './applied.js';

export interface AppliedChipsProps {
  readonly applied: Applied;
  readonly onChange: (applied: Applied) => void;
}

/** What a list is filtered by, each with a button that takes it away. */
export function AppliedChips({ applied, onChange }: AppliedChipsProps) {
  if (applied.choices.length === 0) return null;

  function remove(choice: Choice): void {
    // Half a period of an hour means nothing that a day could not say.
    const exact = applied.exact && choice.group !== 'date';
    onChange({ choices: withChoice(applied.choices, choice, null), exact });
  }

  return (
    <div className="so-applied">
      {applied.choices.map((choice) => (
        <span key={`${choice.group}/${choice.child}`} className="so-chip">
          <span>{choice.name}:</span>
          <bdi className="so-chip__text">{choice.text}</bdi>
          <button
            type="button"
            aria-label={sprintf(
              /* translators: 1: name of a filter, 2: what was chosen in it */
              __('Remove filter %1$s: %2$s', 'security-optimizer'),
              choice.name,
              choice.text,
            )}
            onClick={() => remove(choice)}
          >
            <Icon name="x" />
          </button>
        </span>
      ))}
      <button type="button" className="so-link" onClick={() => onChange(NOTHING_APPLIED)}>
        {__('Clear all', 'security-optimizer')}
      </button>
    </div>
  );
}
