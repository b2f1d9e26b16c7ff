import type { PinnedPackage } from '../lib/npm-package.js';

/** The npm package with several versions of WordPress. */
export const buildsPackage: PinnedPackage = {
  name: '@wp-playground/wordpress-builds',
  version: '0.9.19',
  sha512: 'dlqvh/MJDpE5W68vgPPKUjpip6zMuBh59L3D18ZX+pdwurC4q4ydrTww/3sTMV69BBcoH6kF93YtAtujNC5Mpw==',
} as const;

/** The version of most test stacks, because it needs the npm registry only. */
export const defaultWordPressVersion = '6.5';

/** The pinned current release: `npm start` and the production stacks use it where it can be downloaded. */
export const currentWordPressVersion = '7.1';

/** Builds in the package and their releases. */
const releases: Readonly<Record<string, string>> = {
  '6.5': '6.5.5',
  '6.4': '6.4.5',
  '6.3': '6.3.5',
  '6.2': '6.2.6',
  beta: '6.6-RC3',
  nightly: 'nightly',
};

export type WordPressSource =
  | { readonly kind: 'package'; readonly build: string; readonly release: string }
  | { readonly kind: 'release'; readonly release: string };

/** Finds the source of a version: the npm package when it contains it, else wordpress.org. Null for an invalid version. */
export function findWordPressSource(version: string): WordPressSource | null {
  for (const [build, release] of Object.entries(releases)) {
    if (version === build || version === release) return { kind: 'package', build, release };
  }
  if (/^\d{1,2}\.\d{1,2}(\.\d{1,3})?(-(beta|RC)\d{1,2})?$/.test(version)) return { kind: 'release', release: version };
  return null;
}

/** Versions that need no request to wordpress.org, for help and error texts. */
export const packagedVersions: readonly string[] = Object.keys(releases);
