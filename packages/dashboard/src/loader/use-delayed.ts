import { useEffect, useState } from 'react';

/** True once `active` has been true for `delay` milliseconds without a break; false at once when it ends. */
export function useDelayed(active: boolean, delay: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    if (!active) return;
    const timer = setTimeout(() => setPassed(true), delay);
    return () => {
      clearTimeout(timer);
      setPassed(false);
    };
  }, [active, delay]);
  return active && passed;
}
