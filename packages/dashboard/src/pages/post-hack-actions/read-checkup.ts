import { eventSentence } from '@security-optimizer/contract/activity-kinds';
import type { CheckupFinding } from '@security-optimizer/contract/post-hack';
import { isFields, textOf, textsOf } from '../../data/fields.js';
import { translate } from '../../i18n/translate.js';

/** A part of the checkup with what was found. */
export interface CheckupPart {
  readonly part: string;
  readonly title: string;
  /** Why it could not be looked at; empty when it was. */
  readonly error: string;
  readonly findings: readonly CheckupFinding[];
}

const LEVELS: readonly CheckupFinding['level'][] = ['problem', 'note', 'fine'];

/** Reads the answer of the checkup; null when nothing of it can be used. */
export function readCheckup(data: unknown): CheckupPart[] | null {
  if (!isFields(data) || !Array.isArray(data.parts)) return null;
  const parts = data.parts.filter(isFields).map((part) => ({
    part: textOf(part.part),
    title: translate(textOf(part.title)),
    error: translate(textOf(part.error)),
    findings: Array.isArray(part.findings) ? part.findings.map(readFinding).filter((found) => found !== null) : [],
  }));
  return parts.length === 0 ? null : parts;
}

function readFinding(data: unknown): CheckupFinding | null {
  if (!isFields(data)) return null;
  return {
    id: textOf(data.id),
    // What is not understood should rather be looked at.
    level: LEVELS.find((level) => level === data.level) ?? 'note',
    title: translate(textOf(data.title)),
    text: translate(textOf(data.text)),
    link: textOf(data.link),
    link_text: translate(textOf(data.link_text)),
    items: textsOf(data.items).map(translateItem),
  };
}

/** A change begins with its day and who made it; a file is no text and stays as it is. */
function translateItem(item: string): string {
  const [, day = '', who = '', rest = item] = /^(\d{4}-\d\d-\d\d)(, [^:]*: )([\s\S]*)$/.exec(item) ?? [];
  const head = translate(day) + who;
  const [, object, before = '', after = ''] = CHANGE.exec(rest) ?? [];
  if (object === undefined) return head + translate(rest);
  const words = {
    kind: 'option.changed',
    object,
    objectType: '',
    before: storedValue(before),
    after: storedValue(after),
  };
  return head + eventSentence(words, translate);
}

/** How guard tells a change of a setting; see the contract's `activityKinds`. */
const CHANGE = /^Changed the setting “([\s\S]*?)” from ([\s\S]*?) to ([\s\S]*)$/;

function storedValue(told: string): string {
  return told === 'nothing' ? '' : told;
}
