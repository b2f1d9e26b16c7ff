/**
 * The layers of the dashboard: what each folder and file of packages/dashboard/src may import. The one place of this
 * rule; biome.layers.json is generated from it, and ARCHITECTURE.md describes it.
 */
import { EXCEPT_TESTS, NEVER_REFUSED, toFilePattern, toMessage, toOverride, toRefusedPatterns } from './layers.mjs';

/**
 * @typedef {import('./layers.mjs').Layer & { readonly packages?: readonly string[] }} DashboardLayer `packages`: the
 *   only ones that it may import, where they are limited
 */

const CONTRACT = '@security-optimizer/contract/**';
const FORM_BASE = ['i18n', 'ui', 'api'];
const PAGE_BASE = [...FORM_BASE, 'forms', 'features/settings'];

/** @type {readonly DashboardLayer[]} in order: each one imports only from those before it */
export const layers = [
  { name: 'i18n', imports: [], packages: [CONTRACT, '@wordpress/i18n'] },
  { name: 'ui', imports: ['i18n'], packages: ['react', 'react-dom'], why: 'Controls do not know the product.' },
  {
    name: 'api',
    imports: ['i18n'],
    packages: [CONTRACT, '@tanstack/react-query', 'zod/mini', 'react'],
    why: 'It fetches and changes data, and draws nothing.',
  },
  { name: 'forms', imports: FORM_BASE },
  { name: 'features/settings', imports: [...FORM_BASE, 'forms'] },
  { name: 'features/consent', imports: PAGE_BASE },
  { name: 'features/site-security', imports: PAGE_BASE },
  { name: 'features/login-settings', imports: PAGE_BASE },
  { name: 'features/activity-log', imports: PAGE_BASE },
  { name: 'features/post-hack-actions', imports: PAGE_BASE },
  {
    name: 'features/security-dashboard',
    imports: [...PAGE_BASE, 'features/login-settings', 'features/activity-log'],
  },
  { name: 'app', imports: ['*'] },
  { name: 'main.ts', imports: ['*'] },
  { name: 'legacy.ts', imports: ['*'] },
];

/** Refused in every file of the dashboard, also in tests. */
const REFUSED_EVERYWHERE = [
  {
    group: [
      ...['@security-optimizer/guard', '@security-optimizer/guard/**'],
      ...['@security-optimizer/sandbox', '@security-optimizer/sandbox/**'],
    ],
    message: 'The dashboard knows guard by the contract only.',
  },
  { group: ['zod'], message: 'The browser gets zod/mini.' },
];

/** Refused in every file that a browser gets. */
const REFUSED_IN_BROWSER = [
  ...REFUSED_EVERYWHERE,
  { group: ['node:*'], message: 'Browsers have none of the modules of Node.' },
  {
    group: ['@security-optimizer/contract/**/requests', '@security-optimizer/contract/request'],
    importNamePattern: 'RequestOf',
    invertImportNamePattern: true,
    message: 'The browser gets endpoints and types of requests (RequestOf); guard checks every request.',
  },
];

const src = 'packages/dashboard/src';

/** Entries of Biome's `overrides` that enforce the layers. */
export function layerOverrides() {
  return [
    toOverride([`${src}/**/*.test.{ts,tsx}`], REFUSED_EVERYWHERE),
    toOverride([`${src}/**`, ...EXCEPT_TESTS], REFUSED_IN_BROWSER),
    ...layers.map((layer) =>
      toOverride([toFilePattern(src, layer.name), ...EXCEPT_TESTS], [...REFUSED_IN_BROWSER, ...refusedBy(layer)]),
    ),
  ];
}

function refusedBy(layer) {
  const message = toMessage(layer, 'scripts/lib/dashboard-layers.mjs');
  const others = toRefusedPatterns(layers, layer);
  const refused = others.length > 0 ? [{ group: [...others, NEVER_REFUSED], message }] : [];
  // Apart from the layers, because of the contract: it is never refused as a layer, but may be as a package.
  if (layer.packages)
    refused.push({ group: ['**', '!./**', '!../**', ...layer.packages.map((name) => `!${name}`)], message });
  return refused;
}
