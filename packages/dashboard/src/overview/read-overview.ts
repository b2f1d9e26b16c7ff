import type { Ebook, HardeningItem, Notification } from '@security-optimizer/contract/overview';
import type { Phrase } from '@security-optimizer/contract/say-phrase';
import { type Fields, isFields, textOf } from '../data/fields.js';
import { readFlag } from '../options/read-flag.js';

/** What a text says in parts, so that it can be said in another language. */
export interface ReadNotification extends Omit<Notification, 'phrases'> {
  readonly phrases: { readonly title: Phrase | null; readonly text: Phrase | null };
}

/** What the prompt for a review needs. */
export interface RateState {
  readonly show: boolean;
  /** Where a review is written; '' when the provider named no place. */
  readonly link: string;
}

/** Figures below the score; one that is not known is left out. */
export interface Facts {
  readonly blocked?: number;
  readonly block_list?: number;
  readonly failed_logins?: number;
}

/** Reads the answered notifications. One without a title says nothing and is left out. */
export function readNotifications(data: unknown): readonly ReadNotification[] {
  return list(data).flatMap((item, place) => {
    if (textOf(item.title) === '') return [];
    const level = item.level === 'danger' || item.level === 'info' ? item.level : 'warning';
    const parts = isFields(item.phrases) ? item.phrases : {};
    const phrases = { title: readPhrase(parts.title), text: readPhrase(parts.text) };
    return [{ ...linked(item), id: textOf(item.id) || `notice-${place}`, level, phrases }];
  });
}

/** Reads the answered cards. The specification's own fields are enough; the count is an extra. */
export function readHardening(data: unknown): readonly HardeningItem[] {
  return list(data).flatMap((item, place) => {
    if (textOf(item.title) === '') return [];
    const [on, total] = [whole(item.on), whole(item.total)];
    return [
      {
        ...linked(item),
        id: textOf(item.id) || `card-${place}`,
        icon: textOf(item.icon) || 'shield',
        on: on ?? 0,
        total: on === undefined ? 0 : (total ?? 0),
      },
    ];
  });
}

/** @returns null when there is none */
export function readEbook(data: unknown): Ebook | null {
  if (!isFields(data) || textOf(data.title) === '') return null;
  return { title: textOf(data.title), link: textOf(data.link), text: textOf(data.text), image: textOf(data.image) };
}

export function readRate(data: unknown): RateState {
  if (!isFields(data)) return { show: false, link: '' };
  return { show: readFlag(data.show) === 1, link: textOf(data.link) };
}

export function readFacts(data: unknown): Facts {
  const facts: Record<string, number> = {};
  if (!isFields(data)) return facts;
  for (const name of ['blocked', 'block_list', 'failed_logins']) {
    const value = whole(data[name]);
    if (value !== undefined) facts[name] = value;
  }
  return facts;
}

function readPhrase(value: unknown): Phrase | null {
  if (!isFields(value) || textOf(value.text) === '' || !isFields(value.words)) return null;
  return {
    text: textOf(value.text),
    plural: textOf(value.plural) || null,
    count: whole(value.count) ?? null,
    words: Object.fromEntries(Object.entries(value.words).map(([name, word]) => [name, textOf(word)])),
  };
}

function linked(item: Fields) {
  return {
    title: textOf(item.title),
    text: textOf(item.text),
    button_link: textOf(item.button_link),
    button_text: textOf(item.button_text),
  };
}

function list(data: unknown): readonly Fields[] {
  return Array.isArray(data) ? data.filter(isFields) : [];
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
