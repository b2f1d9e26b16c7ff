/** Folders of a WordPress on this machine. */
export interface WordPressFolders {
  /** Folder that holds wp-load.php. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins if the site has moved it (`WP_CONTENT_DIR`, `WPMU_PLUGIN_DIR`); else absent. */
  readonly muPluginsDir?: string;
}

/**
 * Content of `secret.php`, by which the connector knows guard (docs/connector-protocol.md).
 * @param secret 64 hexadecimal digits
 */
export function secretPhp({
  secret,
  requireGuard,
}: {
  readonly secret: string;
  readonly requireGuard: boolean;
}): string {
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('The secret must be 64 hexadecimal digits.');
  const isRequired = requireGuard === true;
  return [
    '<?php',
    '// Written by Security Optimizer. The key by which WordPress knows the guard in front of it.',
    // A connector of an earlier version reads only the second name, and must still refuse direct requests.
    `return array( 'secret' => '${secret}', 'require_guard' => ${isRequired}, 'only_through_guard' => ${isRequired} );`,
    '',
  ].join('\n');
}
