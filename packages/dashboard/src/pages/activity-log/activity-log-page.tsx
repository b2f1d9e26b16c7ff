import '../../icons/activity-icons.js';
import { useId, useState } from 'react';
import { Lazy } from '../../components/lazy.js';
import { Tabs } from '../../components/tabs.js';
import { formatNumber } from '../../i18n/format-number.js';
import { __ } from '../../i18n/translate.js';
import { activityOptions } from '../../options/options-source.js';
import { useOptions } from '../../options/use-options.js';
import { useServices } from '../../services.js';
import { HeadFoot } from '../../shell/head-foot.js';
import { type Applied, NOTHING_APPLIED } from './list/applied.js';
import { LogNotes } from './log-notes.js';
import { TAB_IDS, type TabId, tabText } from './log-tabs.js';
import { TabSkeleton } from './tab-skeleton.js';
import { UnknownTab } from './unknown-tab.js';
import { useBlockedCount } from './use-blocked-count.js';
import { useHashTab } from './use-hash-tab.js';

const loadRegistered = () => import('./registered-tab.js');
const loadBlocked = () => import('./blocked/blocked-tab.js');
const loadWeekly = () => import('./weekly/weekly-tab.js');
const loadSettings = () => import('./settings/settings-tab.js');

/** Activity Log: who was there and what members changed, who is blocked, the weekly report, and what is kept. */
export default function ActivityLogPage() {
  const { config } = useServices();
  const [tab, open] = useHashTab();
  const options = useOptions(activityOptions);
  const blocked = useBlockedCount();
  const [unknown, setUnknown] = useState<Applied>(NOTHING_APPLIED);
  const [registered, setRegistered] = useState<Applied>(NOTHING_APPLIED);
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
        return <UnknownTab applied={unknown} onApply={setUnknown} />;
      case 'registered':
        return (
          <Lazy load={loadRegistered} props={{ applied: registered, onApply: setRegistered }}>
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
      <HeadFoot>
        <Tabs label={__('Activity log', 'security-optimizer')} tabs={tabs} current={tab} base={base} onChange={open} />
      </HeadFoot>
      <div className="so-section" role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-tab-${tab}`}>
        {tab === 'unknown' || tab === 'registered' ? (
          <LogNotes options={known} onOpenSettings={() => open('log-settings')} />
        ) : null}
        {panel(tab)}
      </div>
    </>
  );
}
