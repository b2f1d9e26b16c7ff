/** Where WordPress comes from: one npm package with several versions, pinned by version and checksum. */
export const buildsPackage = {
  name: '@wp-playground/wordpress-builds',
  version: '0.9.19',
  /** Name of the file below `<registry>/<name>/-/`. */
  file: 'wordpress-builds-0.9.19.tgz',
  sha512: 'dlqvh/MJDpE5W68vgPPKUjpip6zMuBh59L3D18ZX+pdwurC4q4ydrTww/3sTMV69BBcoH6kF93YtAtujNC5Mpw==',
} as const;

/** The one that most stacks of the tests run, since it needs the npm registry alone. */
export const defaultWordPressVersion = '6.5';

/** The current release, pinned: what a trial starts with and the production stacks run where it can be had. */
export const currentWordPressVersion = '7.1';

/** Names in the package and the releases they hold. */
const inPackage: Readonly<Record<string, string>> = {
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

/**
 * Finds where a version comes from: the npm package when it has it, else wordpress.org.
 * Null when the text is no version at all.
 */
export function wordpressSource(version: string): WordPressSource | null {
  for (const [build, release] of Object.entries(inPackage)) {
    if (version === build || version === release) return { kind: 'package', build, release };
  }
  if (/^\d{1,2}\.\d{1,2}(\.\d{1,3})?(-(beta|RC)\d{1,2})?$/.test(version)) return { kind: 'release', release: version };
  return null;
}

/** Versions that need no visit to wordpress.org, for help and error texts. */
export const packagedVersions: readonly string[] = Object.keys(inPackage);
