import {
  englishMessages,
  fillMessage,
  getCount,
  isServerMessage,
  type MessageLanguage,
  type MessageParam,
  type ServerMessage,
  writeParam,
} from '@security-optimizer/contract/server-message';
import { getDateFormats } from './date-formats.js';
import { formatNumber, i18n, TEXT_DOMAIN } from './locale.js';
import { translate } from './translate.js';

/** Formats texts of the server in the owner's language. */
export const ownersLanguage: MessageLanguage = {
  translate,
  number: formatNumber,
  time: formatTime,
  message: translateServerMessage,
};

/** @param time `YYYY-MM-DD`, `HH:MM`, or both separated by a space; anything else is not changed */
function formatTime(time: string): string {
  const formats = getDateFormats();
  const [day = '', clock] = time.includes('-') ? time.split(' ') : ['', time];
  try {
    const parts = [
      day === '' ? '' : formats.shortDate(day),
      clock === undefined ? '' : formats.time(clock.slice(0, 5)),
    ];
    return parts.filter(Boolean).join(', ');
  } catch {
    return time;
  }
}

/** Formats a text that was sent as code and parameters in the owner's language; in English without a translation. */
export function translateServerMessage({ english, code, params }: ServerMessage): string {
  const count = getCount(params);
  const counted = count === null ? code : i18n._n(code, code, count, TEXT_DOMAIN);
  const template = counted === code ? i18n.__(code, TEXT_DOMAIN) : counted;
  return template === code ? withLocalTimes(english, params) : fillMessage(template, params, ownersLanguage);
}

/** The English text, with days and times in the format of the owner's language. */
function withLocalTimes(english: string, params: ServerMessage['params']): string {
  return Object.values(params).reduce<string>((text, param) => {
    if (typeof param !== 'object' || !(isServerMessage(param) || 'time' in param)) return text;
    return text.replace(writeParam(param as MessageParam, englishMessages), () =>
      writeParam(param as MessageParam, ownersLanguage),
    );
  }, english);
}

/**
 * Replaces the English texts of a response that have code and parameters (`texts`) by their translations.
 * Malformed entries, and entries without a text at their place, are ignored.
 *
 * @param body parsed JSON; it is changed
 */
export function translateTexts(body: unknown): void {
  const { texts } = (body ?? {}) as { readonly texts?: unknown };
  if (!Array.isArray(texts)) return;
  for (const entry of texts as readonly unknown[]) {
    const { at, code, params } = (entry ?? {}) as Partial<Record<string, unknown>>;
    if (typeof at !== 'string') continue;
    const names = at
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    const holder = names.reduce<unknown>((value, name) => getOwn(value, name), body);
    const english = getOwn(holder, last);
    const message = { english, code, params };
    if (isServerMessage(message)) (holder as Record<string, unknown>)[last] = translateServerMessage(message);
  }
}

function getOwn(value: unknown, name: string): unknown {
  const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isHolder ? (value as Record<string, unknown>)[name] : undefined;
}
