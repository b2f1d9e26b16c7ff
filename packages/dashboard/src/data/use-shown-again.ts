import { useEffect, useRef } from 'react';

/** Runs each time that the page comes back on the screen: what it shows may have been changed in another tab meanwhile. */
export function useShownAgain(run: () => void): void {
  const latest = useRef(run);
  latest.current = run;

  useEffect(() => {
    const onChange = (): void => {
      if (document.visibilityState === 'visible') latest.current();
    };
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, []);
}
