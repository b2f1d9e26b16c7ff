import { type CSSProperties, type KeyboardEvent, type ReactNode, type RefObject, useRef, useState } from 'react';
import { classes } from '../../../components/classes.js';
import type { DateTexts } from '../../../dates/date-texts.js';
import { partsOf } from '../../../dates/day.js';
import { siteNow, timeOfDay } from '../../../dates/site-now.js';
import { formatNumber } from '../../../i18n/format-number.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { useServices } from '../../../services.js';
import type { Traffic, TrafficBar } from './read-traffic.js';
import { scaleOf } from './scale.js';

export interface TrafficChartProps {
  readonly traffic: Traffic;
  readonly zone: string;
  readonly texts: DateTexts;
  /** Beginning of the bar that alone is shown in the list. */
  readonly marked: number | undefined;
  /** Without it the bars cannot be chosen: they are a picture. */
  readonly onChoose?: ((bar: TrafficBar) => void) | undefined;
}

/** More labels than these would touch each other. */
const MOST_LABELS = 12;
/** So few days are told apart by their weekdays, which fit at every width. */
const WEEK = 7;

/** Stacked bars; each may be a button that filters by its time. Arrow keys move between them. The same as a table for readers. */
export function TrafficChart({ traffic, zone, texts, marked, onChoose }: TrafficChartProps) {
  const { config } = useServices();
  const { bars, step } = traffic;
  const [at, setAt] = useState(bars.length - 1);
  const [shown, setShown] = useState<number | null>(null);
  const group = useRef<HTMLDivElement>(null);
  const current = Math.min(at, bars.length - 1);
  const number = (value: number): string => formatNumber(value, config.localeSlug);
  const scale = scaleOf(Math.max(...bars.map(({ humans, bots, blocked }) => humans + bots + blocked)));
  const top = scale[0] ?? 1;
  const part = (value: number): CSSProperties => ({ height: `${(value / top) * 100}%` });
  const now = siteNow(zone, Date.now());
  const stride = Math.ceil(bars.length / MOST_LABELS);
  const isWeek = step === 'day' && bars.length <= WEEK;

  const hourText = (minutes: number): string => texts.time(timeOfDay(minutes));
  const weekday = (day: string, form: 'long' | 'short'): string => texts.weekday(partsOf(day).weekday, form);
  function longText(bar: TrafficBar): string {
    const { day, minutes } = siteNow(zone, bar.from * 1000);
    const name = `${weekday(day, 'long')} ${texts.shortDay(day)}`;
    return step === 'day' ? name : `${name}, ${hourText(minutes)}`;
  }
  function shortText(bar: TrafficBar): ReactNode {
    const { day, minutes } = siteNow(zone, bar.from * 1000);
    if (step === 'hour') return hourText(minutes);
    if (day === now.day) return __('Today', 'security-optimizer');
    if (!isWeek) return texts.shortDay(day);
    return (
      <>
        {weekday(day, 'short')} <small>{Number(day.slice(8))}</small>
      </>
    );
  }

  function onKeyDown(event: KeyboardEvent): void {
    const forward = document.documentElement.dir === 'rtl' ? -1 : 1;
    const last = bars.length - 1;
    const places: Readonly<Record<string, number>> = {
      ArrowRight: current + forward,
      ArrowLeft: current - forward,
      Home: 0,
      End: last,
    };
    const place = places[event.key];
    if (place === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(place, 0), last);
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
              {number(value)}
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
        {bars.map((bar, place) => {
          const look = {
            className: classes('so-bar', (place === shown || bar.from === marked) && 'is-on'),
            onMouseEnter: () => setShown(place),
            onMouseLeave: () => setShown(null),
          };
          const parts = (
            <>
              <span className="so-bar__stack">
                {bar.blocked > 0 ? <i className="so-key--blocked" style={part(bar.blocked)} /> : null}
                {bar.bots > 0 ? <i className="so-key--bot" style={part(bar.bots)} /> : null}
                {bar.humans > 0 ? <i className="so-key--human" style={part(bar.humans)} /> : null}
              </span>
              {place === shown ? (
                <span className={classes('so-tip so-num', edgeOf(place, bars.length))}>
                  <b>{longText(bar)}</b>
                  <span>
                    {__('Humans', 'security-optimizer')} <em>{number(bar.humans)}</em>
                  </span>
                  <span>
                    {__('Bots', 'security-optimizer')} <em>{number(bar.bots)}</em>
                  </span>
                  <span>
                    {__('Blocked', 'security-optimizer')} <em>{number(bar.blocked)}</em>
                  </span>
                </span>
              ) : null}
            </>
          );
          if (onChoose === undefined) {
            return (
              <div key={bar.from} {...look}>
                {parts}
              </div>
            );
          }
          return (
            <button
              key={bar.from}
              type="button"
              {...look}
              aria-pressed={marked === undefined ? undefined : bar.from === marked}
              tabIndex={place === current ? 0 : -1}
              aria-label={sprintf(
                /* translators: 1: a day or hour, 2: visits by humans, 3: visits by bots, 4: refused visits */
                __('%1$s: %2$s humans, %3$s bots, %4$s blocked. Show only this time.', 'security-optimizer'),
                longText(bar),
                number(bar.humans),
                number(bar.bots),
                number(bar.blocked),
              )}
              onClick={() => onChoose(bar)}
              onFocus={() => {
                setAt(place);
                setShown(place);
              }}
              onBlur={() => setShown(null)}
            >
              {parts}
            </button>
          );
        })}
      </BarGroup>
      <ol className="so-chart__days" aria-hidden="true">
        {bars.map((bar, place) => (
          // Counted from the end, so that the last one always has its label.
          <li key={bar.from} className={isWeek ? undefined : labelClass(bars.length - 1 - place, stride)}>
            {shortText(bar)}
          </li>
        ))}
      </ol>
      <TrafficTable traffic={traffic} timeText={longText} number={number} />
    </div>
  );
}

interface BarGroupProps {
  readonly groupRef: RefObject<HTMLDivElement | null>;
  readonly label: string;
  readonly onKeyDown: ((event: KeyboardEvent) => void) | undefined;
  readonly children: ReactNode;
}

/** Bars that can be chosen are a group of buttons; others are a picture, and the table says the same. */
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

/** The tooltip of the first and the last bars opens inwards, where there is room. */
function edgeOf(place: number, count: number): string | null {
  if (place < count / 6) return 'so-tip--start';
  return place >= count - count / 6 ? 'so-tip--end' : null;
}

/** Which labels are left out always, on narrow screens, and on the narrowest. */
function labelClass(fromEnd: number, stride: number): string | undefined {
  if (fromEnd % stride !== 0) return 'is-hidden';
  const place = fromEnd / stride;
  if (place % 2 === 1) return 'is-second';
  return place % 4 === 2 ? 'is-third' : undefined;
}

interface TrafficTableProps {
  readonly traffic: Traffic;
  readonly timeText: (bar: TrafficBar) => string;
  readonly number: (value: number) => string;
}

function TrafficTable({ traffic, timeText, number }: TrafficTableProps) {
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
              <td>{number(bar.humans)}</td>
              <td>{number(bar.bots)}</td>
              <td>{number(bar.blocked)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
