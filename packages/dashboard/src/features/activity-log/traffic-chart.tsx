import type { Traffic, TrafficBar } from '@security-optimizer/contract/activity/schemas';
import { type CSSProperties, type KeyboardEvent, type ReactNode, type RefObject, useId, useRef, useState } from 'react';
import { type DateFormats, getDateFormats } from '../../i18n/date-formats.js';
import { countDays, siteDay, siteNow, timeOfDay, toDayParts } from '../../i18n/days.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { useSiteTimeZone } from '../settings/use-settings.js';

export interface TrafficCardProps {
  readonly traffic: Traffic;
  /** Whether the owner chose the period; otherwise it covers the whole log. */
  readonly chosen: boolean;
  /** Start of the hour in the filter, Unix seconds. */
  readonly marked: number | undefined;
  readonly onChoose: (bar: TrafficBar, step: 'day' | 'hour') => void;
  readonly links?: TrafficLinks | undefined;
}

/** Links of the legend: the log, filtered by the counted visits. */
export interface TrafficLinks {
  readonly blocked: TrafficLink;
  readonly bot: TrafficLink;
  readonly human: TrafficLink;
}

export interface TrafficLink {
  readonly href: string;
  /** Filters the list; without it the link is followed. */
  readonly onOpen?: (() => void) | undefined;
}

/** Traffic of the period above the list. */
export default function TrafficCard({ traffic, chosen, marked, onChoose, links }: TrafficCardProps) {
  const formats = getDateFormats();
  const zone = useSiteTimeZone();
  const id = useId();
  const first = siteDay(zone, traffic.bars[0]?.from ?? 0);
  const last = siteDay(zone, (traffic.bars[traffic.bars.length - 1]?.to ?? 1) - 1);
  const days = countDays(first, last);

  return (
    <section className="so-card" aria-labelledby={id}>
      <div className="so-card__head so-card__head--flush">
        <h2 id={id}>{__('Traffic', 'security-optimizer')}</h2>
        <span className="so-muted">
          {chosen
            ? periodText(formats.shortDate(first), formats.shortDate(last))
            : /* translators: %d: number of days */
              sprintf(_n('Last %d day', 'Last %d days', days, 'security-optimizer'), days)}
        </span>
      </div>
      <TrafficBody
        traffic={traffic}
        tall
        marked={marked}
        onChoose={(bar) => onChoose(bar, traffic.step)}
        links={links}
      />
    </section>
  );
}

function periodText(first: string, last: string): string {
  return first === last ? first : `${first} – ${last}`;
}

export interface TrafficBodyProps {
  readonly traffic: Traffic;
  readonly tall?: boolean;
  /** Start of the hour in the filter, Unix seconds. */
  readonly marked?: number | undefined;
  /** Without it the bars are not buttons. */
  readonly onChoose?: (bar: TrafficBar) => void;
  readonly links?: TrafficLinks | undefined;
}

/** Totals of a period and its chart. */
export function TrafficBody({ traffic, tall = false, marked, onChoose, links }: TrafficBodyProps) {
  const formats = getDateFormats();
  const zone = useSiteTimeZone();
  const totals = [
    { kind: 'blocked', text: __('Blocked', 'security-optimizer'), value: traffic.blocked, link: links?.blocked },
    { kind: 'bot', text: __('Bots', 'security-optimizer'), value: traffic.bots, link: links?.bot },
    { kind: 'human', text: __('Humans', 'security-optimizer'), value: traffic.humans, link: links?.human },
  ];
  return (
    <div className={classes('so-traffic', tall && 'so-traffic--tall')}>
      <ul className="so-traffic__sums so-num">
        {totals.map(({ kind, text, value, link }) => {
          const parts = (
            <>
              <span className={`so-key so-key--${kind}`} />
              <span>{text}</span> <b>{formatNumber(value)}</b>
            </>
          );
          return <li key={kind}>{link === undefined ? parts : <KeyLink {...link}>{parts}</KeyLink>}</li>;
        })}
      </ul>
      <TrafficChart traffic={traffic} zone={zone} formats={formats} marked={marked} onChoose={onChoose} />
    </div>
  );
}

