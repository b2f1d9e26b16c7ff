import { useCallback, useEffect, useState } from 'react';
import { TAB_IDS, type TabId } from './log-tabs.js';

/** The open tab, as the hash of the page's address names it: a link leads to it, and reloading stays on it. */
export function useHashTab(): readonly [TabId, (id: TabId) => void] {
  const [tab, setTab] = useState(() => tabOf(window.location.hash));

  useEffect(() => {
    const onHashChange = (): void => setTab(tabOf(window.location.hash));
    window.addEventListener('hashchange', onHashChange);
    return () => window.removeEventListener('hashchange', onHashChange);
  }, []);

  const open = useCallback((id: TabId) => {
    // No entry of its own: Back leads to the page before, not through each tab that was looked at.
    window.history.replaceState(window.history.state, '', `#${id}`);
    setTab(id);
  }, []);
  return [tab, open];
}

function tabOf(hash: string): TabId {
  return TAB_IDS.find((id) => `#${id}` === hash) ?? 'unknown';
}
