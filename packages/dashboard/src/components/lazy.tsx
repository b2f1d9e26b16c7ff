import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { __ } from '../i18n/translate.js';
import { Note } from './note.js';
import { RetryButton } from './retry-button.js';

export interface LazyProps<Props> {
  /** Fetches the code; must stay the same function. */
  readonly load: () => Promise<{ readonly default: ComponentType<Props> }>;
  readonly props: Props;
  /** Stands there meanwhile. */
  readonly children: ReactNode;
}

/** A part of a page whose code is fetched when it is first shown. Says so when that fails, and tries again on request. */
export function Lazy<Props extends object>({ load, props, children }: LazyProps<Props>) {
  const [loaded, setLoaded] = useState<{ readonly Part: ComponentType<Props>; readonly of: unknown } | null>(null);
  // The function that failed: what could not be fetched for one part says nothing about the next.
  const [failedLoad, setFailedLoad] = useState<unknown>(null);
  const failed = failedLoad === load;

  useEffect(() => {
    if (failed) return;
    let current = true;
    load().then(
      ({ default: Part }) => current && setLoaded({ Part, of: load }),
      () => current && setFailedLoad(() => load),
    );
    return () => {
      current = false;
    };
  }, [load, failed]);

  if (loaded?.of === load) return <loaded.Part {...props} />;
  if (!failed) return children;
  return (
    <div className="so-section">
      <Note kind="bad" action={<RetryButton onRetry={() => setFailedLoad(null)} />}>
        <p>{__('This could not be loaded. Check your connection and try again.', 'security-optimizer')}</p>
      </Note>
    </div>
  );
}
