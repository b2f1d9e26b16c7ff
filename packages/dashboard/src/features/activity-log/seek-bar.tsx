import { type VisitPreset, visitPresets } from '@security-optimizer/contract/activity/schemas';
import { dropUnseen } from '@security-optimizer/contract/typed-text';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { __ } from '../../i18n/translate.js';
import { AffixInput } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import { SegmentedControl } from '../../ui/segmented-control.js';
import { VALIDATION_DEBOUNCE_MS } from '../../ui/timing.js';
import type { AppliedFilters } from './applied-filters.js';

export interface SeekBarProps {
  readonly name: 'unknown' | 'registered';
  readonly applied: AppliedFilters;
  readonly onApply: (applied: AppliedFilters) => void;
}

/** Presets of the list and its search field. Only the list of unknown visitors has presets. */
export function SeekBar({ name, applied, onApply }: SeekBarProps) {
  return (
    <div className="so-seek so-seek--flip">
      {name === 'unknown' ? (
        <SegmentedControl<VisitPreset>
          label={__('Show', 'security-optimizer')}
          auto
          options={visitPresets
            .filter((value) => !isOfLegend(value) || value === applied.preset)
            .map((value) => ({ value, text: presetText(value) }))}
          value={applied.preset}
          onChange={(preset) => onApply({ ...applied, preset })}
        />
      ) : null}
      <SearchField applied={applied} onApply={onApply} />
    </div>
  );
}

/** Searches after a pause in typing, or at once on Enter. Escape clears it. */
function SearchField({ applied, onApply }: Omit<SeekBarProps, 'name'>) {
  const [text, setText] = useState(applied.search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ applied, onApply });
  latest.current = { applied, onApply };

  // Back, a chip or the panel of attackers has changed the search.
  useEffect(() => setText(applied.search), [applied.search]);
  useEffect(() => () => clearTimeout(timer.current), []);

  function search(wanted: string): void {
    clearTimeout(timer.current);
    const { applied: now, onApply: apply } = latest.current;
    const search = dropUnseen(wanted);
    if (search !== now.search) apply({ ...now, search });
  }

  function type(wanted: string): void {
    setText(wanted);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(wanted), VALIDATION_DEBOUNCE_MS);
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: old browsers do not know the element
    <form
      className="so-seek__field"
      role="search"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        search(text);
      }}
    >
      <AffixInput
        affix={<Icon name="search" />}
        isIcon
        type="search"
        maxLength={200}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-label={__('Search by address, path, user or reference', 'security-optimizer')}
        placeholder={__('Address, path, user or reference', 'security-optimizer')}
        value={text}
        onChange={(event) => type(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || text === '') return;
          event.preventDefault();
          setText('');
          search('');
        }}
      />
    </form>
  );
}

/** Whether a preset is chosen in the legend of the chart, and listed here only while it applies. */
function isOfLegend(preset: VisitPreset): boolean {
  return preset === 'humans' || preset === 'bots';
}

function presetText(preset: VisitPreset): string {
  switch (preset) {
    case 'all':
      return __('All', 'security-optimizer');
    case 'blocked':
      return __('Blocked', 'security-optimizer');
    case 'failed-logins':
      return __('Failed logins', 'security-optimizer');
    case 'scanners':
      return __('Scanners', 'security-optimizer');
    case 'not-found':
      return __('Not found', 'security-optimizer');
    case 'humans':
      return __('Humans', 'security-optimizer');
    case 'bots':
      return __('Bots', 'security-optimizer');
  }
}
