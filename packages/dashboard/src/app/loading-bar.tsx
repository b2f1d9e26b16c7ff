import { createContext, type ReactNode, useCallback, useContext, useSyncExternalStore } from 'react';
import { __ } from '../i18n/translate.js';
import { LOADER_DELAY_MS, useDelayed } from '../ui/timing.js';
import { useRequestStore } from './request-lifecycle.js';

/** Whether an outer loader is visible. */
const ParentLoader = createContext(false);

export interface LoaderProps {
  /** Names of the observed requests. Default: all. */
  readonly requests?: readonly string[];
  readonly delay?: number;
  /** Gets the line, or null if there is nothing to show. */
  readonly children: (line: ReactNode) => ReactNode;
}

/**
 * Shows a thin line while tracked requests run, after a delay. Hidden inside another visible loader (specification
 * section 2).
 */
export function Loader({ requests: names, delay = LOADER_DELAY_MS, children }: LoaderProps) {
  const requests = useRequestStore();
  const parentVisible = useContext(ParentLoader);
  const isRunning = useCallback(() => requests.isRunning(names), [requests, names]);
  const running = useSyncExternalStore(requests.subscribe, isRunning);
  const due = useDelayed(running, delay);
  return (
    <ParentLoader value={parentVisible || due}>{children(due && !parentVisible ? <LoaderLine /> : null)}</ParentLoader>
  );
}

function LoaderLine() {
  return (
    <div className="so-loader" role="progressbar" aria-label={__('Loading', 'security-optimizer')}>
      <i />
    </div>
  );
}
