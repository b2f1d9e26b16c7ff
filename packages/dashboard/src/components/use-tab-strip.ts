import { RESIZE_DEBOUNCE_MS } from '@security-optimizer/contract/limits';
import { type RefObject, useCallback, useEffect, useState } from 'react';
import { beforePaint } from './before-paint.js';

/** How far an arrow moves the strip, CSS pixels (specification section 9). */
const STEP = 40;
/** Width of an arrow, which lies above the strip, with the shade beside it. */
const ARROW = 56;

export interface TabStrip {
  /** At which ends tabs are out of sight. */
  readonly more: { readonly start: boolean; readonly end: boolean };
  /** @param direction 1 towards the last tab, -1 towards the first */
  readonly move: (direction: 1 | -1) => void;
  /** Brings a tab into view, without moving the page. */
  readonly show: (tab: Element | null) => void;
}

/** A strip that scrolls sideways. All is measured on the screen, since browsers count scrolling in RTL differently. */
export function useTabStrip(list: RefObject<HTMLElement | null>): TabStrip {
  const [more, setMore] = useState({ start: false, end: false });

  const measure = useCallback(() => {
    const element = list.current;
    const [first, last] = [element?.firstElementChild, element?.lastElementChild];
    if (!element || !first || !last) return;
    const isRtl = document.documentElement.dir === 'rtl';
    const frame = element.getBoundingClientRect();
    const left = (isRtl ? last : first).getBoundingClientRect().left < frame.left - 1;
    const right = (isRtl ? first : last).getBoundingClientRect().right > frame.right + 1;
    const next = isRtl ? { start: right, end: left } : { start: left, end: right };
    setMore((before) => (before.start === next.start && before.end === next.end ? before : next));
  }, [list]);

  // Also after each drawing: a counter that arrives makes the tabs wider.
  useEffect(() => beforePaint(measure));

  useEffect(() => {
    const element = list.current;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onResize = (): void => {
      clearTimeout(timer);
      timer = setTimeout(measure, RESIZE_DEBOUNCE_MS);
    };
    element?.addEventListener('scroll', measure);
    window.addEventListener('resize', onResize);
    return () => {
      clearTimeout(timer);
      element?.removeEventListener('scroll', measure);
      window.removeEventListener('resize', onResize);
    };
  }, [list, measure]);

  return {
    more,
    move(direction) {
      const forward = document.documentElement.dir === 'rtl' ? -1 : 1;
      if (list.current) list.current.scrollLeft += direction * forward * STEP;
      measure();
    },
    show(tab) {
      const element = list.current;
      if (element === null || tab === null) return;
      const frame = element.getBoundingClientRect();
      const place = tab.getBoundingClientRect();
      if (place.right > frame.right - ARROW) element.scrollLeft += place.right - frame.right + ARROW;
      else if (place.left < frame.left + ARROW) element.scrollLeft += place.left - frame.left - ARROW;
    },
  };
}
