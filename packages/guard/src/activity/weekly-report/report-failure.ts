import { english } from '../../texts/language.js';
import { localTimestamp } from '../local-days.js';
import type { ReportFailure } from './report-sends.js';

/**
 * What the owner is told of reports that did not leave, or null when all is well. English, in the form in which the
 * dashboard finds its translation; the reason is a sentence that is looked up by itself.
 */
export function failureText(failures: readonly ReportFailure[], timeZone: string): string | null {
  const [first, ...others] = failures;
  if (first === undefined) return null;
  const { email } = first;
  const reason = ended(first.reason);
  if (first.nextAt === null) {
    return others.length === 0
      ? english.translate('The report to {email} failed. {reason}', { email, reason })
      : english.translate('The report to {email} and {more} more failed. {reason}', {
          ...{ email, reason, more: others.length },
        });
  }
  const time = localTimestamp(timeZone, first.nextAt / 1000);
  return others.length === 0
    ? english.translate('The report to {email} failed. {reason} We try again at {time}.', { email, reason, time })
    : english.translate('The report to {email} and {more} more failed. {reason} We try again at {time}.', {
        ...{ email, reason, time, more: others.length },
      });
}

function ended(sentence: string): string {
  return /[.…]$/.test(sentence) ? sentence : `${sentence}.`;
}
