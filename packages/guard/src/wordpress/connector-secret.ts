import { chown, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FileAccess, writeFileAtomically } from '../lib/write-file-atomically.js';

/** Where a WordPress lies that is on this machine. */
export interface WordPressFolders {
  /** Folder that holds wp-load.php. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins where the site has moved it (`WP_CONTENT_DIR`, `WPMU_PLUGIN_DIR`); else absent. */
  readonly muPluginsDir?: string;
}

/** Folder of the connector's own files. */
export function connectorFolder({ wordpressDir, muPluginsDir }: WordPressFolders): string {
  return join(muPluginsDir ?? join(wordpressDir, 'wp-content', 'mu-plugins'), 'security-optimizer');
}

/**
 * Writes `secret.php`, by which the connector knows guard (docs/connector-protocol.md). It gets the owner, group and
 * read rights of wp-config.php: whoever may read the database password may read this, nobody else.
 *
 * @param secret 64 hexadecimal digits
 */
export async function writeConnectorSecret(
  folders: WordPressFolders,
  content: { readonly secret: string; readonly onlyThroughGuard: boolean },
): Promise<void> {
  if (!/^[0-9a-f]{64}$/.test(content.secret)) throw new Error('The secret must be 64 hexadecimal digits.');
  const php = [
    '<?php',
    '// Written by Security Optimizer. The key by which WordPress knows the guard in front of it.',
    `return array( 'secret' => '${content.secret}', 'only_through_guard' => ${content.onlyThroughGuard} );`,
    '',
  ].join('\n');
  const model = await configurationFile(folders.wordpressDir);
  await writeFileAtomically(join(connectorFolder(folders), 'secret.php'), php, {
    ...(await accessLike(folders.wordpressDir)),
    mode: (await stat(model)).mode & 0o644,
  });
}

/** Whether a connector is installed that has not this secret: its key file is missing, cut short or another one. */
export async function lacksConnectorSecret(folders: WordPressFolders, secret: string): Promise<boolean> {
  const folder = connectorFolder(folders);
  const loader = await stat(join(dirname(folder), 'security-optimizer.php')).catch(() => null);
  if (!loader?.isFile()) return false;
  const text = await readFile(join(folder, 'secret.php'), 'utf8').catch(() => '');
  return !text.includes(secret);
}

/** Owner and group of the site's files, where this process may set them. */
export async function accessLike(wordpressDir: string): Promise<Omit<FileAccess, 'mode'>> {
  const { uid, gid } = await stat(await configurationFile(wordpressDir));
  return process.getuid?.() === 0 ? { uid, gid } : {};
}

/** Makes a folder that the web server may enter, owned like the site's files. */
export async function makeSiteFolder(path: string, access: Omit<FileAccess, 'mode'>): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o755 });
  if (made && access.uid !== undefined && access.gid !== undefined) await chown(path, access.uid, access.gid);
}

/** wp-config.php, which WordPress also finds one folder up, or wp-load.php before WordPress is configured. */
async function configurationFile(wordpressDir: string): Promise<string> {
  for (const name of ['wp-config.php', join('..', 'wp-config.php')]) {
    const path = join(wordpressDir, name);
    if (
      await stat(path).then(
        (found) => found.isFile(),
        () => false,
      )
    )
      return path;
  }
  return join(wordpressDir, 'wp-load.php');
}
