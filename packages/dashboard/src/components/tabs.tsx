import { type KeyboardEvent, useEffect, useRef } from 'react';
import { __ } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { beforePaint } from './before-paint.js';
import { classes } from './classes.js';
import { placeOf } from './list-keys.js';
import { useTabStrip } from './use-tab-strip.js';

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly text: string;
  /** Counter behind the text, when it is known. */
  readonly count?: string | undefined;
}

export interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  /** Ids of tabs and panels begin with this: `<base>-tab-<id>`, `<base>-panel`. */
  readonly base: string;
  readonly onChange: (id: Id) => void;
}

/** Tabs above what they show. Arrow keys move and open; where they do not fit, buttons at the ends move the strip. */
export function Tabs<Id extends string>({ label, tabs, current, base, onChange }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null);
  const strip = useTabStrip(list);

  const counts = tabs.map(({ count }) => count).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: each tab that is opened is brought into view, and again when a counter moves it
  useEffect(
    () => beforePaint(() => strip.show(list.current?.querySelector('[aria-selected="true"]') ?? null)),
    [current, counts],
  );

  function onKeyDown(event: KeyboardEvent): void {
    const here = tabs.findIndex(({ id }) => id === current);
    const isRtl = document.documentElement.dir === 'rtl';
    const place = placeOf(
      event.key,
      here,
      tabs.length,
      isRtl ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight'],
    );
    const tab = place === null ? undefined : tabs[place];
    if (tab === undefined) return;
    event.preventDefault();
    onChange(tab.id);
    list.current?.querySelectorAll('button')[place ?? 0]?.focus();
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

/** For the pointer only: the keyboard reaches each tab by arrow keys. */
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
