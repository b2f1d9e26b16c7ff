/**
 * Checks the dependency rule (ARCHITECTURE.md): the repository has no import cycles, type-only imports included, and
 * each folder of guard imports only from the folders before it. Part of `npm run lint`.
 */
import { fileURLToPath } from 'node:url';
import { collectImports, findCircles } from './lib/imports.mjs';

const GUARD = 'packages/guard/src/';

/** Folders and files at the root of guard's sources. Each imports only from those before it. */
const ORDER = [
  ...[
    'lib',
    'site.ts',
    'i18n',
    'http',
    'config',
    'rules',
    'storage',
    'wordpress',
    'mail',
    'pages',
    'settings',
    'sites',
  ],
  ...['upstream', 'security-events.ts', 'services.ts', 'feature.ts'],
  ...['login', 'two-factor', 'activity', 'site-security', 'alerts', 'reports', 'post-hack', 'overview'],
  ...['gateway', 'api', 'metrics', 'features.ts', 'migrations.ts', 'main.ts', 'cli', 'embedded.ts', 'testing.ts'],
];

/** Files that other features may import, beside a feature's `index.ts`. */
const PUBLIC = {
  login: [
    'attempts.ts',
    'away-mode.ts',
    'common-usernames.ts',
    'custom-login-url.ts',
    'login-addresses.ts',
    'login-cookies.ts',
  ],
  'two-factor': [],
  activity: ['activity-store.ts', 'traffic.ts'],
  'site-security': [],
  alerts: [],
  reports: [],
  overview: [],
  'post-hack': [],
};

const imports = await collectImports(fileURLToPath(new URL('..', import.meta.url)));
const circles = findCircles(imports).sort((one, other) => one.length - other.length);
const mistakes = [
  // One wrong import creates many cycles; the shortest ones show it.
  ...circles.slice(0, 3).map((circle) => `A circle of imports:\n  ${circle.join('\n  -> ')}`),
  ...imports.filter(({ from, to }) => from.startsWith(GUARD) && to.startsWith(GUARD)).flatMap(checkGuard),
];
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) {
  console.error(`${mistakes.length} imports break the dependency rule; see ARCHITECTURE.md.`);
  process.exitCode = 1;
}

function checkGuard({ from, to, line }) {
  if (/\.test\.tsx?$/.test(from)) return [];
  const [source, target] = [placeOf(from), placeOf(to)];
  if (source === target) return [];
  const at = `${from}:${line}`;
  for (const place of [source, target])
    if (!ORDER.includes(place)) return [`${at}: ${place} has no place in the order.`];
  if (ORDER.indexOf(target) > ORDER.indexOf(source)) return [`${at}: ${source} must not import ${target} (${to}).`];
  const inside = to.slice(GUARD.length + target.length + 1);
  const isHidden = source in PUBLIC && target in PUBLIC && inside !== 'index.ts' && !PUBLIC[target].includes(inside);
  return isHidden ? [`${at}: ${source} must not import the inside of ${target} (${inside}).`] : [];
}

/** The folder or file at the root of guard's sources. */
function placeOf(file) {
  return file.slice(GUARD.length).split('/')[0];
}
