import { sayWord } from '@security-optimizer/contract/say-phrase';
import { formatNumber } from './format-number.js';
import { i18n } from './i18n.js';

/** A text of the catalogue with places for values, and what it looks like when they are filled in. */
interface Template {
  readonly text: string;
  readonly shape: RegExp;
  readonly names: readonly string[];
  /** How much of it is always the same. */
  readonly fixed: number;
}

interface Messages {
  readonly ''?: { readonly lang?: string };
}

/** `{name}`, and `%(name)s` in texts that the specification fixes. */
const PLACES = /\{(\w+)\}|%\((\w+)\)s/g;
/** Templates with less text of their own could fit what is something else. */
const LEAST_FIXED = 6;

let known: { readonly messages: object; readonly templates: readonly Template[] } | null = null;

/**
 * A text of the server that came with its values filled in, in the owner's language: the template that fits is looked
 * up and gets the same values.
 * @param domain text domain
 * @returns null when nothing in the catalogue fits; always in English
 */
export function retell(text: string, domain: string): string | null {
  const messages = i18n.getLocaleData(domain) ?? {};
  if (known?.messages !== messages) known = { messages, templates: templatesOf(Object.keys(messages)) };
  for (const template of known.templates) {
    const found = template.shape.exec(text);
    if (found !== null) return filled(template, found.slice(1), domain, (messages as Messages)['']?.lang ?? 'en');
  }
  return null;
}

function templatesOf(texts: readonly string[]): Template[] {
  return texts
    .map((text) => {
      const fixed = text.split(/\{\w+\}|%\(\w+\)s/);
      const names = (text.match(PLACES) ?? []).map((place) => place.replace(/\W|s$/g, ''));
      return { text, fixed, names };
    })
    .filter(({ fixed }) => fixed.length > 1 && fixed.join('').length >= LEAST_FIXED)
    .map(({ text, fixed, names }) => ({
      ...{ text, names, fixed: fixed.join('').length },
      shape: new RegExp(`^${fixed.map(escaped).join('([\\s\\S]+?)')}$`),
    }))
    .sort((a, b) => b.fixed - a.fixed);
}

function filled({ text, names }: Template, values: readonly string[], domain: string, lang: string): string {
  const count = Number((values[names.indexOf('count')] ?? '?').replace(/,/g, ''));
  const said = Number.isNaN(count) ? i18n.__(text, domain) : i18n._n(text, text, count, domain);
  return said.replace(PLACES, (whole, one: string | undefined, other: string | undefined) => {
    const name = one ?? other ?? '';
    if (name === 'count' && !Number.isNaN(count)) return formatNumber(count, lang.replace('_', '-'));
    const value = values[names.indexOf(name)] ?? whole;
    return sayWord(name, value, (word) => {
      const whole = i18n.__(word, domain);
      return whole === word ? (retell(word, domain) ?? word) : whole;
    });
  });
}

function escaped(piece: string): string {
  return piece.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
