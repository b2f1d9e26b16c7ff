import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repositoryDir } from '@security-optimizer/sandbox/lib/cache-dir';
import { collectTexts } from '@security-optimizer/translations/collect-texts';
import { pseudoLocale } from '@security-optimizer/translations/pseudo-locale';
import type { Stack } from '../../stacks/stack.js';
import { muPlugins } from '../../stacks/wordpress.js';

/** A locale of the interface tests: translates texts of the product, and recognises untranslated ones. */
export interface Language {
  readonly name: 'German' | 'right to left';
  /** The locale of WordPress; the pseudo-locale replaces Italian. */
  readonly locale: 'de_DE' | 'it_IT';
  /** Translates a text of the catalogue. @param words values of its placeholders, in order */
  translate(text: string, ...words: string[]): string;
  /** Translates the plural of a text, which the catalogue lists under its singular. */
  translatePlural(text: string, count: number): string;
  /** Whether a text is translated, or a value such as a name, a number or a day. */
  isTranslated(text: string): boolean;
}

type Messages = Readonly<Record<string, readonly string[]>>;

/**
 * German and the pseudo-locale of the layout tests. A text of only these words is a value.
 *
 * @param values names on the site: logins, plugins, addresses
 */
export async function readLanguages(values: readonly string[]): Promise<readonly [Language, Language]> {
  const german = parseMessages(readFileSync(languageFile('de_DE'), 'utf8'));
  const pseudo = parseMessages(await pseudoJson());
  return [
    { name: 'German', locale: 'de_DE', ...createTranslator(german), isTranslated: germanRule(german, values) },
    { name: 'right to left', locale: 'it_IT', ...createTranslator(pseudo), isTranslated: pseudoRule(values) },
  ];
}

function createTranslator(messages: Messages): Pick<Language, 'translate' | 'translatePlural'> {
  const form = (text: string, index: number, words: readonly string[]): string => {
    const translation = messages[text]?.[index];
    if (translation === undefined) throw new Error(`“${text}” is not in the catalogue.`);
    let next = 0;
    return translation.replace(/%(?:(\d)\$)?[sd]/g, (_all, at?: string) => words[Number(at ?? ++next) - 1] ?? '');
  };
  return {
    translate: (text, ...words) => form(text, 0, words),
    translatePlural: (text, count) => form(text, 1, [String(count)]),
  };
}

/**
 * Makes the site use these locales for a browser that sends the cookie `language`.
 *
 * @returns a function that restores the site
 */
export async function installLanguages(stack: Stack): Promise<() => void> {
  const plugin = join(muPlugins(stack), 'languages.php');
  const installed = join(muPlugins(stack), 'security-optimizer/languages/security-optimizer-it_IT.json');
  renameSync(installed, `${installed}.own`);
  writeFileSync(installed, await pseudoJson());
  writeFileSync(
    plugin,
    `<?php if ( in_array( $_COOKIE['language'] ?? '', array( 'de_DE', 'it_IT' ), true ) ) {
      add_filter( 'get_user_metadata', function ( $value, $user, $key ) {
        return 'locale' === $key ? array( $_COOKIE['language'] ) : $value;
      }, 10, 3 );
      if ( 'it_IT' === $_COOKIE['language'] ) {
        add_action( 'after_setup_theme', function () { $GLOBALS['wp_locale']->text_direction = 'rtl'; } );
      }
    }`,
  );
  return () => {
    rmSync(plugin, { force: true });
    renameSync(`${installed}.own`, installed);
  };
}

function languageFile(locale: string): string {
  return join(repositoryDir, `packages/connector/dist/languages/security-optimizer-${locale}.json`);
}

async function pseudoJson(): Promise<string> {
  return pseudoLocale(await collectTexts(resolve(repositoryDir)));
}

function parseMessages(json: string): Messages {
  return JSON.parse(json) as Messages;
}

const PLACEHOLDER = /%(?:\d\$)?[sd]|%\(\w+\)[sd]|\{\w+\}/;
const HAS_LETTER = /\p{L}/u;

/** A text is German if it is an entry of the catalogue, a part of one between elements, or composed of such. */
function germanRule(messages: Messages, values: readonly string[]): Language['isTranslated'] {
  const sentences = new Set<string>();
  const patterns: RegExp[] = [];
  for (const [text, forms] of Object.entries(messages)) {
    if (text === '') continue;
    for (const form of forms) {
      for (const part of [form.replace(/<[^>]+>/g, ''), ...form.split(/<[^>]+>/)]) {
        for (const piece of part.split(PLACEHOLDER)) sentences.add(piece.trim());
        if (PLACEHOLDER.test(part)) patterns.push(toPattern(part.trim()));
      }
    }
  }
  const isValue = valueRule(values, 'de');
  const known = new Map<string, boolean>();
  const isTranslated = (text: string): boolean => {
    const found = known.get(text);
    if (found !== undefined) return found;
    // Prevents endless recursion.
    known.set(text, false);
    const joints = text.split(/, |: |\. | {2,}|\n|[“”„"()]/).filter((part) => part.trim() !== '');
    const is =
      isValue(text) ||
      sentences.has(text) ||
      patterns.some((pattern) =>
        pattern
          .exec(text)
          ?.slice(1)
          .every((word) => isTranslated(word.trim())),
      ) ||
      (joints.length > 1 && joints.every((part) => isTranslated(part.trim())));
    known.set(text, is);
    return is;
  };
  return (text) => isTranslated(text.trim());
}

function toPattern(text: string): RegExp {
  const literal = text.split(PLACEHOLDER).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('(.+?)')}$`, 's');
}

/** Translated texts contain no plain vowel and no plain C, N or S; see packages/translations/src/pseudo-locale.ts. */
function pseudoRule(values: readonly string[]): Language['isTranslated'] {
  const isValue = valueRule(values, 'it');
  return (text) => {
    const words = text.split(/[^\p{L}\p{N}\p{M}@./:_-]+/u).map((word) => word.replace(/[.:]$/, ''));
    return words.every((word) => !/[aeioucnys]/i.test(word) || isValue(word));
  };
}

const FORMS = [
  ['month', 'long'],
  ['month', 'short'],
  ['weekday', 'long'],
  ['weekday', 'short'],
] as const;

/** Recognises names on the site, names of days and months, and texts without words. */
function valueRule(values: readonly string[], language: string): (text: string) => boolean {
  const words = new Set(values.flatMap((value) => [value, ...value.split(' ')]).map((word) => word.toLowerCase()));
  for (let day = 0; day < 366; day += 5) {
    for (const [part, form] of FORMS) {
      const format = new Intl.DateTimeFormat(language, { day: 'numeric', [part]: form, timeZone: 'UTC' });
      const alone = new Intl.DateTimeFormat(language, { [part]: form, timeZone: 'UTC' });
      const date = Date.UTC(2024, 0, 1 + day);
      for (const { value } of [...format.formatToParts(date), ...alone.formatToParts(date)]) {
        // The columns of a calendar have headings of two letters.
        for (const word of [value, value.slice(0, 2)]) words.add(word.toLowerCase());
      }
    }
  }
  return (text) =>
    !HAS_LETTER.test(text) ||
    words.has(text.toLowerCase()) ||
    text.split(/\s+/).every((word) => {
      const bare = word.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
      return !HAS_LETTER.test(bare) || words.has(bare) || words.has(`${bare}.`);
    });
}
