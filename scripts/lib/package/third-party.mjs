import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run.mjs';

/** What the dashboard's build puts into the script for old browsers, beside the dashboard's dependencies. */
const FOR_OLD_BROWSERS = ['abortcontroller-polyfill', 'core-js', 'whatwg-fetch'];

/**
 * The licences of all packages that the bundles of guard and the dashboard may hold parts of, as one text: the
 * dependencies of both, and theirs in turn.
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
  return [
    '# Third-party software',
    'The scripts of this package hold parts of these packages, each under its own licence.',
    ...packages.map(({ title, licence, text }) => `## ${title}\n\nLicence: ${licence}\n\n${text}`),
  ].join('\n\n');
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
  const text =
    file === undefined
      ? `The package comes without a licence file. ${[by, homepage].filter(Boolean).join(', ')}`
      : readFileSync(join(folder, file), 'utf8');
  // As a code block, so that nothing in it is taken for Markdown.
  return text
    .trim()
    .split(/\r?\n/)
    .map((line) => `    ${line}`.trimEnd())
    .join('\n');
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
