import { eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import { type Checkup, type CheckupNote, checkupSchema } from '@security-optimizer/contract/post-hack/checkup';
import { checkup } from '@security-optimizer/contract/post-hack/checkup-endpoints';
import { postHackRows } from '@security-optimizer/contract/settings/catalogue';
import { settingSchemas } from '@security-optimizer/contract/settings/options';
import * as z from 'zod/mini';
import { toCall } from '../../api/client.js';
import type { OutcomeMessage } from '../../api/outcome-messages.js';
import { readKnown, tolerant } from '../../api/tolerant-schemas.js';
import { getDateFormats } from '../../i18n/date-formats.js';
import { isRecord } from '../../i18n/locale.js';
import { ownersLanguage } from '../../i18n/server-message.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import type { SettingsSource } from '../settings/settings-query.js';

/** Of a server that does not check every week; its row is not drawn. */
const NO_WEEKLY: Checkup['weekly'] = { weekly_checkup: 0, day: 0, time: '', emails: [] };
const schema = tolerant(checkupSchema, { weekly: NO_WEEKLY });
const settingsSchema = z.object(settingSchemas(postHackRows));

/** State and result of the checkup. */
export const checkupSource: SettingsSource<KnownCheckup> = {
  key: ['checkup'],
  call: toCall(checkup, {}),
  read: (data) => {
    // The response to a change of a setting has only that setting.
    if (!isRecord(data) || !('latest' in data)) return readKnown(settingsSchema, data);
    const { data: read } = z.safeParse(schema, data);
    return read === undefined ? {} : { ...translateTexts(read), ...readKnown(settingsSchema, read.weekly) };
  },
};

/** The checkup, and its settings as the source of settings has them. */
export type KnownCheckup = Partial<Checkup & z.output<typeof settingsSchema>>;

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

/**
 * The message about what could not be removed or restored, in the server's words.
 *
 * @param message empty if nothing is left
 */
export function remainderMessage(message: string): OutcomeMessage | null {
  return message === '' ? null : { type: 'warning', text: translate(message), autoClose: false };
}

/** Describes the time of the weekly checkup and its recipients in two sentences. */
export function weeklyHelp({ day, time, emails }: Checkup['weekly']): readonly [when: string, who: string] {
  const formats = getDateFormats();
  const when = sprintf(
    /* translators: 1: a day of the week, 2: a time of day */
    __('%1$s at %2$s, every week.', 'security-optimizer'),
    formats.weekday(day, 'long'),
    formats.time(time),
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
