import { useEffect } from 'react';

/** Lets the browser ask before the page is left while `active`: what was typed would be lost. */
export function useLeaveWarning(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    function warn(event: BeforeUnloadEvent): void {
      event.preventDefault();
      // Older browsers ask only when this is set.
      event.returnValue = true;
    }
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [active]);
}
