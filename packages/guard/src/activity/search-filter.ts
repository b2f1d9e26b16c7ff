import { activityKind } from '@security-optimizer/contract/activity-kinds';
import { FILTER_OPTIONS_MAX } from '@security-optimizer/contract/activity-limits';
import { ApiError } from '../lib/api-error.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import type { FilterOption } from './filters.js';

export type FilterOptions = readonly FilterOption[];
export type DropdownName = Parameters<ActivityStore['options']>[1];

/** The drop-downs of each list. */
const dropdowns: Readonly<Record<'unknown' | 'registered', readonly DropdownName[]>> = {
  unknown: ['type', 'code', 'ip'],
  registered: ['user', 'activity'],
};

/** Filters whose values are numbers in answers. */
const NUMBERS: ReadonlySet<DropdownName> = new Set(['code', 'user']);

/**
 * Choices of a drop-down that hold the text, most frequent first, at most 200. Activities are searched by the words
 * that people see, everything else by the store. Throws StorageError.
 */
export async function filterOptions(
  store: Pick<ActivityStore, 'options'>,
  site: SiteId,
  filter: DropdownName,
  search: string,
): Promise<FilterOptions> {
  const wanted = search.trim();
  if (filter === 'activity') {
    const lower = wanted.toLowerCase();
    const all = await store.options(site, filter, '', FILTER_OPTIONS_MAX);
    return all
      .map(({ label, value }) => ({ label: activityKind(value)?.label ?? label, value }))
      .filter(({ label }) => label.toLowerCase().includes(lower));
  }
  const found = await store.options(site, filter, wanted, FILTER_OPTIONS_MAX);
  return found.map(({ label, value }) => ({ label, value: NUMBERS.has(filter) ? Number(value) : value }));
}

/** The same for a call that names list and filter. @throws ApiError invalid_input; StorageError */
export async function searchFilter(
  store: Pick<ActivityStore, 'options'>,
  ask: {
    readonly site: SiteId;
    readonly list: 'unknown' | 'registered';
    readonly filter: string;
    readonly search: string;
  },
): Promise<FilterOptions> {
  const name = dropdowns[ask.list].find((entry) => entry === ask.filter);
  if (name === undefined) {
    throw new ApiError('invalid_input', { fields: { filter: `Use ${dropdowns[ask.list].join(', ')}.` } });
  }
  return filterOptions(store, ask.site, name, ask.search);
}
