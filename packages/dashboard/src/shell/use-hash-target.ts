import { useEffect, useRef } from 'react';

/**
 * Leads to the place that the hash of the page's address names, so that a link can point to a dialog or a row. A hash
 * that `open` knows nothing of leads to the control of the row that carries it as its anchor. It is taken away
 * afterwards: reloading the page should not open the dialog once more.
 *
 * @param ready whether the page has what its places need
 * @param open does what a hash means, given without its `#`; says whether it knew it
 */
export function useHashTarget(ready: boolean, open: (hash: string) => boolean): void {
  const latest = useRef(open);
  latest.current = open;

  useEffect(() => {
    if (!ready) return;
    function lead(): void {
      const hash = window.location.hash.slice(1);
      if (!/^[a-z0-9-]+$/.test(hash)) return;
      if (!latest.current(hash) && !focusRow(hash)) return;
      const { pathname, search } = window.location;
      window.history.replaceState(window.history.state, '', pathname + search);
    }
    lead();
    window.addEventListener('hashchange', lead);
    return () => window.removeEventListener('hashchange', lead);
  }, [ready]);
}

function focusRow(anchor: string): boolean {
  const row = document.querySelector(`[data-anchor="${anchor}"]`);
  const control = row?.querySelector<HTMLElement>('[role="switch"], select, .so-row__ctl button');
  if (!control) return false;
  control.focus();
  row?.scrollIntoView?.({ block: 'center' });
  return true;
}
