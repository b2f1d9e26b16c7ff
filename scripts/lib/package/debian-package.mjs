import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../run.mjs';
import { bundledNode, call, fetchNode } from './bundled-node.mjs';

const NAME = 'security-optimizer';
const SCRIPTS = ['postinst', 'prerm', 'postrm'];
/** The unit in the examples runs a checkout. */
const PROGRAM_OF_CHECKOUT = '/usr/bin/node --max-semi-space-size=16 packages/guard/bin/security-optimizer.js';

/**
 * Makes the Debian package out of the npm package and an official Node. The same sources and the same
 * `SOURCE_DATE_EPOCH` (default: the time of the newest commit) give the same file.
 *
 * @param options `npmPackage`: `{ file, version }`; `to`: folder for the file; `arch`: default is this machine's;
 *   `quick`: with little compression
 * @returns `{ file, bytes }`
 * @throws where dpkg-deb is missing, and when a part can't be had
 */
export async function makeDebianPackage({ npmPackage, to, arch = hostArch(), quick = false }) {
  const { version } = npmPackage;
  const stage = mkdtempSync(join(tmpdir(), 'so-debian-'));
  try {
    const tree = join(stage, 'tree');
    layOut(tree, npmPackage, arch);
    addUnit(tree);
    addDocuments(tree, version);
    addControl(tree, { VERSION: version, ARCH: arch });
    const time = sourceTime();
    settle(tree, time);
    const file = join(to, `${NAME}_${version}_${arch}.deb`);
    // With several threads the compressed file depends on their number.
    const packing = quick ? ['-Zgzip', '-z1'] : ['-Zxz', '--threads-max=1'];
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(time) };
    call('dpkg-deb', ['--root-owner-group', ...packing, '--build', tree, file], { env });
    return { file, bytes: statSync(file).size };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function layOut(tree, { file }, arch) {
  const release = join(tree, 'usr/lib', NAME, 'unpacked');
  const modules = join(release, 'lib/node_modules');
  mkdirSync(modules, { recursive: true });
  call('tar', ['-xzf', file, '-C', modules]);
  renameSync(join(modules, 'package'), join(modules, NAME));
  // They have their place in /usr/share/doc.
  for (const name of ['docs', 'README.md', 'LICENSE', 'CHANGELOG.md', 'THIRD-PARTY.md']) {
    const from = join(modules, NAME, name);
    const target = join(tree, 'usr/share/doc', NAME);
    mkdirSync(target, { recursive: true });
    if (name === 'docs') cpSync(join(from, 'operator'), target, { recursive: true });
    else if (name !== 'LICENSE') cpSync(from, join(target, name));
    rmSync(from, { recursive: true });
  }
  const node = fetchNode(arch);
  mkdirSync(join(release, 'bin'));
  cpSync(join(node, 'bin/node'), join(release, 'bin/node'));
  strip(join(release, 'bin/node'), arch);
  cpSync(join(node, 'LICENSE'), join(tree, 'usr/share/doc', NAME, 'LICENSE.node'));
  cpSync(join(root, 'packaging/debian', NAME), join(release, 'bin', NAME));
  const id = createHash('sha256').update(readFileSync(file)).update(bundledNode.version).digest('hex').slice(0, 12);
  writeFileSync(join(release, 'build-id'), `${id}\n`);
  mkdirSync(join(tree, 'usr/bin'));
  symlinkSync(`../lib/${NAME}/current/bin/${NAME}`, join(tree, 'usr/bin', NAME));
}

/** Takes out the symbols for debuggers, where binutils for that processor are installed. */
function strip(file, arch) {
  const program = arch === hostArch() ? 'strip' : `${{ amd64: 'x86_64', arm64: 'aarch64' }[arch]}-linux-gnu-strip`;
  try {
    call(program, ['--strip-unneeded', '--remove-section=.comment', '--remove-section=.note', file]);
  } catch (error) {
    process.stderr.write(`Node stays 20 MB larger: ${error.message}\n`);
  }
}

/**
 * Installs the service alone. Any other unit of the examples may name an address, which systemd would open whatever
 * guard.json says, so they stay among the documents.
 */
function addUnit(tree) {
  const folder = join(tree, 'usr/lib/systemd/system');
  mkdirSync(folder, { recursive: true });
  const name = `${NAME}.service`;
  const text = readFileSync(join(root, 'docs/operator/examples', name), 'utf8');
  writeFileSync(join(folder, name), toInstalledService(text));
}

function toInstalledService(text) {
  if (!text.includes(PROGRAM_OF_CHECKOUT)) throw new Error(`The unit was expected to start ${PROGRAM_OF_CHECKOUT}.`);
  return text
    .replace(/^#.*\n/, '')
    .replace(/^WorkingDirectory=.*\n/m, '')
    .replace(/^# Newer releases of Node .*\n/m, '')
    .replace(PROGRAM_OF_CHECKOUT, `/usr/bin/${NAME}`)
    .replace('[Unit]\n', `[Unit]\n# Written by the first attach.\nConditionPathExists=/var/lib/${NAME}/guard.json\n`);
}

function addDocuments(tree, version) {
  const folder = join(tree, 'usr/share/doc', NAME);
  cpSync(join(root, 'packaging/debian/copyright'), join(folder, 'copyright'));
  const date = new Date(sourceTime() * 1000).toUTCString().replace('GMT', '+0000');
  const maintainer = /^Maintainer: (.*)$/m.exec(readTemplate('control'))[1];
  const changelog = `${NAME} (${version}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`;
  writeFileSync(join(folder, 'changelog'), changelog);
  for (const name of ['changelog', 'CHANGELOG.md', 'THIRD-PARTY.md', 'LICENSE.node']) {
    const bytes = gzipSync(readFileSync(join(folder, name)), { level: 9 });
    rmSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), bytes);
  }
  const overrides = join(tree, 'usr/share/lintian/overrides', NAME);
  mkdirSync(dirname(overrides), { recursive: true });
  writeFileSync(overrides, readTemplate('lintian-overrides'));
}

function addControl(tree, values) {
  const folder = join(tree, 'DEBIAN');
  const files = [...walk(tree)].filter((path) => lstatSync(path).isFile());
  const size = Math.ceil(files.reduce((sum, path) => sum + Math.ceil(lstatSync(path).size / 1024), 0));
  mkdirSync(folder);
  for (const name of ['control', ...SCRIPTS]) {
    const text = readTemplate(name).replace(/@(\w+)@/g, (_, key) => String({ ...values, SIZE: size }[key]));
    writeFileSync(join(folder, name), text);
  }
  const sums = files.map((path) => `${md5(path)}  ${relative(tree, path)}\n`);
  writeFileSync(join(folder, 'md5sums'), sums.join(''));
}

/** Gives everything its mode and one time, whatever this machine's umask and clock are. */
function settle(tree, time) {
  for (const path of [...walk(tree), tree]) {
    const found = lstatSync(path);
    if (!found.isSymbolicLink()) chmodSync(path, found.isDirectory() || isProgram(path) ? 0o755 : 0o644);
    lutimesSync(path, time, time);
  }
}

function isProgram(path) {
  return path.includes('/unpacked/bin/') || SCRIPTS.some((name) => path.endsWith(`/DEBIAN/${name}`));
}

/** Everything below a folder, children before their folders, in the order of names. */
function* walk(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    yield path;
  }
}

function sourceTime() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined) return Number(given);
  return Number(call('git', ['log', '-1', '--format=%ct'], { cwd: root }).trim());
}

function hostArch() {
  return { x64: 'amd64', arm64: 'arm64' }[process.arch] ?? process.arch;
}

function md5(path) {
  return createHash('md5').update(readFileSync(path)).digest('hex');
}

function readTemplate(name) {
  return readFileSync(join(root, 'packaging/debian', name), 'utf8');
}
