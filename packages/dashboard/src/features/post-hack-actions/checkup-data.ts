import { eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import { type Checkup, type CheckupNote, checkupSchema } from '@security-optimizer/contract/post-hack/checkup';
import * as z from 'zod/mini';
import type { Config } from '../../api/config.js';
import { type OptionsSource, useSiteZone } from '../../api/options.js';
import { useDateTexts } from '../../api/services.js';
import { tolerant } from '../../api/tolerant.js';
import { getDateTexts } from '../../i18n/date-texts.js';
import { ownersLanguage } from '../../i18n/server-message.js';
import { siteNow, timeOfDay } from '../../i18n/site-time.js';
import { __, sprintf, translate } from '../../i18n/translate.js';

const schema = tolerant(checkupSchema);

/** State and result of the checkup. */
export const checkupSource: OptionsSource<Partial<Checkup>> = {
  key: ['checkup'],
  call: { suffix: '/checkup', body: {} },
  read: (data) => {
    const { data: read } = z.safeParse(schema, data);
    return read === undefined ? {} : translateTexts(read);
  },
};

function translateTexts(read: Checkup): Checkup {
  const { latest } = read;
  if (latest === null) return { ...read, error: translate(read.error) };
  return {
    ...read,
    error: translate(read.error),
    latest: {
      ...latest,
      checks: latest.checks.map((check) => ({
        ...check,
        title: translate(check.title),
        text: translate(check.text),
      })),
      findings: latest.findings.map((finding) => ({
        ...finding,
        title: translate(finding.title),
        text: translate(finding.text),
        fact: translate(finding.fact),
        link_text: translate(finding.link_text),
      })),
      kept: latest.kept.map((kept) => ({ ...kept, title: translate(kept.title) })),
      notes: latest.notes.map((note) => ({
        ...note,
        title: translate(note.title),
        text: translate(note.text),
        link_text: translate(note.link_text),
        items: note.changes?.map(describeChange) ?? note.items.map(translate),
      })),
    },
  };
}

function describeChange({ day, user, words }: NonNullable<CheckupNote['changes']>[number]): string {
  const { object_type: objectType, ...others } = words;
  return `${ownersLanguage.time(day)}, ${user}: ${eventSentence({ ...others, objectType }, ownersLanguage)}`;
}

/** Formats a time as local day and time of the site. */
export function useMoment(): (seconds: number) => string {
  const texts = useDateTexts();
  const zone = useSiteZone();
  const today = siteNow(zone, Date.now()).day;
  return (seconds) => {
    const { day, minutes } = siteNow(zone, seconds * 1000);
    const time = texts.time(timeOfDay(minutes));
    /* translators: %s: a time of day */
    return day === today ? sprintf(__('Today, %s', 'security-optimizer'), time) : `${texts.shortDay(day)}, ${time}`;
  };
}

/** Describes the time of the weekly checkup and its recipients in two sentences. */
export function weeklyHelp(
  { day, time, emails }: Checkup['weekly'],
  { localeSlug }: Pick<Config, 'localeSlug'>,
): readonly [when: string, who: string] {
  const texts = getDateTexts(localeSlug);
  const when = sprintf(
    /* translators: 1: a day of the week, 2: a time of day */
    __('%1$s at %2$s, every week.', 'security-optimizer'),
    texts.weekday(day, 'long'),
    texts.time(time),
  );
  const [first, ...others] = emails;
  if (first === undefined) {
    return [
      when,
      __(
        'The Security Dashboard says so when something appears. Choose under Weekly Reports who gets a mail, too.',
        'security-optimizer',
      ),
    ];
  }
  const who =
    others.length === 0
      ? first
      : /* translators: 1: an e-mail address, 2: number of further addresses */
        sprintf(__('%1$s and %2$d more', 'security-optimizer'), first, others.length);
  /* translators: %s: who gets the mail */
  return [when, sprintf(__('A mail goes to %s when something appears.', 'security-optimizer'), who)];
}
