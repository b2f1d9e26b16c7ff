import { useEffect, useState } from 'react';

/** Long enough for a browser to notice the empty live region, short enough to stay inside the fade. */
const SETTLE_MS = 50;

/**
 * False for a moment after mounting, then true. A screen reader speaks what changes inside a live region that it
 * already knows; a region that arrives with its text is passed over by some.
 */
export function useFilled(): boolean {
  const [filled, setFilled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setFilled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return filled;
}
