import type { ReactNode } from 'react';
import { __, sprintf } from '../i18n/translate.js';
import { classes } from './dom.js';

export interface RingProps {
  readonly on: number;
  readonly total: number;
  /** Both numbers in words. */
  readonly label: string;
  readonly small?: boolean;
  readonly state?: 'ok' | 'warn' | 'danger';
}

/** A ring of segments, filled ones first. */
export function Ring({ on, total, label, small = false, state = 'ok' }: RingProps) {
  const measures = small ? SMALL_RING : LARGE_RING;
  const { size, stroke } = measures;
  return (
    <div
      className={classes('so-ring', small && 'so-ring--sm', state !== 'ok' && `is-${state}`)}
      role="img"
      aria-label={label}
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
        {ringSegments(total, measures).map((path, index) => (
          <path key={path} className={index < on ? 'so-ring__on' : 'so-ring__off'} d={path} />
        ))}
      </svg>
      <span className="so-ring__label" aria-hidden="true">
        <b className="so-num">{on}</b>
        {small ? null : (
          /* translators: %d: the whole number; stands below the number of what is done */
          <small>{sprintf(__('of %d', 'security-optimizer'), total)}</small>
        )}
      </span>
    </div>
  );
}

export interface RingSize {
  /** Outer size and stroke in CSS pixels, and the gap between two segments. */
  readonly size: number;
  readonly stroke: number;
  readonly gap: number;
}

const LARGE_RING: RingSize = { size: 116, stroke: 9, gap: 4 };
export const SMALL_RING: RingSize = { size: 44, stroke: 4.5, gap: 3.2 };

/**
 * Path data of the segments of a ring, clockwise from the top. Each is 2πr/n long, less one stroke (its round caps) and
 * the gap, which are split between both ends.
 */
export function ringSegments(count: number, { size, stroke, gap }: RingSize): string[] {
  const centre = size / 2;
  // Leave one pixel to the edge of the box.
  const radius = centre - stroke / 2 - 1;
  const segmentAngle = (2 * Math.PI) / count;
  const missing = (stroke + gap) / radius;
  const point = (angle: number): string =>
    `${(centre + radius * Math.sin(angle)).toFixed(2)} ${(centre - radius * Math.cos(angle)).toFixed(2)}`;
  return Array.from({ length: count }, (_, index) => {
    const from = index * segmentAngle + missing / 2;
    const to = (index + 1) * segmentAngle - missing / 2;
    return `M${point(from)}A${radius} ${radius} 0 0 1 ${point(to)}`;
  });
}

/** A bar of segments, filled ones first. `label` has the numbers in words. */
export function Meter({
  on,
  total,
  label,
  warn = false,
}: {
  readonly on: number;
  readonly total: number;
  readonly label: ReactNode;
  /** Whether something is left to do. */
  readonly warn?: boolean;
}) {
  return (
    <span className={classes('so-meter', warn && 'is-warn')}>
      <span className="so-meter__bar" aria-hidden="true">
        {Array.from({ length: total }, (_, index) => index).map((index) => (
          <i key={index} className={classes(index < on && 'is-on') || undefined} />
        ))}
      </span>
      {label}
    </span>
  );
}
