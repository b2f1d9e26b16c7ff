import { NOTICE_LIFE_MS } from '@security-optimizer/contract/limits';
import { useEffect, useRef } from 'react';

/** Calls `close` after 7 seconds in all of not being paused. */
export function useAutoClose(active: boolean, paused: boolean, close: () => void): void {
  const left = useRef(NOTICE_LIFE_MS);
  const latestClose = useRef(close);
  latestClose.current = close;
  useEffect(() => {
    if (!active || paused) return;
    const since = Date.now();
    const timer = setTimeout(() => latestClose.current(), left.current);
    return () => {
      clearTimeout(timer);
      left.current = Math.max(0, left.current - (Date.now() - since));
    };
  }, [active, paused]);
}
