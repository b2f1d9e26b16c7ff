import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import type { Stack } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { change, recover } from './visitors.js';

/** A site prepared for a suite about logging in; its fields are there from `beforeAll` on. */
export interface LoginSuite {
  readonly owner: Session;
  /** An application password of an account that was made. */
  key(login: string): string;
}

/**
 * Adds a must-use plugin and accounts with the owner's password, opens XML-RPC and sets the limit of login attempts;
 * takes all of it back at the end of the suite.
 */
export function prepareLoginSuite(
  stack: Stack,
  options: {
    /** Name of the file in the folder of must-use plugins, and its PHP. */
    readonly plugin: { readonly file: string; readonly php: string };
    readonly logins: readonly string[];
    readonly role?: string;
    readonly limit: number;
  },
): LoginSuite {
  const plugin = join(muPlugins(stack), options.plugin.file);
  const list = options.logins.map((login) => `'${login}'`).join(', ');
  let keys: Readonly<Record<string, string>> = {};
  let owner: Session;
  let xmlRpcBefore: 0 | 1;

  beforeAll(async () => {
    writeFileSync(plugin, options.plugin.php);
    keys = JSON.parse(
      await runInWordPress(
        stack,
        `$keys = array();
        foreach ( array( ${list} ) as $login ) {
          $id = wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => '${options.role ?? 'subscriber'}' ) );
          $keys[ $login ] = WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'phone' ) )[0];
        }
        echo wp_json_encode( $keys );`,
      ),
    );
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
    await change(stack, owner, '/limit-login-attempts', { login_attempts: options.limit });
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    await change(stack, owner, '/limit-login-attempts', { login_attempts: 5 });
    await setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore });
    rmSync(plugin, { force: true });
    await deleteUsers(stack, options.logins);
  });
  return {
    get owner() {
      return owner;
    },
    key: (login) => keys[login] ?? '',
  };
}

/** Deletes those of the accounts that exist. */
export async function deleteUsers(stack: Stack, logins: readonly string[]): Promise<void> {
  await runInWordPress(
    stack,
    `require_once ABSPATH . 'wp-admin/includes/user.php';
    foreach ( array( ${logins.map((login) => `'${login}'`).join(', ')} ) as $login ) {
      $user = get_user_by( 'login', $login );
      if ( $user ) { wp_delete_user( $user->ID ); }
    }`,
  );
}

/** The passwords that WordPress compared since the beginning of a test. */
export interface PasswordChecks {
  /** PHP for a must-use plugin, which writes them down. */
  readonly php: string;
  readonly file: string;
  /** Each password once: WordPress itself compares one with the password and with application passwords. */
  list(): readonly string[];
  clear(): void;
}

/** Records the passwords that are compared, in a file that is emptied before each test and removed after the last. */
export function recordPasswordChecks(stack: Stack, name: string): PasswordChecks {
  const file = join(stack.dir, name);
  beforeAll(() => {
    writeFileSync(file, '');
    chmodSync(file, 0o666);
  });
  beforeEach(() => writeFileSync(file, ''));
  afterAll(() => rmSync(file, { force: true }));
  return {
    file,
    // WordPress 6.8 and newer compare application passwords without the filter; there is the action for a wrong one.
    php: `add_filter( 'check_password', function ( $right, $password ) {
  file_put_contents( '${file}', "$password\\n", FILE_APPEND | LOCK_EX );
  return $right;
}, -1000, 2 );
add_action( 'application_password_failed_authentication', function ( $error ) {
  if ( 'incorrect_password' === $error->get_error_code() && isset( $_SERVER['PHP_AUTH_PW'] ) ) {
    file_put_contents( '${file}', $_SERVER['PHP_AUTH_PW'] . "\\n", FILE_APPEND | LOCK_EX );
  }
} );
`,
    clear: () => writeFileSync(file, ''),
    list: () => [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))],
  };
}
