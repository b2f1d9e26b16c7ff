import { type KeyboardEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { __ } from '../i18n/translate.js';
import { classes, getNextIndex, onNextFrame } from './dom.js';
import { Icon } from './icon.js';
import { RESIZE_DEBOUNCE_MS } from './timing.js';

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly text: string;
  /** Counter after the text, once it is known. */
  readonly count?: string | undefined;
}

export interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  /** Prefix of the ids of tabs and panel: `<base>-tab-<id>`, `<base>-panel`. */
  readonly base: string;
  readonly onChange: (id: Id) => void;
}

/** A tab list. Arrow keys move and open; arrow buttons scroll a strip that is too long. */
export function Tabs<Id extends string>({ label, tabs, current, base, onChange }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null);
  const strip = useTabStrip(list);

  const counts = tabs.map(({ count }) => count).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: an opened tab is scrolled into view, also after a counter has moved it
  useEffect(
    () => onNextFrame(() => strip.show(list.current?.querySelector('[aria-selected="true"]') ?? null)),
    [current, counts],
  );

  function onKeyDown(event: KeyboardEvent): void {
    const currentIndex = tabs.findIndex(({ id }) => id === current);
    const isRtl = document.documentElement.dir === 'rtl';
    const index = getNextIndex(
      event.key,
      currentIndex,
      tabs.length,
      isRtl ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight'],
    );
    const tab = index === null ? undefined : tabs[index];
    if (tab === undefined) return;
    event.preventDefault();
    onChange(tab.id);
    list.current?.querySelectorAll('button')[index ?? 0]?.focus();
  }

  return (
    <div className="so-tabs">
      <div className="so-tabs__list" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ id, text, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${base}-tab-${id}`}
            className={classes('so-tab', id === current && 'is-on')}
            aria-selected={id === current}
            aria-controls={id === current ? `${base}-panel` : undefined}
            tabIndex={id === current ? 0 : -1}
            onClick={() => onChange(id)}
          >
            {text}
            {count === undefined ? null : <span className="so-badge so-num"> {count}</span>}
          </button>
        ))}
      </div>
      {strip.more.start ? <Arrow end="start" onClick={() => strip.move(-1)} /> : null}
      {strip.more.end ? <Arrow end="end" onClick={() => strip.move(1)} /> : null}
    </div>
  );
}

/** For pointers only; the keyboard uses arrow keys. */
function Arrow({ end, onClick }: { readonly end: 'start' | 'end'; readonly onClick: () => void }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      className={`so-tabs__arrow so-tabs__arrow--${end === 'start' ? 'l' : 'r'}`}
      aria-label={
        end === 'start' ? __('Show earlier tabs', 'security-optimizer') : __('Show more tabs', 'security-optimizer')
      }
      onClick={onClick}
    >
      <Icon name={end === 'start' ? 'chevron-left' : 'chevron-right'} />
    </button>
  );
}

/** Distance that an arrow button scrolls, CSS pixels (specification section 9). */
const STEP = 40;
/** Width of an arrow button and its shade, which cover the strip. */
const ARROW = 56;

interface TabStrip {
  /** Ends of the strip where tabs are hidden. */
  readonly more: { readonly start: boolean; readonly end: boolean };
  /** @param direction 1 towards the last tab, -1 towards the first */
  readonly move: (direction: 1 | -1) => void;
  /** Scrolls a tab into view without scrolling the page. */
  readonly show: (tab: Element | null) => void;
}

/**
 * A strip that scrolls sideways. Uses positions on the screen, because browsers count scrolling in right-to-left
 * differently.
 */
function useTabStrip(list: RefObject<HTMLElement | null>): TabStrip {
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

  // Measure after each render: a new counter makes the tabs wider.
  useEffect(() => onNextFrame(measure));

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
      const box = tab.getBoundingClientRect();
      if (box.right > frame.right - ARROW) element.scrollLeft += box.right - frame.right + ARROW;
      else if (box.left < frame.left + ARROW) element.scrollLeft += box.left - frame.left - ARROW;
    },
  };
}
