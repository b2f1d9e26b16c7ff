import { useEffect, useState } from 'react';

/** Most milliseconds to wait for a browser that is never idle. */
const PATIENCE_MS = 1000;

/**
 * False until the page is loaded and the browser has nothing else to do: for what is not seen at first, so that it does
 * not hold up what is.
 */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false);

  useEffect(() => {
    let callOff = (): void => undefined;
    const wait = (): void => {
      callOff = whenIdle(() => setIdle(true));
    };
    if (document.readyState === 'complete') wait();
    else window.addEventListener('load', wait);
    return () => {
      window.removeEventListener('load', wait);
      callOff();
    };
  }, []);

  return idle;
}

/** Safari has no such call. */
function whenIdle(run: () => void): () => void {
  if (typeof window.requestIdleCallback !== 'function') {
    const timer = setTimeout(run);
    return () => clearTimeout(timer);
  }
  const handle = window.requestIdleCallback(run, { timeout: PATIENCE_MS });
  return () => window.cancelIdleCallback(handle);
}
