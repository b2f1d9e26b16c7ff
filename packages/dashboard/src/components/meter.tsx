import { classes } from './classes.js';

/** Countable segments, the filled ones first. `label` says the same in words. */
export function Meter({ on, total, label }: { readonly on: number; readonly total: number; readonly label: string }) {
  return (
    <span className="so-meter">
      <span className="so-meter__bar" aria-hidden="true">
        {Array.from({ length: total }, (_, place) => place).map((place) => (
          <i key={place} className={classes(place < on && 'is-on') || undefined} />
        ))}
      </span>
      {label}
    </span>
  );
}
