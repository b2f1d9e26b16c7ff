import { searchActivityFilter } from '@security-optimizer/contract/activity/endpoints';
import { LOG_LIFETIMES } from '@security-optimizer/contract/activity/limits';
import type { ActivityFilter } from '@security-optimizer/contract/activity/schemas';
import { readAddresses } from '@security-optimizer/contract/typed-addresses';
import { dropUnseen } from '@security-optimizer/contract/typed-text';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import * as z from 'zod/mini';
import { toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { addressFault } from '../../forms/ip-address.js';
import { getDateFormats } from '../../i18n/date-formats.js';
import { addDays, siteDay, siteNow } from '../../i18n/days.js';
import { __, translate } from '../../i18n/translate.js';
import { Button, IconButton } from '../../ui/button.js';
import { ComboBox, type ComboOption } from '../../ui/combo-box.js';
import { DateField, getWeekStart } from '../../ui/date-field.js';
import { classes } from '../../ui/dom.js';
import { PHONE_MAX_WIDTH } from '../../ui/timing.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';
import { useSiteTimeZone } from '../settings/use-settings.js';
import { type AppliedFilters, type FilterChoice, findChoice, toDayChoice, withChoice } from './applied-filters.js';

export interface FilterPanelProps {
  readonly name: 'unknown' | 'registered';
  readonly filters: readonly ActivityFilter[];
  readonly applied: AppliedFilters;
  /** Whether the closing animation is running. */
  readonly leaving: boolean;
  /** The button that toggles the panel. */
  readonly opener: RefObject<HTMLButtonElement | null>;
  readonly onApply: (applied: AppliedFilters) => void;
  readonly onClose: () => void;
}

/** The filters of a list. Apply applies them. */
export default function FilterPanel({ name, filters, applied, leaving, opener, onApply, onClose }: FilterPanelProps) {
  const [draft, setDraft] = useState(applied);
  const panel = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(wrongChoices(draft.choices), () => focusFirstError(panel.current));
  const close = useRef({ onClose, finish });
  close.current = { onClose, finish };

  useLayoutEffect(() => showWhole(panel.current), []);

  useEffect(() => {
    panel.current?.querySelector('input')?.focus({ preventScroll: true });
    const onPress = ({ target }: Event): void => {
      const isInside = target instanceof Node && (panel.current?.contains(target) || opener.current?.contains(target));
      if (!isInside) close.current.onClose();
    };
    document.addEventListener('mousedown', onPress);
    return () => document.removeEventListener('mousedown', onPress);
  }, [opener]);

  useEffect(() => {
    if (leaving) return;
    // On the document, because the focus may be outside. Open popups inside handle the key first.
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

  function choose(field: Pick<FilterChoice, 'group' | 'child'>, choice: FilterChoice | null): void {
    setDraft((before) => ({
      ...before,
      choices: withChoice(before.choices, field, choice),
      // A day is chosen as a whole day.
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
            <IconButton icon="x" label={__('Close', 'security-optimizer')} onClick={finish} />
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
                onApply({ ...applied, choices: [], exact: false });
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

/** Space below the panel, in pixels. */
const PANEL_GAP = 16;

/** Scrolls the page until the whole panel with its Apply button is visible. On phones it is a sheet in the window. */
function showWhole(panel: HTMLElement | null): void {
  if (panel === null) return;
  // The panel's own rectangle moves during its opening animation.
  const top = (panel.offsetParent?.getBoundingClientRect().top ?? 0) + panel.offsetTop;
  const hidden = top + panel.offsetHeight + PANEL_GAP - window.innerHeight;
  if (hidden > 0 && window.innerWidth > PHONE_MAX_WIDTH) window.scrollBy(0, hidden);
}

function wrongChoices(choices: readonly FilterChoice[]): Readonly<Record<string, string>> {
  const ip = findChoice(choices, 'ip');
  const fault = ip === undefined ? null : addressFault(String(ip.value));
  return fault === null ? {} : { ip: fault };
}

function trimmed(choice: FilterChoice): FilterChoice {
  const { value, text, child } = choice;
  if (typeof value !== 'string') return choice;
  const clean = child === 'ip' ? toPlainAddresses : dropUnseen;
  return { ...choice, value: clean(value), text: clean(text) };
}

/** The parsed addresses in display form. */
function toPlainAddresses(typed: string): string {
  const read = readAddresses(typed);
  return 'ranges' in read ? read.ranges.map(({ text }) => text).join(', ') : typed;
}

interface FilterDropdownProps {
  readonly list: 'unknown' | 'registered';
  readonly filter: ActivityFilter;
  readonly child: ActivityFilter['children'][number];
  readonly choices: readonly FilterChoice[];
  readonly error: string | undefined;
  readonly onChange: (choice: FilterChoice | null) => void;
}

/** A filter with options. The address filter also accepts free text: an address or a range. */
function FilterDropdown({ list, filter, child, choices, error, onChange }: FilterDropdownProps) {
  const [search, setSearch] = useState('');
  const group = filter.wp_name;
  const isAddress = group === 'ip';
  const chosen = findChoice(choices, group, child.id);
  const options = useFilterOptions(list, group, child.options, search);
  const name = translate(child.label);
  return (
    <ComboBox
      label={name}
      value={chosen === undefined ? null : { value: chosen.value, label: chosen.text }}
      // Names, addresses and codes are not translated.
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

interface FilterPeriodProps {
  readonly choices: readonly FilterChoice[];
  readonly onChange: (child: 'from' | 'to', choice: FilterChoice | null) => void;
}

/** From and To as days of the site. A From after To clears To. */
function FilterPeriod({ choices, onChange }: FilterPeriodProps) {
  const formats = getDateFormats();
  const zone = useSiteTimeZone();
  const [today] = useState(() => siteNow(zone, Date.now()).day);
  const toDay = (child: 'from' | 'to'): string => {
    const value = findChoice(choices, 'date', child)?.value;
    return typeof value === 'number' ? siteDay(zone, value) : '';
  };
  const [from, to] = [toDay('from'), toDay('to')];
  const first = addDays(today, -Math.max(...LOG_LIFETIMES));
  const calendar = {
    max: today,
    today,
    range: { from, to },
    formats,
    weekStart: getWeekStart(),
    summary: '',
    error: undefined,
  };

  return (
    <div className="so-pair">
      <DateField
        {...calendar}
        label={__('From', 'security-optimizer')}
        value={from}
        min={first}
        onChange={(day) => {
          onChange('from', toDayChoice('from', day, zone, formats));
          if (to !== '' && day > to) onChange('to', null);
        }}
      />
      <DateField
        {...calendar}
        label={__('To', 'security-optimizer')}
        value={to}
        min={from === '' ? first : from}
        atEnd
        onChange={(day) => onChange('to', toDayChoice('to', day, zone, formats))}
      />
    </div>
  );
}

/** Debounce of a search, milliseconds. */
const SEARCH_PAUSE_MS = 250;

/**
 * Options of a filter that match a text. It searches on the server, which knows more options than the list. Until it
 * responds, or if it fails, it searches the known options.
 */
function useFilterOptions(
  list: 'unknown' | 'registered',
  filter: string,
  known: readonly ComboOption[],
  text: string,
): readonly ComboOption[] {
  const { api } = useSite();
  const search = useDebounced(text, SEARCH_PAUSE_MS);
  const { data: found } = useQuery({
    queryKey: ['filter-options', list, filter, search],
    queryFn: async ({ signal }) => {
      const call = toCall(searchActivityFilter, { list, filter, search }, { signal });
      const { data } = z.safeParse(searchActivityFilter.response, (await api.call<unknown>(call)).data);
      if (data === undefined) throw new ApiError('refused');
      return data.options;
    },
    enabled: search !== '' && search === text,
    gcTime: 0,
  });

  if (text === '') return known;
  if (found !== undefined && search === text) return found;
  return known.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
}

/** A value that has not changed for some time. */
function useDebounced(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
