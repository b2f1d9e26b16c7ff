import { pages } from '../pages.js';

/**
 * The view of the Activity Log as query parameters of its page in wp-admin. Reload, Back, a copied link, the figures of
 * the dashboard and links in mails then open the same list. All parameters start with `log_`, because WordPress uses
 * some short names.
 */
export interface LogView {
  readonly tab: 'unknown' | 'registered' | 'blocked' | 'weekly-reports' | 'log-settings';
  /** One of `visitPresets`; null for all. */
  readonly preset: string | null;
  /** Text of the search field; empty for none. */
  readonly search: string;
  /** Values of the filters by `wp_name`; `date` has `from` and `to` in Unix seconds. */
  readonly filters: Readonly<Partial<Record<LogFilterName, string>>>;
}

/**
 * The drop-downs of the filter panel of each list, in their order. Guard and the dashboard do not compile without the
 * texts and choices of each; see CONTRIBUTING.md, "Adding a log filter".
 */
export const logDropdowns = {
  unknown: ['type', 'code', 'ip'],
  registered: ['user', 'activity'],
} as const;
export type LogDropdown<List extends keyof typeof logDropdowns = keyof typeof logDropdowns> =
  (typeof logDropdowns)[List][number];

export const logFilterNames = ['from', 'to', ...logDropdowns.unknown, 'goal', ...logDropdowns.registered] as const;
export type LogFilterName = (typeof logFilterNames)[number];

const tabs: readonly LogView['tab'][] = ['unknown', 'registered', 'blocked', 'weekly-reports', 'log-settings'];
const MAX_VALUE = 200;

/**
 * Formats a view as a query without `page`, for example `log_tab=registered&log_user=12`. The query of the first tab
 * without filters is empty.
 */
export function toLogQuery(view: Partial<LogView>): string {
  const query = new URLSearchParams();
  if (view.tab !== undefined && view.tab !== 'unknown') query.set('log_tab', view.tab);
  if (view.preset && view.preset !== 'all') query.set('log_show', view.preset);
  if (view.search) query.set('log_search', view.search);
  for (const name of logFilterNames) {
    const value = view.filters?.[name];
    if (value !== undefined && value !== '') query.set(`log_${name}`, value);
  }
  return query.toString();
}

/** Formats a view as a URL below wp-admin: `admin.php?page=activity-log&log_show=blocked`. */
export function toLogPath(view: Partial<LogView>): string {
  const slug = pages.find(({ id }) => id === 'ACTIVITY_LOG')?.slug;
  const query = toLogQuery(view);
  return `admin.php?page=${slug}${query === '' ? '' : `&${query}`}`;
}

/**
 * Formats a link to a view of the log.
 *
 * @param url URL of the page Activity Log
 */
export function toLogHref(url: string, view: Partial<LogView>): string {
  const query = toLogQuery(view);
  if (query === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Parses a query such as `location.search`. An unknown tab becomes the first one; values that are too long are ignored.
 */
export function parseLogQuery(query: string): LogView {
  const parameters = new URLSearchParams(query);
  const read = (name: string) => {
    const value = parameters.get(`log_${name}`) ?? '';
    return value.length <= MAX_VALUE ? value : '';
  };
  const tab = tabs.find((name) => name === read('tab')) ?? 'unknown';
  const values = logFilterNames.flatMap((name) => (read(name) === '' ? [] : [[name, read(name)] as const]));
  return { tab, preset: read('show') || null, search: read('search'), filters: Object.fromEntries(values) };
}
