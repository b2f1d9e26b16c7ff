import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../run.mjs';
import { thirdPartyNotices } from './third-party.mjs';

const NAME = 'security-optimizer';

/**
 * Makes the npm package out of what was built: guard's bundle, the connector, the dashboard and the translations, each
 * as a bundled dependency, because guard finds them as packages. Nothing but the SQLite add-on is fetched when it is
 * installed, and the add-on only serves Node without an SQLite of its own.
 *
 * @param options `to`: folder for the file; `version`: default is that of the workspace
 * @returns `{ file, bytes, version }`
 * @throws when a part is not built, or npm fails
 */
export async function makeNpmPackage({ to, version = readJson('package.json').version }) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is no version: use three numbers, such as 0.2.0.`);
  const stage = mkdtempSync(join(tmpdir(), 'so-package-'));
  try {
    layOut(stage, version);
    const file = join(to, `${NAME}-${version}.tgz`);
    pack(stage, to);
    return { file, bytes: statSync(file).size, version };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function layOut(stage, version) {
  const modules = join(stage, 'node_modules');
  const own = (name) => join(modules, '@security-optimizer', name);
  const copy = (from, target, filter) => {
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, from), target, { recursive: true, ...(filter && { filter }) });
  };

  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) copy(name, join(stage, name));
  copy('docs/operator', join(stage, 'docs/operator'));
  copy('packaging/security-optimizer.js', join(stage, 'bin/security-optimizer.js'));
  copy('packages/guard/bin/require-node.js', join(stage, 'bin/require-node.js'));
  writeFileSync(join(stage, 'THIRD-PARTY.md'), `${thirdPartyNotices()}\n`);

  const guard = readJson('packages/guard/package.json');
  // Source maps would be a third of the package. Functions keep their names, so stack traces can be read without.
  copy('packages/guard/dist/program', join(own('guard'), 'dist/program'), (path) => !path.endsWith('.map'));
  writePackage(own('guard'), guard, version, { exports: { './program/*': guard.exports['./program/*'] } });

  const connector = own('connector');
  copy('packages/connector/security-optimizer', join(connector, 'security-optimizer'));
  copy('packages/connector/dist', join(connector, 'dist'));
  writeConnectorVersion(join(connector, 'security-optimizer.php'), version);
  writePackage(connector, readJson('packages/connector/package.json'), version);

  copy('packages/dashboard/dist', join(own('dashboard'), 'dist'));
  writePackage(own('dashboard'), readJson('packages/dashboard/package.json'), version);

  // Guard reads this list as a file of its own; see activity/bots.ts. It uses the patterns, and the first example of
  // those that are no plain text.
  const bots = 'node_modules/crawler-user-agents';
  const botList = readJson(`${bots}/package.json`);
  for (const name of ['package.json', 'LICENSE']) copy(`${bots}/${name}`, join(stage, bots, name));
  const entries = readJson(`${bots}/${botList.main}`);
  const used = entries.map(({ pattern, instances }) => ({ pattern, instances: instances.slice(0, 1) }));
  writeFileSync(join(stage, bots, botList.main), JSON.stringify(used));

  const bundled = {
    '@security-optimizer/connector': version,
    '@security-optimizer/dashboard': version,
    '@security-optimizer/guard': version,
    'crawler-user-agents': botList.version,
  };
  const workspace = readJson('package.json');
  writeJson(join(stage, 'package.json'), {
    name: NAME,
    version,
    description: workspace.description,
    license: workspace.license,
    type: 'module',
    engines: workspace.engines,
    bin: { [NAME]: 'bin/security-optimizer.js' },
    files: ['bin', 'docs', 'CHANGELOG.md', 'THIRD-PARTY.md'],
    dependencies: bundled,
    bundleDependencies: Object.keys(bundled),
    optionalDependencies: guard.optionalDependencies,
  });
}

function writePackage(folder, { name, license, type, description }, version, more = {}) {
  writeJson(join(folder, 'package.json'), { name, version, license, type, description, ...more });
}

/** Status compares the connector's version with guard's, so both must change together. */
function writeConnectorVersion(target, version) {
  const text = readFileSync(join(root, 'packages/connector/security-optimizer.php'), 'utf8');
  const { version: present } = readJson('packages/connector/package.json');
  const parts = text.split(present);
  if (parts.length !== 3) throw new Error(`security-optimizer.php was expected to name ${present} twice.`);
  writeFileSync(target, parts.join(version));
}

/** Runs npm pack, which names the file and makes it reproducible. */
function pack(stage, to) {
  const path = process.env.npm_execpath;
  const [command, ...before] = path?.endsWith('.js') ? [process.execPath, path] : ['npm'];
  const args = [...before, 'pack', stage, '--pack-destination', to, '--ignore-scripts', '--loglevel=error'];
  const { status, stderr, error } = spawnSync(command, args, { cwd: stage, encoding: 'utf8' });
  if (error || status !== 0) throw new Error(`npm could not make the package: ${error?.message ?? stderr}`);
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

function writeJson(file, value) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
