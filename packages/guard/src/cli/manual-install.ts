import type { SiteId } from '../site.js';
import { secretPhp } from '../wordpress/connector-secret.js';
import { toIncludingLoader } from './connector-files.js';

/** A site whose files the operator puts in place: its code can't be written, or is on another machine. */
export interface ManualSite {
  readonly id: SiteId;
  /** 64 hexadecimal digits. */
  readonly secret: string;
  readonly requireGuard: boolean;
  /** Folder of the connector's release, as PHP sees it; null where `attach` installs the connector. */
  readonly sharedRelease: string | null;
  /** Folder of must-use plugins; null when guard does not know it. */
  readonly muPluginsDir: string | null;
}

/** What to put where, as a text for the operator. It shows the key. */
export function printManualInstall({ id, secret, requireGuard, sharedRelease, muPluginsDir }: ManualSite): string {
  const file = `/etc/security-optimizer/${id}.php`;
  const plugins =
    muPluginsDir ?? 'the folder of must-use plugins (wp-content/mu-plugins, or what WPMU_PLUGIN_DIR says)';
  const connector =
    sharedRelease === null
      ? 'The connector: `attach` has installed it.\n'
      : `The connector: a file security-optimizer.php, mode 644, in
   ${plugins}.
   PHP must be able to read ${sharedRelease} (open_basedir).

${toIncludingLoader(sharedRelease)}`;
  return `Put in place for the site ${id}:

1. ${connector}
2. The key, in one of these forms. Nobody but PHP of this site should be able to read it.

   A file outside the web root, for example ${file}:

${secretPhp({ secret, requireGuard })}
   that wp-config.php names, above the line that loads wp-settings.php:

define( 'SECURITY_OPTIMIZER_KEY_FILE', '${file}' );

   Or a file with the digits alone, such as a container mounts, that a variable of PHP's environment names:

${secret}

SECURITY_OPTIMIZER_KEY_FILE=/run/secrets/security-optimizer-key
SECURITY_OPTIMIZER_REQUIRE_GUARD=${requireGuard ? 1 : 0}

   Or the digits themselves in SECURITY_OPTIMIZER_KEY, as a constant or a variable. phpinfo() shows variables, so a file is
   better. A constant counts before a variable. Sites that one pool of PHP serves need the constant.

3. Then: security-optimizer status
`;
}
