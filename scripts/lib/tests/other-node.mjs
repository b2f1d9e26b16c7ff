import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from '../run.mjs';

/** Path of another release of Node, once `installNode` has installed it. */
export function nodeBinary(release) {
  return join(getHome(release), 'node_modules/node/bin/node');
}

/** Installs another release of Node from the npm package `node`, once. */
export async function installNode(release) {
  if (existsSync(nodeBinary(release))) return;
  const home = getHome(release);
  mkdirSync(home, { recursive: true });
  await npm(['install', '--prefix', home, '--no-save', '--loglevel=error', `node@${release}`]);
}

function getHome(release) {
  return join(root, `.cache/node-${release}`);
}
