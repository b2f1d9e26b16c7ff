import { createHash } from 'node:crypto';

/** Folders of a WordPress on this machine. */
export interface WordPressFolders {
  /** Folder that holds wp-load.php. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins if the site has moved it (`WP_CONTENT_DIR`, `WPMU_PLUGIN_DIR`); absent otherwise. */
  readonly muPluginsDir?: string;
}

/**
 * Name of a site's key file in a folder that several sites use. The connector computes the same name from the folder of
 * WordPress, never from a visitor's input (docs/decisions/0032).
 * @param wordpressDir folder of WordPress without links in its path
 */
export function toKeyFileName(wordpressDir: string): string {
  const hash = createHash('sha256').update(wordpressDir.replace(/\/+$/, ''));
  return `${hash.digest('hex').slice(0, 16)}.php`;
}

/**
 * Content of a key file, by which the connector authenticates guard (docs/developer/connector-protocol.md).
 * @param key `secret`: 64 hexadecimal digits; `onlyFor`: folder of the only WordPress for which the key is valid
 */
export function secretPhp({
  secret,
  requireGuard,
  onlyFor,
}: {
  readonly secret: string;
  readonly requireGuard: boolean;
  readonly onlyFor?: string;
}): string {
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('The secret must be 64 hexadecimal digits.');
  const isRequired = requireGuard === true;
  return [
    '<?php',
    '// Written by Security Optimizer. The key by which WordPress knows the guard in front of it.',
    // A connector of an earlier version reads only the second name, and must still refuse direct requests.
    ...(onlyFor === undefined ? [] : [`if ( realpath( ABSPATH ) !== ${toPhpString(onlyFor)} ) { return null; }`]),
    `return array( 'secret' => '${secret}', 'require_guard' => ${isRequired}, 'only_through_guard' => ${isRequired} );`,
    '',
  ].join('\n');
}

/** A PHP string literal in single quotes. The owner of a site chooses the names of folders, so they are untrusted. */
function toPhpString(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
