import { useId } from 'react';
import { activityOptions, type KnownActivityOptions, useOptions } from '../../api/options.js';
import { useServices } from '../../api/services.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { HeaderFoot } from '../../ui/host.js';
import { Lazy } from '../../ui/lazy.js';
import { Note } from '../../ui/note.js';
import { Tabs } from '../../ui/tabs.js';
import { TAB_IDS, type TabId, tabText, useBlockedCount } from './log-lists.js';
import { useLogView } from './log-view.js';
import { UnknownTab } from './unknown-tab.js';

const loadRegistered = () => import('./registered-tab.js');
const loadBlocked = () => import('./blocked-tab.js');
const loadWeekly = () => import('./weekly-tab.js');
const loadSettings = () => import('./settings-tab.js');

/** Activity Log: visits, activity of registered users, blocked visitors, weekly reports and settings. */
export default function ActivityLogPage() {
  const { config } = useServices();
  const { tab, applied, open, apply } = useLogView();
  const options = useOptions(activityOptions);
  const blocked = useBlockedCount();
  const base = useId();
  const known = options.state === 'ready' ? options.options : {};

  const tabs = TAB_IDS.map((id) => ({
    id,
    text: tabText(id),
    count: id === 'blocked' && blocked ? formatNumber(blocked, config.localeSlug) : undefined,
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
          <Lazy load={loadWeekly} props={{ options: known, onOpenSettings: () => open('log-settings') }}>
            <TabSkeleton />
          </Lazy>
        );
      case 'log-settings':
        return (
          <Lazy load={loadSettings} props={{ options }}>
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
          <LogStatusNote options={known} onOpenSettings={() => open('log-settings')} />
        ) : null}
        {panel(tab)}
      </div>
    </>
  );
}

export interface LogStatusNoteProps {
  readonly options: KnownActivityOptions;
  readonly onOpenSettings: () => void;
}

/** Note above the lists while the log is off or visits were dropped. */
export function LogStatusNote({ options, onOpenSettings }: LogStatusNoteProps) {
  const { config } = useServices();
  const dropped = options.dropped ?? 0;
  if (options.disable_activity_log === 1) {
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
            formatNumber(dropped, config.localeSlug),
          )}
        </p>
      </Note>
    </div>
  );
}

/** Shown while the code of a tab is fetched. */
export function TabSkeleton() {
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
