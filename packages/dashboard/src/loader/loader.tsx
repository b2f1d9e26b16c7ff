import { LOADER_DELAY_MS } from '@security-optimizer/contract/limits';
import { createContext, type ReactNode, useCallback, useContext, useSyncExternalStore } from 'react';
import { __ } from '../i18n/translate.js';
import { useServices } from '../services.js';
import { useDelayed } from './use-delayed.js';

/** Whether a loader further up is on the screen. */
const ParentLoader = createContext(false);

export interface LoaderProps {
  /** Names of the requests it stands for; without them it stands for all. */
  readonly requests?: readonly string[];
  readonly delay?: number;
  /** Gets the loader line, or null while there is nothing to show, and puts it where it belongs. */
  readonly children: (line: ReactNode) => ReactNode;
}

/**
 * Shows a thin line while tracked requests run, after a delay. A loader inside a visible one shows nothing
 * (specification section 2), so that two lines never move at the same time.
 */
export function Loader({ requests: names, delay = LOADER_DELAY_MS, children }: LoaderProps) {
  const { requests } = useServices();
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
