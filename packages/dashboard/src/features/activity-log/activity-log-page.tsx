import { type LogView, parseLogQuery, toLogQuery } from '@security-optimizer/contract/activity/log-address';
import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { getDateFormats } from '../../i18n/date-formats.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Note } from '../../ui/inline-messages.js';
import { Lazy } from '../../ui/lazy.js';
import { HeaderFoot } from '../../ui/portals.js';
import { Tabs } from '../../ui/tabs.js';
import { type ActivitySettings, activitySettings } from '../settings/settings-query.js';
import { useSettings, useSiteTimeZone } from '../settings/use-settings.js';
import { type AppliedFilters, fromLogView, toLogView } from './applied-filters.js';
import { TAB_IDS, type TabId, tabText, useBlockedCount } from './log-lists.js';
import { UnknownTab } from './unknown-tab.js';

const loadRegistered = () => import('./registered-tab.js');
const loadBlocked = () => import('./blocked-tab.js');
const loadWeekly = () => import('./weekly-tab.js');
const loadSettings = () => import('./settings-tab.js');

/** Activity Log: visits, activity of registered users, blocked visitors, weekly reports and settings. */
export default function ActivityLogPage() {
  const { tab, applied, open, apply } = useLogView();
  const settings = useSettings(activitySettings);
  const blocked = useBlockedCount();
  const base = useId();
  const known = settings.state === 'ready' ? settings.values : {};

  const tabs = TAB_IDS.map((id) => ({
    id,
    text: tabText(id),
    count: id === 'blocked' && blocked ? formatNumber(blocked) : undefined,
  }));

  function panel(id: TabId) {
    switch (id) {
      case 'unknown':
        return <UnknownTab applied={applied} onApply={apply} />;
      case 'registered':
        return (
          <Lazy load={loadRegistered} props={{ applied, onApply: apply }}>
            <TabSkeleton />
          </Lazy>
        );
      case 'blocked':
        return (
          <Lazy load={loadBlocked} props={{}}>
            <TabSkeleton />
          </Lazy>
        );
      case 'weekly-reports':
        return (
          <Lazy load={loadWeekly} props={{ settings: known, onOpenSettings: () => open('log-settings') }}>
            <TabSkeleton />
          </Lazy>
        );
      case 'log-settings':
        return (
          <Lazy load={loadSettings} props={{}}>
            <TabSkeleton />
          </Lazy>
        );
    }
  }

  return (
    <>
      <HeaderFoot>
        <Tabs label={__('Activity log', 'security-optimizer')} tabs={tabs} current={tab} base={base} onChange={open} />
      </HeaderFoot>
      <div className="so-section" role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-tab-${tab}`}>
        {tab === 'unknown' || tab === 'registered' ? (
          <LogStatusNote settings={known} onOpenSettings={() => open('log-settings')} />
        ) : null}
        {panel(tab)}
      </div>
    </>
  );
}

interface LogStatusNoteProps {
  readonly settings: ActivitySettings;
  readonly onOpenSettings: () => void;
}

/** Note above the lists while the log is off or visits were dropped. */
function LogStatusNote({ settings, onOpenSettings }: LogStatusNoteProps) {
  const dropped = settings.dropped ?? 0;
  if (settings.disable_activity_log === 1) {
    return (
      <div className="so-cardnote">
        <Note kind="warn" action={<Button onClick={onOpenSettings}>{__('Log Settings', 'security-optimizer')}</Button>}>
          <p>
            <strong>{__('The activity log is off.', 'security-optimizer')}</strong>{' '}
            {__('New visits are not recorded. Protections work as before.', 'security-optimizer')}
          </p>
        </Note>
      </div>
    );
  }
  if (dropped <= 0) return null;
  return (
    <div className="so-cardnote">
      <Note>
        <p>
          {sprintf(
            /* translators: %s: number of visits */
            _n(
              '%s visit was not recorded, because more came in than could be written down.',
              '%s visits were not recorded, because more came in than could be written down.',
              dropped,
              'security-optimizer',
            ),
            formatNumber(dropped),
          )}
        </p>
      </Note>
    </div>
  );
}

/** Shown while the code of a tab is fetched. */
function TabSkeleton() {
  return (
    <div className="so-card so-card__body" aria-busy="true">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <span className="so-sk so-sk--title" />
      <span className="so-sk so-sk--help" />
    </div>
  );
}

interface OpenLogView {
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
function useLogView(): OpenLogView {
  const zone = useSiteTimeZone();
  const formats = getDateFormats();
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
  const applied = useMemo(() => fromLogView(view, dayZone, formats), [view, dayZone, formats]);
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
