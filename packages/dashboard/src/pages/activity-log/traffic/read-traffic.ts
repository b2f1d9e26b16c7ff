import { isFields } from '../../../data/fields.js';

/** Visits of a day or an hour. */
export interface TrafficBar {
  /** Unix seconds; `to` is the beginning of the next. */
  readonly from: number;
  readonly to: number;
  readonly humans: number;
  readonly bots: number;
  readonly blocked: number;
}

export interface Traffic {
  readonly bars: readonly TrafficBar[];
  readonly step: 'day' | 'hour';
  readonly humans: number;
  readonly bots: number;
  readonly blocked: number;
}

/** Reads the answered sums. @returns null when they are not known, or when there was no visit at all */
export function readTraffic(data: unknown): Traffic | null {
  if (!isFields(data)) return null;
  const { bars: sent, step } = data;
  const bars = Array.isArray(sent) ? sent.filter(isBar) : [];
  const sum = (name: 'humans' | 'bots' | 'blocked'): number => bars.reduce((all, bar) => all + bar[name], 0);
  const sums = { humans: sum('humans'), bots: sum('bots'), blocked: sum('blocked') };
  if (sums.humans + sums.bots + sums.blocked === 0) return null;
  return { bars, step: step === 'hour' ? 'hour' : 'day', ...sums };
}

function isBar(value: unknown): value is TrafficBar {
  return isFields(value) && ['from', 'to', 'humans', 'bots', 'blocked'].every((name) => Number.isFinite(value[name]));
}
