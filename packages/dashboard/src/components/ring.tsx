import { __, sprintf } from '../i18n/translate.js';
import { classes } from './classes.js';
import { LARGE_RING, ringSegments, SMALL_RING } from './ring-segments.js';

export interface RingProps {
  readonly on: number;
  readonly total: number;
  readonly small?: boolean;
  readonly state?: 'ok' | 'warn' | 'danger';
}

/** The protection ring: one segment for each essential, filled ones first. */
export function Ring({ on, total, small = false, state = 'ok' }: RingProps) {
  const measures = small ? SMALL_RING : LARGE_RING;
  const { size, stroke } = measures;
  return (
    <div
      className={classes('so-ring', small && 'so-ring--sm', state !== 'ok' && `is-${state}`)}
      role="img"
      aria-label={sprintf(
        /* translators: 1: essentials that are on, 2: all essentials */
        __('%1$d of %2$d essentials on', 'security-optimizer'),
        on,
        total,
      )}
    >
      <svg
        width={size}
        height={size}
        viewBox={`0 0 ${size} ${size}`}
        fill="none"
        strokeWidth={stroke}
        strokeLinecap="round"
        aria-hidden="true"
        focusable="false"
      >
        {ringSegments(total, measures).map((path, place) => (
          <path key={path} className={place < on ? 'so-ring__on' : 'so-ring__off'} d={path} />
        ))}
      </svg>
      <span className="so-ring__label" aria-hidden="true">
        <b className="so-num">{on}</b>
        {small ? null : (
          /* translators: %d: all essentials; stands below the number of those that are on */
          <small>{sprintf(__('of %d', 'security-optimizer'), total)}</small>
        )}
      </span>
    </div>
  );
}
