import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Folders of the parts of a site, below its root. */
export interface SiteLayout {
  /** Folder with wp-load.php, which also has a `wp-content`. */
  readonly core: string;
  /** The folder that is used as `wp-content`. */
  readonly content: string;
  /** Folder with wp-config.php: that of WordPress, or its parent. */
  readonly config: string;
  /** Folder of must-use plugins, if it is not in `content`. */
  readonly muPlugins?: string;
}

/** How WordPress 7.1 finds its configuration, as far as it determines the folders. */
const LOAD = `<?php
define( 'ABSPATH', __DIR__ . '/' );
if ( file_exists( ABSPATH . 'wp-config.php' ) ) {
	require_once ABSPATH . 'wp-config.php';
} elseif ( file_exists( dirname( ABSPATH ) . '/wp-config.php' ) && ! file_exists( dirname( ABSPATH ) . '/wp-settings.php' ) ) {
	require_once dirname( ABSPATH ) . '/wp-config.php';
}
`;
const SETTINGS = `<?php
if ( ! defined( 'WP_CONTENT_DIR' ) ) {
	define( 'WP_CONTENT_DIR', ABSPATH . 'wp-content' );
}
// No database here.
exit( 'Error establishing a database connection' );
`;

/** A site with the files by which WordPress finds its folders; no other part of it runs. */
export function makeSite(root: string, { core, content, config, muPlugins }: SiteLayout) {
  const wordpress = join(root, core);
  for (const folder of [join(core, 'wp-includes'), join(core, 'wp-content'), content, muPlugins ?? content]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(wordpress, 'wp-load.php'), LOAD);
  writeFileSync(join(wordpress, 'wp-settings.php'), SETTINGS);
  writeFileSync(join(wordpress, 'wp-includes', 'version.php'), '<?php');
  const loads = muPlugins === undefined ? join(root, content, 'mu-plugins') : join(root, muPlugins);
  const constant = muPlugins === undefined ? 'WP_CONTENT_DIR' : 'WPMU_PLUGIN_DIR';
  const moved = muPlugins === undefined ? dirname(loads) : loads;
  const isMoved = moved !== join(wordpress, 'wp-content');
  const configuration = join(root, config, 'wp-config.php');
  writeFileSync(
    configuration,
    `<?php
// Here.
${isMoved ? `defined( '${constant}' ) || define( '${constant}', '${moved}' );` : ''}
require_once ABSPATH . 'wp-settings.php';
`,
  );
  return {
    root,
    wordpress,
    /** Folder of must-use plugins that is in use. */
    loads,
    /** The folder of must-use plugins in WordPress's own folder. */
    unused: join(wordpress, 'wp-content', 'mu-plugins'),
    /** Adds code to the configuration. */
    configure: (code: string) =>
      writeFileSync(
        configuration,
        readFileSync(configuration, 'utf8').replace('// Here.', () => code),
      ),
  };
}
