import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run.mjs';

/** The Node that packages bring: a release with long-term support and `node:sqlite`, with the checksums of npm. */
export const bundledNode = JSON.parse(readFileSync(join(root, 'packaging/node.json'), 'utf8'));

/**
 * Fetches the official binary of Node from the npm registry, once.
 *
 * @param arch processor as Debian names it
 * @returns folder with `bin/node` and `LICENSE`
 * @throws for another processor, without a network, and when the checksum differs
 */
export function fetchNode(arch) {
  const { version, binaries } = bundledNode;
  const binary = binaries[arch];
  if (binary === undefined) throw new Error(`There is no Node for ${arch}; known are ${Object.keys(binaries)}.`);
  const folder = join(root, `.cache/packaged-node/${version}-${arch}`);
  if (existsSync(folder)) return folder;
  const unpacked = `${folder}.new`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const name = `${binary.package}@${version}`;
  call('npm', ['pack', name, '--pack-destination', unpacked, '--loglevel=error']);
  const archive = join(unpacked, `${binary.package}-${version}.tgz`);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (integrity !== binary.integrity) throw new Error(`${name} has another checksum than packaging/node.json names.`);
  call('tar', ['-xzf', archive, '-C', unpacked, '--strip-components=1', 'package/bin/node', 'package/LICENSE']);
  rmSync(archive);
  renameSync(unpacked, folder);
  return folder;
}

/** Runs a program and returns what it printed. Throws with its message when it fails. */
export function call(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (error || status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stdout;
}
