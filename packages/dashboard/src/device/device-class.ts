import { PHONE_MAX_WIDTH, TABLET_MAX_WIDTH } from '@security-optimizer/contract/limits';

export type DeviceClass = 'phone' | 'tablet' | 'desktop';

/** Device class of a width in CSS pixels (specification section 2). */
export function deviceClass(width: number): DeviceClass {
  if (width <= PHONE_MAX_WIDTH) return 'phone';
  return width <= TABLET_MAX_WIDTH ? 'tablet' : 'desktop';
}