function KeyLink({ href, onOpen, children }: TrafficLink & { readonly children: ReactNode }) {
  return (
    <a
      href={href}
      onClick={(event) => {
        // Other keys open a new tab or save the link.
        if (onOpen === undefined || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen();
      }}
    >
      {children}
    </a>
  );
}

interface TrafficChartProps {
  readonly traffic: Traffic;
  readonly zone: string;
  readonly formats: DateFormats;
  /** Start of the bar in the filter, Unix seconds. */
  readonly marked: number | undefined;
  /** Without it the bars are not buttons. */
  readonly onChoose?: ((bar: TrafficBar) => void) | undefined;
}

/** Maximum number of labels that do not overlap. */
const MAX_LABELS = 12;
/** Up to this many days are labelled with weekdays, which fit at every width. */
const WEEK = 7;

/**
 * Stacked bars. With `onChoose` they are buttons that filter by their time; arrow keys move between them. A hidden
 * table has the same data for screen readers.
 */
function TrafficChart({ traffic, zone, formats, marked, onChoose }: TrafficChartProps) {
  const { bars, step } = traffic;
  const [at, setAt] = useState(bars.length - 1);
  const [shown, setShown] = useState<number | null>(null);
  const group = useRef<HTMLDivElement>(null);
  const current = Math.min(at, bars.length - 1);
  const scale = getScale(Math.max(...bars.map(({ humans, bots, blocked }) => humans + bots + blocked)));
  const top = scale[0] ?? 1;
  const part = (value: number): CSSProperties => ({ height: `${(value / top) * 100}%` });
  const now = siteNow(zone, Date.now());
  const stride = Math.ceil(bars.length / MAX_LABELS);
  const isWeek = step === 'day' && bars.length <= WEEK;

  const hourText = (minutes: number): string => formats.time(timeOfDay(minutes));
  const weekday = (day: string, form: 'long' | 'short'): string => formats.weekday(toDayParts(day).weekday, form);
  function longText(bar: TrafficBar): string {
    const { day, minutes } = siteNow(zone, bar.from * 1000);
    const name = `${weekday(day, 'long')} ${formats.shortDay(day)}`;
    return step === 'day' ? name : `${name}, ${hourText(minutes)}`;
  }
  function shortText(bar: TrafficBar): ReactNode {
    const { day, minutes } = siteNow(zone, bar.from * 1000);
    if (step === 'hour') return hourText(minutes);
    if (day === now.day) return __('Today', 'security-optimizer');
    if (!isWeek) return formats.shortDay(day);
    return (
      <>
        {weekday(day, 'short')} <small>{Number(day.slice(8))}</small>
      </>
    );
  }

  function onKeyDown(event: KeyboardEvent): void {
    const forward = document.documentElement.dir === 'rtl' ? -1 : 1;
    const last = bars.length - 1;
    const indices: Readonly<Record<string, number>> = {
      ArrowRight: current + forward,
      ArrowLeft: current - forward,
      Home: 0,
      End: last,
    };
    const index = indices[event.key];
    if (index === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(index, 0), last);
    setAt(next);
    group.current?.querySelectorAll('button')[next]?.focus();
  }

  return (
    <div className="so-chart">
      <div className="so-chart__grid so-num" aria-hidden="true">
        {scale.map((value, line) => {
          const style = { top: `${(line / (scale.length - 1)) * 100}%` };
          return [
            <i key={`line-${value}`} style={style} />,
            <span key={value} style={style}>
              {formatNumber(value)}
            </span>,
          ];
        })}
      </div>
      <BarGroup
        groupRef={group}
        label={
          step === 'day' ? __('Traffic by day', 'security-optimizer') : __('Traffic by hour', 'security-optimizer')
        }
        onKeyDown={onChoose && onKeyDown}
      >
        {bars.map((bar, index) => {
          const barProps = {
            className: classes('so-bar', (index === shown || bar.from === marked) && 'is-on'),
            onMouseEnter: () => setShown(index),
            onMouseLeave: () => setShown(null),
          };
          const parts = (
            <>
              <span className="so-bar__stack">
                {bar.blocked > 0 ? <i className="so-key--blocked" style={part(bar.blocked)} /> : null}
                {bar.bots > 0 ? <i className="so-key--bot" style={part(bar.bots)} /> : null}
                {bar.humans > 0 ? <i className="so-key--human" style={part(bar.humans)} /> : null}
              </span>
              {index === shown ? (
                <span className={classes('so-tip so-num', getEdgeClass(index, bars.length))}>
                  <b>{longText(bar)}</b>
                  <span>
                    {__('Humans', 'security-optimizer')} <em>{formatNumber(bar.humans)}</em>
                  </span>
                  <span>
                    {__('Bots', 'security-optimizer')} <em>{formatNumber(bar.bots)}</em>
                  </span>
                  <span>
                    {__('Blocked', 'security-optimizer')} <em>{formatNumber(bar.blocked)}</em>
                  </span>
                </span>
              ) : null}
            </>
          );
          if (onChoose === undefined) {
            return (
              <div key={bar.from} {...barProps}>
                {parts}
              </div>
            );
          }
          return (
            <button
              key={bar.from}
              type="button"
              {...barProps}
              aria-pressed={marked === undefined ? undefined : bar.from === marked}
              tabIndex={index === current ? 0 : -1}
              aria-label={sprintf(
                /* translators: 1: a day or hour, 2: visits by humans, 3: visits by bots, 4: refused visits */
                __('%1$s: %2$s humans, %3$s bots, %4$s blocked. Show only this time.', 'security-optimizer'),
                longText(bar),
                formatNumber(bar.humans),
                formatNumber(bar.bots),
                formatNumber(bar.blocked),
              )}
              onClick={() => onChoose(bar)}
              onFocus={() => {
                setAt(index);
                setShown(index);
              }}
              onBlur={() => setShown(null)}
            >
              {parts}
            </button>
          );
        })}
      </BarGroup>
      <ol className="so-chart__days" aria-hidden="true">
        {bars.map((bar, index) => (
          // Count from the end, so that the last bar always has a label.
          <li key={bar.from} className={isWeek ? undefined : labelClass(bars.length - 1 - index, stride)}>
            {shortText(bar)}
          </li>
        ))}
      </ol>
      <TrafficTable traffic={traffic} timeText={longText} />
    </div>
  );
}

interface BarGroupProps {
  readonly groupRef: RefObject<HTMLDivElement | null>;
  readonly label: string;
  readonly onKeyDown: ((event: KeyboardEvent) => void) | undefined;
  readonly children: ReactNode;
}

/** Bars with `onChoose` are a group of buttons; others are hidden from screen readers, which use the table. */
function BarGroup({ groupRef, label, onKeyDown, children }: BarGroupProps) {
  if (onKeyDown === undefined) {
    return (
      <div className="so-chart__bars" aria-hidden="true">
        {children}
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form
    <div ref={groupRef} className="so-chart__bars" role="group" aria-label={label} onKeyDown={onKeyDown}>
      {children}
    </div>
  );
}

/** Aligns the tooltips of the outer bars inwards. */
function getEdgeClass(index: number, count: number): string | null {
  // On a phone a tooltip at the centre of an outer bar would extend beyond the card.
  const edge = count <= WEEK ? count / 6 : count / 3;
  if (index < edge) return 'so-tip--start';
  return index >= count - edge ? 'so-tip--end' : null;
}

/** Classes for labels that are always hidden, hidden on narrow screens, and on the narrowest. */
function labelClass(fromEnd: number, stride: number): string | undefined {
  if (fromEnd % stride !== 0) return 'is-hidden';
  const index = fromEnd / stride;
  if (index % 2 === 1) return 'is-second';
  return index % 4 === 2 ? 'is-third' : undefined;
}

interface TrafficTableProps {
  readonly traffic: Traffic;
  readonly timeText: (bar: TrafficBar) => string;
}

function TrafficTable({ traffic, timeText }: TrafficTableProps) {
  return (
    <div className="so-vh">
      <table>
        <caption>{__('Traffic', 'security-optimizer')}</caption>
        <thead>
          <tr>
            <th scope="col">{__('Time', 'security-optimizer')}</th>
            <th scope="col">{__('Humans', 'security-optimizer')}</th>
            <th scope="col">{__('Bots', 'security-optimizer')}</th>
            <th scope="col">{__('Blocked', 'security-optimizer')}</th>
          </tr>
        </thead>
        <tbody>
          {traffic.bars.map((bar) => (
            <tr key={bar.from}>
              <th scope="row">{timeText(bar)}</th>
              <td>{formatNumber(bar.humans)}</td>
              <td>{formatNumber(bar.bots)}</td>
              <td>{formatNumber(bar.blocked)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Number of lines above zero. */
const LINES = 3;
const ROUND = [1, 2, 4, 5, 10];

/**
 * Returns round values for the lines of the scale, highest first.
 *
 * @param max the highest value to show, an integer
 */
export function getScale(max: number): readonly number[] {
  const minStep = Math.max(1, Math.ceil(max / LINES));
  const power = 10 ** Math.floor(Math.log10(minStep));
  const step = (ROUND.find((round) => round * power >= minStep) ?? 10) * power;
  return Array.from({ length: LINES + 1 }, (_, line) => (LINES - line) * step);
}

/** Traffic on the Security Dashboard, above the newest rows. */
export function RecentTraffic({ traffic, links }: Pick<TrafficBodyProps, 'traffic' | 'links'>) {
  return (
    <>
      <TrafficBody traffic={traffic} links={links} />
      <div className="so-card__sep" />
    </>
  );
}
