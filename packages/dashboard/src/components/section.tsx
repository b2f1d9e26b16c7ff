import { type ReactNode, useId } from 'react';

export interface SectionProps {
  readonly title: string;
  /** Stands at the end of the head line, for example a meter. */
  readonly side?: ReactNode;
  readonly busy?: boolean;
  readonly children: ReactNode;
}

/** A section of a page with its title on the grey, above the card. */
export function Section({ title, side, busy = false, children }: SectionProps) {
  const id = useId();
  return (
    <section className="so-section" aria-labelledby={id} aria-busy={busy || undefined}>
      <div className="so-section__head">
        <h2 id={id}>{title}</h2>
        {side ? <div className="so-section__side">{side}</div> : null}
      </div>
      {children}
    </section>
  );
}
