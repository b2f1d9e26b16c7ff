import { localTimestamp } from '../local-days.js';
import type { ReportFailure } from './report-sends.js';

/** What the owner is told of reports that did not leave, or null when all is well. */
export function failureText(failures: readonly ReportFailure[], timeZone: string): string | null {
  const [first, ...others] = failures;
  if (first === undefined) return null;
  const who = others.length === 0 ? first.email : `${first.email} and ${others.length} more`;
  const next = first.nextAt === null ? '' : ` We try again at ${localTimestamp(timeZone, first.nextAt / 1000)}.`;
  return `The report to ${who} failed. ${ended(first.reason)}${next}`;
}

function ended(sentence: string): string {
  return /[.…]$/.test(sentence) ? sentence : `${sentence}.`;
}
