import { type ReactNode, useId } from 'react';
import { classes } from './dom.js';

export interface SectionProps {
  readonly title: string;
  /** Shown at the end of the heading, for example a meter. */
  readonly side?: ReactNode;
  readonly busy?: boolean;
  /** Whether it is beside another section and its card has the same height. */
  readonly stacked?: boolean;
  readonly children: ReactNode;
}

/** A section of a page with its title above the card. */
export function Section({ title, side, busy = false, stacked = false, children }: SectionProps) {
  const id = useId();
  return (
    <section
      className={classes('so-section', stacked && 'so-stack')}
      aria-labelledby={id}
      aria-busy={busy || undefined}
    >
      <div className="so-section__head">
        <h2 id={id}>{title}</h2>
        {side ? <div className="so-section__side">{side}</div> : null}
      </div>
      {children}
    </section>
  );
}
