import { type LogView, parseLogQuery, toLogQuery } from '@security-optimizer/contract/activity/log-address';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useSiteZone } from '../../api/options.js';
import { useDateTexts } from '../../api/services.js';
import { type AppliedFilters, fromLogView, toLogView } from './applied-filters.js';
import { TAB_IDS, type TabId } from './log-lists.js';

export interface OpenLogView {
  readonly tab: TabId;
  /** The filters of the open tab. The same object until they change. */
  readonly applied: AppliedFilters;
  /** Opens a tab with its last filters. */
  readonly open: (tab: TabId) => void;
  /** Applies filters to the open tab. */
  readonly apply: (applied: AppliedFilters) => void;
}

const NO_FILTERS = { preset: null, search: '', filters: {} };

/**
 * The open tab and its filters are part of the page's URL. Reload and a copied link open the same list, Back opens the
 * previous one.
 */
export function useLogView(): OpenLogView {
  const zone = useSiteZone();
  const texts = useDateTexts();
  const [view, setView] = useState(readView);
  const latest = useRef(view);
  latest.current = view;
  // Other tabs keep their filters while the page is open.
  const kept = useRef<Partial<Record<TabId, LogView>>>({});
  kept.current[view.tab] = view;

  useEffect(() => {
    const onMove = (): void => setView(readView());
    window.addEventListener('popstate', onMove);
    window.addEventListener('hashchange', onMove);
    return () => {
      window.removeEventListener('popstate', onMove);
      window.removeEventListener('hashchange', onMove);
    };
  }, []);

  const show = useCallback((next: LogView) => {
    const { current } = latest;
    // Each pause in typing applies the text, but only the last one becomes a history entry.
    const isTyping = next.tab === current.tab && current.search !== '' && next.search !== '';
    const address = toAddress(next);
    if (address !== toAddress(current)) {
      if (isTyping && toLogQuery({ ...next, search: '' }) === toLogQuery({ ...current, search: '' })) {
        window.history.replaceState(window.history.state, '', address);
      } else window.history.pushState(null, '', address);
    }
    setView(next);
  }, []);

  // The time zone arrives later and separates days. Without a period it must not load the list again.
  const { from, to } = view.filters;
  const dayZone = from === undefined && to === undefined ? 'UTC' : zone;
  const applied = useMemo(() => fromLogView(view, dayZone, texts), [view, dayZone, texts]);
  return {
    tab: view.tab,
    applied,
    open: useCallback((tab) => show(kept.current[tab] ?? { tab, ...NO_FILTERS }), [show]),
    apply: useCallback((next) => show({ tab: latest.current.tab, ...toLogView(next) }), [show]),
  };
}

/** Parses the view in the URL. Links of earlier versions have the tab in the hash. */
function readView(): LogView {
  const view = parseLogQuery(window.location.search);
  const tab = TAB_IDS.find((id) => `#${id}` === window.location.hash);
  return tab === undefined ? view : { ...view, tab };
}

/** Returns the URL of this page with a view and all other parameters. */
function toAddress(view: LogView): string {
  const others = new URLSearchParams(window.location.search);
  for (const name of Array.from(others.keys())) if (name.startsWith('log_')) others.delete(name);
  const query = [others.toString(), toLogQuery(view)].filter((part) => part !== '').join('&');
  return window.location.pathname + (query === '' ? '' : `?${query}`);
}
