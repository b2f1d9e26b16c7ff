import { renameSync, rmSync } from 'node:fs';
import { unpackTarball } from './archive.js';
import { type DownloadOptions, download } from './download.js';

/** A package of the npm registry of which only some files are used, so that it is no dependency. */
export interface PinnedPackage {
  /** As in the registry, `@scope/name` or `name`. */
  readonly name: string;
  readonly version: string;
  /** Checksum of its tarball, in base64. */
  readonly sha512: string;
}

/** Host name of the npm registry that this machine uses. */
export function getRegistryHost(env: NodeJS.ProcessEnv = process.env): string {
  return new URL(getRegistry(env)).host;
}

/** Address of the package's tarball in the npm registry that this machine uses. */
export function getTarballUrl({ name, version }: PinnedPackage, env: NodeJS.ProcessEnv = process.env): string {
  return `${getRegistry(env)}/${name}/-/${name.replace(/^@[^/]*\//, '')}-${version}.tgz`;
}

function getRegistry(env: NodeJS.ProcessEnv): string {
  return (env.npm_config_registry ?? 'https://registry.npmjs.org').replace(/\/+$/, '');
}

/**
 * Unpacks those files of a package into the folder `target` whose path in the package passes the filter. The folder
 * appears when it is complete. The tarball lies beside it meanwhile; the next call continues an interrupted download.
 * @throws DownloadError when the network or the server fails, or the checksum differs
 */
export async function unpackNpmPackage(
  pinned: PinnedPackage,
  target: string,
  filter: (path: string) => boolean,
  onProgress: DownloadOptions['onProgress'] = () => {},
): Promise<void> {
  const file = `${target}.tgz`;
  const checksum = { algorithm: 'sha512', encoding: 'base64', value: pinned.sha512 } as const;
  await download({ url: getTarballUrl(pinned), file, checksum, onProgress });
  const unpacked = `${target}.unpacked`;
  rmSync(unpacked, { recursive: true, force: true });
  await unpackTarball(file, unpacked, filter);
  rmSync(target, { recursive: true, force: true });
  renameSync(unpacked, target);
  rmSync(file, { force: true });
}
