export interface RingSize {
  /** Outer size and stroke in CSS pixels, and the gap between two segments. */
  readonly size: number;
  readonly stroke: number;
  readonly gap: number;
}

export const LARGE_RING: RingSize = { size: 116, stroke: 9, gap: 4 };
export const SMALL_RING: RingSize = { size: 44, stroke: 4.5, gap: 3.2 };

/**
 * Path data of the segments of a ring, clockwise from the top. Each is 2πr/n long, less one stroke (its round
 * caps) and the gap; half of what is left out stands at either end.
 */
export function ringSegments(count: number, { size, stroke, gap }: RingSize): string[] {
  const centre = size / 2;
  // The outer edge keeps one pixel of distance to the box.
  const radius = centre - stroke / 2 - 1;
  const whole = (2 * Math.PI) / count;
  const missing = (stroke + gap) / radius;
  const point = (angle: number): string =>
    `${(centre + radius * Math.sin(angle)).toFixed(2)} ${(centre - radius * Math.cos(angle)).toFixed(2)}`;
  return Array.from({ length: count }, (_, index) => {
    const from = index * whole + missing / 2;
    const to = (index + 1) * whole - missing / 2;
    return `M${point(from)}A${radius} ${radius} 0 0 1 ${point(to)}`;
  });
}
