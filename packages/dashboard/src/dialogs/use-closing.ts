import { DIALOG_CLOSE_MS } from '@security-optimizer/contract/limits';
import { useCallback, useEffect, useRef, useState } from 'react';

export interface Closing {
  /** The closing animation is running. */
  readonly closing: boolean;
  readonly close: () => void;
}

/** Lets a dialog play its closing animation before it is taken away by `onClosed`. */
export function useClosing(onClosed: () => void): Closing {
  const [closing, setClosing] = useState(false);
  const latest = useRef(onClosed);
  latest.current = onClosed;
  useEffect(() => {
    if (!closing) return;
    const timer = setTimeout(() => latest.current(), DIALOG_CLOSE_MS);
    return () => clearTimeout(timer);
  }, [closing]);
  return { closing, close: useCallback(() => setClosing(true), []) };
}
