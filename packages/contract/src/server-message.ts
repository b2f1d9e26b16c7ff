/**
 * A text of the server with values. It is sent in English, which every client can show, and also as code and
 * parameters, from which the dashboard builds a text in the owner's language. The codes are in `server-messages.ts`.
 */
export interface ServerMessage {
  readonly english: string;
  readonly code: string;
  readonly params: MessageParams;
}

export type MessageParams = Readonly<Record<string, MessageParam>>;

/**
 * - text: a name or an address, shown unchanged
 * - number: in the format of the language; as `count` it selects the plural form
 * - `time`: `YYYY-MM-DD`, `HH:MM`, or both separated by a space, local time of the site
 * - `text`: a constant text of the catalogue
 * - `inWords`: a number at the start of a sentence; small ones are written as words. Selects the plural form like a
 *   number.
 */
export type MessageParam =
  | string
  | number
  | { readonly time: string }
  | { readonly text: string }
  | { readonly inWords: number }
  | ServerMessage;

/** A text of the server: a constant, which is its own key in the catalogue, or a message with values. */
export type ServerText = string | ServerMessage;

/** A value in which every text may be a message with code and parameters. */
export type WithMessages<Value> = Value extends string
  ? string extends Value
    ? ServerText
    : Value
  : Value extends readonly (infer Item)[]
    ? readonly WithMessages<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: WithMessages<Value[Name]> }
      : Value;

/** The place of a message in a response as a JSON Pointer (RFC 6901), for example `/data/jobs/0/error`. */
export interface MessageAt {
  readonly at: string;
  readonly code: string;
  readonly params: MessageParams;
}

/** Formats the parameters of a message in a language. */
export interface MessageLanguage {
  translate(text: string): string;
  number(value: number): string;
  /** @param time see `MessageParam` */
  time(time: string): string;
  message(message: ServerMessage): string;
}

export const englishMessages: MessageLanguage = {
  translate: (text) => text,
  number: (value) => value.toLocaleString('en-US'),
  time: (time) => time,
  message: ({ english }) => english,
};

export function isServerMessage(value: unknown): value is ServerMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { english, code, params } = value as Partial<ServerMessage>;
  return typeof english === 'string' && typeof code === 'string' && typeof params === 'object' && params !== null;
}

export function toEnglish(text: ServerText): string {
  return typeof text === 'string' ? text : text.english;
}

/** Formats a message that is a parameter of another one. */
export function toParam(text: ServerText): MessageParam {
  return typeof text === 'string' ? { text } : text;
}

/** Returns the number that selects the plural form; null for a message without one. */
export function getCount({ count }: MessageParams): number | null {
  if (typeof count === 'number') return count;
  return typeof count === 'object' && 'inWords' in count ? count.inWords : null;
}

/** Replaces the placeholders `{name}` of a template. A placeholder without a parameter stays. */
export function fillMessage(template: string, params: MessageParams, language: MessageLanguage): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(params, name) ? writeParam(params[name] as MessageParam, language) : placeholder,
  );
}

const NUMBER_WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'] as const;

/** Formats a parameter in a language. */
export function writeParam(param: MessageParam, language: MessageLanguage): string {
  if (typeof param === 'string') return param;
  if (typeof param === 'number') return language.number(param);
  if (isServerMessage(param)) return language.message(param);
  if ('time' in param) return language.time(param.time);
  if ('text' in param) return language.translate(param.text);
  const word = NUMBER_WORDS[param.inWords];
  return word === undefined ? language.number(param.inWords) : language.translate(word);
}
