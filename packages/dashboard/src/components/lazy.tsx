import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { __ } from '../i18n/translate.js';
import { Button } from './button.js';
import { Note } from './note.js';

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
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    if (failed) return;
    let current = true;
    load().then(
      ({ default: Part }) => current && setLoaded({ Part, of: load }),
      () => current && setFailed(true),
    );
    return () => {
      current = false;
    };
  }, [load, failed]);

  if (loaded?.of === load) return <loaded.Part {...props} />;
  if (!failed) return children;
  return (
    <section className="so-section">
      <Note
        kind="bad"
        action={<Button onClick={() => setFailed(false)}>{__('Try again', 'security-optimizer')}</Button>}
      >
        <p>{__('This could not be loaded. Check your connection and try again.', 'security-optimizer')}</p>
      </Note>
    </section>
  );
}
