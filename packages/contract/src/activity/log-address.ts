import { pages } from '../pages.js';

/**
 * The Activity Log's view as query parameters of its page in wp-admin, so that reload, Back, a copied link, the numbers of
 * the dashboard and links in mails open the same list. All parameters start with `log_`, since WordPress reads some short
 * names itself.
 */
export interface LogView {
  readonly tab: 'unknown' | 'registered' | 'blocked' | 'weekly-reports' | 'log-settings';
  /** One of `visitPresets`; null for all. */
  readonly preset: string | null;
  /** Text of the search field; empty for none. */
  readonly search: string;
  /** Values of filters by `wp_name`; those of `date` are `from` and `to` in Unix seconds. */
  readonly filters: Readonly<Partial<Record<LogFilterName, string>>>;
}

export const logFilterNames = ['from', 'to', 'type', 'code', 'ip', 'goal', 'user', 'activity'] as const;
export type LogFilterName = (typeof logFilterNames)[number];

const tabs: readonly LogView['tab'][] = ['unknown', 'registered', 'blocked', 'weekly-reports', 'log-settings'];
const MAX_VALUE = 200;

/**
 * Query of a view without `page`, for example `log_tab=registered&log_user=12`; empty for the first tab without filters.
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

/** Address of a view below wp-admin: `admin.php?page=activity-log&log_show=blocked`. */
export function toLogPath(view: Partial<LogView>): string {
  const slug = pages.find(({ id }) => id === 'ACTIVITY_LOG')?.slug;
  const query = toLogQuery(view);
  return `admin.php?page=${slug}${query === '' ? '' : `&${query}`}`;
}

/**
 * Link to a view of the log.
 *
 * @param url address of the page Activity Log
 */
export function toLogHref(url: string, view: Partial<LogView>): string {
  const query = toLogQuery(view);
  if (query === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/** Reads a query such as `location.search`. Unknown tabs become the first one; values that are too long are dropped. */
export function parseLogQuery(query: string): LogView {
  const given = new URLSearchParams(query);
  const read = (name: string) => {
    const value = given.get(`log_${name}`) ?? '';
    return value.length <= MAX_VALUE ? value : '';
  };
  const tab = tabs.find((name) => name === read('tab')) ?? 'unknown';
  const values = logFilterNames.flatMap((name) => (read(name) === '' ? [] : [[name, read(name)] as const]));
  return { tab, preset: read('show') || null, search: read('search'), filters: Object.fromEntries(values) };
}
