import type { ActivityFilter } from '@security-optimizer/contract/activity';
import { useState } from 'react';
import { ComboBox } from '../../../forms/combo-box.js';
import { __, translate } from '../../../i18n/translate.js';
import { type Choice, choiceOf } from '../list/applied.js';
import { useFilterOptions } from './use-filter-options.js';

export interface FilterDropdownProps {
  readonly list: 'unknown' | 'registered';
  readonly filter: ActivityFilter;
  readonly child: ActivityFilter['children'][number];
  readonly choices: readonly Choice[];
  readonly error: string | undefined;
  readonly onChange: (choice: Choice | null) => void;
}

/** A filter with options. That of addresses also takes what is typed: an address or a range. */
export function FilterDropdown({ list, filter, child, choices, error, onChange }: FilterDropdownProps) {
  const [search, setSearch] = useState('');
  const group = filter.wp_name;
  const isAddress = group === 'ip';
  const chosen = choiceOf(choices, group, child.id);
  const options = useFilterOptions(list, group, child.options, search);
  const name = translate(child.label);
  return (
    <ComboBox
      label={name}
      value={chosen === undefined ? null : { value: chosen.value, label: chosen.text }}
      // Names of users and bots, addresses and codes stand as they are; only our own words have a translation.
      options={options.map(({ value, label }) => ({ value, label: isAddress ? label : translate(label) }))}
      none={isAddress ? __('Any address', 'security-optimizer') : __('All', 'security-optimizer')}
      anyText={isAddress}
      error={error}
      onSearch={setSearch}
      onChange={(option) =>
        onChange(
          option === null ? null : { group, child: child.id, name, value: option.value, text: String(option.label) },
        )
      }
    />
  );
}
