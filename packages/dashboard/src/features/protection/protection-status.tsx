import { type PageId, pages } from '@security-optimizer/contract/pages';
import { useServices } from '../../api/services.js';
import { __, sprintf } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { Meter } from '../../ui/section.js';
import { type EssentialsCount, getVerdict, useEssentials } from './essentials.js';

/** Short protection status with a link to the Security Dashboard. */
export function ProtectionStatus({ page }: { readonly page: PageId }) {
  const { config } = useServices();
  const essentials = useEssentials(page);
  if (essentials === null || page === 'SECURITY_DASHBOARD') return null;
  // Reserves its space: the header would grow later.
  if (essentials === undefined) return <div className="so-status-wait" aria-hidden="true" />;

  const { text, state } = getVerdict(essentials);
  const content = (
    <>
      <Ring small on={essentials.on} total={essentials.total} state={state} />
      <span className="so-status__text">
        <b>{text}</b>
        <small>{essentialsText(essentials)}</small>
      </span>
    </>
  );
  const slug = pages.find(({ id }) => id === 'SECURITY_DASHBOARD')?.slug;
  const dashboard = config.pages.find((item) => item.slug === slug);
  if (dashboard === undefined) return <div className="so-status">{content}</div>;
  return (
    <a className="so-status" href={dashboard.url}>
      {content}
      <Icon name="chevron-right" size={16} />
    </a>
  );
}

/** Number of essentials of a section that are on. */
export function EssentialsMeter({ on, total }: EssentialsCount) {
  return <Meter on={on} total={total} label={essentialsText({ on, total })} />;
}

export function essentialsText({ on, total }: EssentialsCount): string {
  return sprintf(
    /* translators: 1: essentials that are on, 2: all essentials */
    __('%1$d of %2$d essentials on', 'security-optimizer'),
    on,
    total,
  );
}

export interface RingProps {
  readonly on: number;
  readonly total: number;
  readonly small?: boolean;
  readonly state?: 'ok' | 'warn' | 'danger';
}

/** The protection ring: a segment for each essential, filled ones first. */
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
        {ringSegments(total, measures).map((path, index) => (
          <path key={path} className={index < on ? 'so-ring__on' : 'so-ring__off'} d={path} />
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

export interface RingSize {
  /** Outer size and stroke in CSS pixels, and the gap between two segments. */
  readonly size: number;
  readonly stroke: number;
  readonly gap: number;
}

export const LARGE_RING: RingSize = { size: 116, stroke: 9, gap: 4 };
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
