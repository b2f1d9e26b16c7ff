import { execFile } from 'node:child_process';
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp } from '@security-optimizer/sandbox/lib/ports';
import { startService, stopLeftover } from '@security-optimizer/sandbox/lib/service';
import { getPhpScriptArgs, getPhpSettings, toPhpArgs } from '@security-optimizer/sandbox/php/native';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import { phpDir } from '@security-optimizer/sandbox/wordpress/install';
import type { Stack } from './stack.js';

const run = promisify(execFile);

/** Runs PHP code in the site's WordPress on the command line. @returns the output of the code */
export async function runInWordPress(stack: Stack, code: string): Promise<string> {
  const { host } = new URL(stack.url);
  const script = `$_SERVER['HTTP_HOST'] = '${host}'; $_SERVER['REQUEST_METHOD'] = 'GET';
require '${join(stack.wordpressDir, 'wp-load.php')}'; ob_end_clean(); echo "\\n<<<"; ${code}`;
  const args = [...getPhpScriptArgs(stack.dir), '-r', `ob_start(); ${script}`];
  const { stdout } = await run('php', args, { timeout: 60_000, maxBuffer: 16 * 1024 * 1024 });
  return stdout.slice(stdout.indexOf('<<<') + 3);
}

const loader = (stack: Stack) => join(stack.wordpressDir, 'wp-content/mu-plugins/security-optimizer.php');

/** Removes the connector from WordPress while `work` runs. */
export async function withoutConnector<T>(stack: Stack, work: () => Promise<T>): Promise<T> {
  const put = loader(stack);
  renameSync(put, `${put}.away`);
  try {
    return await work();
  } finally {
    renameSync(`${put}.away`, put);
  }
}

/** Stops WordPress's web server. */
export async function stopWordPress(stack: Stack): Promise<void> {
  await stopLeftover(webServer(stack).pidFile);
}

/** Starts WordPress's web server again on the port that it had. */
export async function startWordPress(stack: Stack): Promise<void> {
  await startService({
    ...webServer(stack),
    ready: () => answersHttp(`http://127.0.0.1:${stack.upstreamPort}/wp-includes/css/buttons.min.css`),
    readySeconds: 90,
    // Processes of test files end; the global set-up stops the web server.
    outlivesParent: true,
  });
}

function webServer(stack: Stack) {
  const { dir, kind } = stack;
  if (kind === 'embedded') {
    const router = join(phpDir, 'router.php');
    const address = `127.0.0.1:${stack.upstreamPort}`;
    return {
      name: 'PHP',
      command: 'php',
      args: [...toPhpArgs(getPhpSettings(dir)), '-S', address, '-t', stack.wordpressDir, router],
      env: { ...process.env, PHP_CLI_SERVER_WORKERS: '6' },
      pidFile: join(dir, 'run/php.json'),
      logFile: join(dir, 'logs/php-server.log'),
    };
  }
  const programs = findPrograms();
  return {
    name: 'nginx',
    command: typeof programs === 'string' ? 'nginx' : programs.nginx,
    args: ['-c', join(dir, 'nginx.conf'), '-p', dir, '-e', 'stderr'],
    pidFile: join(dir, 'run/nginx.json'),
    logFile: join(dir, 'logs/nginx.log'),
  };
}

/** Folder of WordPress's must-use plugins. */
export function muPlugins(stack: Stack): string {
  return dirname(loader(stack));
}

/** Logins of the other accounts of the site, by role. They have the owner's password. */
export const usersByRole = { editor: 'an-editor', author: 'an-author', subscriber: 'a-subscriber' } as const;

/**
 * Creates an account for each role, and marks the guided tours of the editors as seen, since they would cover the page.
 * It also stores whether browsers accept compressed scripts: WordPress detects that on the first visit to wp-admin,
 * which changes the links of later pages.
 */
export async function prepareSite(stack: Stack): Promise<void> {
  const list = Object.entries(usersByRole).map(([role, login]) => `'${role}' => '${login}'`);
  await runInWordPress(
    stack,
    `foreach ( array( ${list.join(', ')} ) as $role => $login ) {
      if ( ! username_exists( $login ) ) {
        wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => $role ) );
      }
    }
    $tours = array( 'welcomeGuide' => false );
    update_user_meta( 1, $GLOBALS['wpdb']->get_blog_prefix() . 'persisted_preferences', array(
      'core/edit-post' => $tours,
      'core/edit-site' => $tours,
      '_modified'      => gmdate( 'c' ),
    ) );
    update_site_option( 'can_compress_scripts', 1 );`,
  );
}
