import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run.mjs';

/** What the dashboard's build puts into the script for old browsers, beside the dashboard's dependencies. */
const FOR_OLD_BROWSERS = ['abortcontroller-polyfill', 'core-js', 'whatwg-fetch'];

/**
 * The licences of all packages that the bundles of guard and the dashboard may hold parts of, as one text: the
 * dependencies of both, and theirs in turn. Most packages have the words of the same few licences, so each text is
 * printed once, and the copyright notices of every package with its name.
 *
 * @throws when a package is not installed or names no licence
 */
export function thirdPartyNotices() {
  const found = new Map();
  for (const name of ['guard', 'dashboard']) {
    const { dependencies } = readJson(join(root, 'packages', name, 'package.json'));
    visit(Object.keys(dependencies), join(root, 'packages', name), found);
  }
  visit(FOR_OLD_BROWSERS, root, found);
  const packages = [...found.values()].sort((a, b) => (a.title < b.title ? -1 : 1));
  const texts = new Map();
  const sections = packages.map(({ title, licence, text }) => {
    const { notices, words } = splitNotices(text);
    const key = words.join(' ').replace(/\s+/g, ' ').trim();
    if (!texts.has(key)) texts.set(key, { name: `Text ${texts.size + 1}`, words });
    return [`## ${title}`, `Licence: ${licence}, ${texts.get(key).name}`, ...toCode(notices)].join('\n\n');
  });
  return [
    '# Third-party software',
    'The scripts of this package hold parts of these packages, each under its own licence. The texts are at the end.',
    ...sections,
    ...[...texts.values()].map(({ name, words }) => [`## ${name}`, ...toCode(words)].join('\n\n')),
  ].join('\n\n');
}

/** A longer text is a licence with notices in its own words, such as the GPL. Characters. */
const LONG_TEXT = 4000;

/** Separates the copyright notices of a short licence, which are a package's own, from its words, which many have. */
function splitNotices(text) {
  const lines = text.trim().split(/\r?\n/);
  if (text.length > LONG_TEXT) return { notices: [], words: lines };
  const isNotice = (line) => /^\s*(?:copyright (?!notice|holder)|all rights reserved)/i.test(line);
  const words = lines.filter((line) => !isNotice(line));
  const first = words.findIndex((line) => line.trim() !== '');
  return { notices: lines.filter(isNotice), words: words.slice(Math.max(first, 0)) };
}

/** Lines as a code block, so that nothing in them is taken for Markdown; none for no lines. */
function toCode(lines) {
  return lines.length === 0
    ? []
    : [
        lines
          .map((line) => `    ${line}`.trimEnd())
          .join('\n')
          .trimEnd(),
      ];
}

function visit(names, from, found) {
  for (const name of names) {
    if (name.startsWith('@security-optimizer/')) continue;
    const folder = findPackage(name, from);
    if (found.has(folder)) continue;
    const own = readJson(join(folder, 'package.json'));
    if (typeof own.license !== 'string') throw new Error(`${name} names no licence.`);
    const title = `${name} ${own.version}`;
    found.set(folder, { title, licence: own.license, text: licenceText(folder, own) });
    visit(Object.keys(own.dependencies ?? {}), folder, found);
  }
}

function licenceText(folder, { author, homepage }) {
  const file = readdirSync(folder).find((name) => /^(?:licen[cs]e|copying)(?:[.-]|$)/i.test(name));
  const by = typeof author === 'string' ? author : author?.name;
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8');
  return `The package comes without a licence file. ${[by, homepage].filter(Boolean).join(', ')}`;
}

/** The folder of an installed package, as Node finds it from another folder. */
function findPackage(name, from) {
  for (let folder = from; folder.startsWith(root.replace(/\/$/, '')); folder = join(folder, '..')) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
  }
  throw new Error(`The package ${name} is not installed.`);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
