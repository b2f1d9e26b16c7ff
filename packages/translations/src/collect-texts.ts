import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Text } from './catalogue.js';
import { codedTexts } from './coded-texts.js';
import { findPhpTable, findPhpTexts } from './find-php-texts.js';
import { type FoundText, findScriptTexts } from './find-script-texts.js';

/** A text of the product, with its code when the server sends it as code and parameters. */
export interface CollectedText extends Text {
  readonly code?: string;
}

/** Literals in those sources that look like texts but are names, styles, or meant for a log or a programmer. */
const NOT_FOR_PEOPLE = [
  'A call of the API failed.',
  'A call of the API failed; further ones that fail like this one are not logged.',
  'The API can’t be made; the gateway itself goes on.',
  'Pinterestbot',
  'YandexBot',
  'EBADNAME',
  'EBADRESP',
  'ENODATA',
  'ENOTFOUND',
  'GET',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'PROPFIND',
  'REPORT',
  'Send a JSON object.',
  'Visits are written again.',
  'Use a time after from.',
  'Use the cursor of an answer.',
  'Cốc Cốc',
  'Internet Archive',
  'WordPress',
  'WordPress; http',
  'Menlo, Consolas, monospace',
];
const VISITOR_PAGES = /\/(?:visitor-pages|login-closed-pages|notices)\.tsx?$/;
const RESPONSES =
  /\/src\/(?:(?:api|overview|post-hack|site-security|settings|login|two-factor|activity|reports|mail)\/(?!.*(?:store|table|schema|migration)[^/]*$)[\w/-]+|alerts\/(?:safe-target|sending|webhook|syslog|endpoints|deliver-alerts)|wordpress\/connector-error)\.ts$/;
type Finder = (file: string, source: string) => FoundText[];

const findCalls: Finder = (file, source) => findScriptTexts(file, source, 'calls');
const findSentences: Finder = (file, source) => findScriptTexts(file, source, 'sentences');

/**
 * The source files with texts for people. Texts that guard and the contract send to the dashboard are sent in English
 * and translated there; guard translates its own pages and mails.
 */
const SOURCES: readonly { readonly folder: string; readonly files: RegExp; readonly find: Finder }[] = [
  { folder: 'packages/dashboard/src', files: /\.tsx?$/, find: findCalls },
  {
    folder: 'packages/contract/src',
    files:
      /\/src\/(?:settings\/(?:protections|catalogue)|alerts\/catalogue|activity\/(?:event-kinds|event-values|rule-reasons)|login\/limits|overview\/technical-data|pages|server-message|messages|errors)\.ts$/,
    find: findSentences,
  },
  // Texts that guard's own pages and mails translate, in any file.
  { folder: 'packages/guard/src', files: /\.tsx?$/, find: findCalls },
  { folder: 'packages/guard/src', files: VISITOR_PAGES, find: findSentences },
  // Constant texts of responses; those with values are in the contract.
  { folder: 'packages/guard/src', files: RESPONSES, find: findSentences },
  { folder: 'packages/connector/security-optimizer', files: /\.php$/, find: findPhpTexts },
  // Names of settings in events: they travel in English, like guard's texts.
  { folder: 'packages/connector/security-optimizer', files: /\/activity\/class-settings\.php$/, find: findPhpTable },
];

/**
 * Collects every translated text of the product once, with the files that contain it.
 *
 * @param root folder of the repository
 * @returns sorted by text, so that moved code changes only references
 * @throws Error when a source can't be parsed, a text is not written out, or a text has two plurals
 */
export async function collectTexts(root: string): Promise<CollectedText[]> {
  const texts = new Map<string, Collected>();
  for (const { folder, files, find } of SOURCES) {
    for (const name of await listFiles(root, folder)) {
      if (!files.test(name) || /\.test\.tsx?$/.test(name)) continue;
      for (const found of find(name, await readFile(join(root, name), 'utf8'))) add(texts, found);
    }
  }
  for (const { code, text, plural } of codedTexts) {
    add(texts, { text, plural, file: 'packages/contract/src/server-messages.ts' }).code = code;
  }
  for (const text of NOT_FOR_PEOPLE) {
    if (!texts.delete(text)) throw new Error(`No source contains “${text}” any more: remove it from NOT_FOR_PEOPLE.`);
  }
  texts.delete('');
  return [...texts.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}

interface Collected {
  readonly text: string;
  plural: string | null;
  readonly files: string[];
  code?: string;
}

function add(texts: Map<string, Collected>, { text, plural, file }: FoundText): Collected {
  const known: Collected = texts.get(text) ?? { text, plural: null, files: [] };
  if (plural !== null && known.plural !== null && plural !== known.plural) {
    throw new Error(`“${text}” has two plurals: “${known.plural}” and “${plural}”.`);
  }
  known.plural ??= plural;
  if (!known.files.includes(file)) known.files.push(file);
  texts.set(text, known);
  return known;
}

/** Lists the files below a folder, relative to the root. */
async function listFiles(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}
