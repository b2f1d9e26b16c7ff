import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOTP, Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type RawResponse, sendRaw } from '../../http/raw.js';
import { form, type TypedRequest, toBytes } from '../../http/request.js';
import { authorised, callApi, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { guardLog, isGuardRunning, securityOptimizer } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';

/** Sends a request to the site through guard, from an address of this machine such as 127.0.1.9. */
export function sendFrom(stack: Stack, from: string, request: TypedRequest): Promise<RawResponse> {
  return sendRaw(stack.port, toBytes(stack, request), { from });
}

/** What WordPress's own login form sends. */
export function loginForm(
  login: string,
  password: string,
  more: { readonly path?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): TypedRequest {
  const fields = new URLSearchParams({ log: login, pwd: password, 'wp-submit': 'Log In', testcookie: '1' });
  const cookie = 'wordpress_test_cookie=WP%20Cookie%20check';
  return form(more.path ?? '/wp-login.php', fields.toString(), { cookie, ...more.headers });
}

/** Whether a response creates a session. */
export function createsSession(response: RawResponse): boolean {
  return /^set-cookie: wordpress_logged_in_[0-9a-f]+=(?!\+|%20|;)[^;]+/im.test(response.head);
}

/** Runs a recovery command of the product on the stack's site. Throws with its words when it fails. */
export async function recover(stack: Stack, ...args: string[]): Promise<string> {
  const lifted = (): number => guardLog(stack).filter(({ event }) => event === 'login-unlocks-applied').length;
  // Guard applies it with a delay, and would then reset failures of the next test.
  const isHeard = args.join(' ') === 'unblock --all' && isGuardRunning(stack);
  const before = isHeard ? lifted() : 0;
  const outcome = await securityOptimizer(...args, '--data-dir', stack.guardDir);
  if (outcome.code !== 0) throw new Error(`${args.join(' ')}: ${outcome.stderr}`);
  if (isHeard) await until('guard has heard of it', () => lifted() > before);
  return outcome.stdout;
}

/** Changes a setting of Login Security through the API, as the dashboard does. */
export async function change(stack: Stack, session: Session, suffix: string, body: unknown): Promise<unknown> {
  const response = await callApi(stack, {
    path: `/wp-json/security-optimizer/v1${suffix}`,
    body: JSON.stringify(body),
    headers: authorised(session),
  });
  if (response.body.status !== 200) throw new Error(`${suffix} can't be set: ${JSON.stringify(response.body)}`);
  return response.body.data;
}

/** Everything that distinguishes two responses for a client, without values that always differ. */
export function toComparable(response: RawResponse) {
  const { date: _, 'content-length': __, etag: ___, ...headers } = response.headers;
  const body = response.body.replace(/nonce["=:]+[0-9A-Za-z+/=]+/g, 'NONCE').replace(/[0-9a-f]{8,}/g, 'RANDOM');
  return { status: response.status, headers, body };
}

/** A site prepared for a suite about logins. Its fields are set in `beforeAll`. */
export interface LoginSuite {
  readonly owner: Session;
  /** The application password of a created account. */
  key(login: string): string;
}

/**
 * Adds a must-use plugin and accounts with the owner's password, opens XML-RPC and sets the limit of login attempts;
 * reverts all of it at the end of the suite.
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

/** The passwords that WordPress compared since the start of a test. */
export interface PasswordChecks {
  /** PHP for a must-use plugin that records them. */
  readonly php: string;
  readonly file: string;
  /** Each password once, since WordPress compares one with the password and with application passwords. */
  list(): readonly string[];
  clear(): void;
}

/** Records the compared passwords in a file that is emptied before each test and removed after the last. */
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
    // WordPress 6.8 and newer compare application passwords without the filter, so the action for a wrong one is used.
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

/** The page of the second factor. */
export const SECOND_FACTOR = '/wp-login.php?action=second-factor';

/** A browser without scripts that keeps cookies. */
export class FormBrowser {
  readonly #cookies = new Map<string, string>();
  constructor(
    readonly stack: Stack,
    /** Client address. */
    readonly from: string,
    readonly agent: string,
    /** Path of the login form. */
    readonly loginPath = '/wp-login.php',
  ) {}

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async logIn(login: string, password = this.stack.password): Promise<RawResponse> {
    const { stack, from } = this;
    return this.#keep(
      await sendFrom(stack, from, loginForm(login, password, { path: this.loginPath, headers: this.#headers() })),
    );
  }

  get(target: string): Promise<RawResponse> {
    return this.request({ target });
  }

  /** Sends any request with the cookies of this browser, and keeps those of the answer. */
  async request(request: TypedRequest): Promise<RawResponse> {
    const headers = { ...this.#headers(), ...request.headers };
    return this.#keep(await sendFrom(this.stack, this.from, { ...request, headers }));
  }

  /** Sends a form of the second factor, with the token of its page. */
  async send(
    page: RawResponse,
    step: string,
    fields: Readonly<Record<string, string>>,
    target = SECOND_FACTOR,
  ): Promise<RawResponse> {
    const token = /name="token" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const body = new URLSearchParams({ token, step, ...fields }).toString();
    const headers = { ...this.#headers(), origin: this.stack.url };
    return this.#keep(await sendFrom(this.stack, this.from, form(target, body, headers)));
  }

  #headers() {
    return { 'user-agent': this.agent, cookie: ['wordpress_test_cookie=x', this.cookie].filter(Boolean).join('; ') };
  }

  #keep(response: RawResponse): RawResponse {
    for (const [, name, value] of response.head.matchAll(/^set-cookie: ([^=]+)=([^;]*)/gim)) {
      this.#cookies.set(name ?? '', value ?? '');
    }
    return response;
  }
}

/** Accounts with a second factor. Each backup code works once, so tests use one after the other. */
export class EnrolledUsers {
  readonly #keys = new Map<string, string>();
  readonly #codes: { readonly login: string; readonly code: string }[] = [];

  constructor(
    readonly stack: Stack,
    /** Client address of their browsers. */
    readonly from: string,
  ) {}

  /** Sets up the second factor during a login. */
  async enrol(login: string): Promise<void> {
    const browser = this.browser();
    await browser.logIn(login);
    const page = await browser.get(SECOND_FACTOR);
    const key = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    const shown = await browser.send(page, 'enrol', { code: totpCode(key) });
    const codes = [...shown.body.matchAll(/<li>(\d{4} \d{4})<\/li>/g)].map(([, code]) => code ?? '');
    expect(createsSession(await browser.send(shown, 'continue', { saved: '1' }))).toBe(true);
    this.#keys.set(login, key);
    this.#codes.push(...codes.map((code) => ({ login, code })));
  }

  /** Resets every factor that was set up here. */
  async reset(): Promise<void> {
    for (const login of this.#keys.keys()) await recover(this.stack, 'two-factor', 'reset', login);
  }

  browser(agent = 'A browser'): FormBrowser {
    return new FormBrowser(this.stack, this.from, agent);
  }

  /** The next unused backup code, and its user. */
  next(login?: string): { readonly login: string; readonly code: string } {
    const at = this.#codes.findIndex((one) => login === undefined || one.login === login);
    const [code] = at === -1 ? [] : this.#codes.splice(at, 1);
    if (code === undefined) throw new Error('All backup codes are used.');
    return code;
  }

  /** An app code, later than the one that the set-up has used. Works once for each account. */
  appCode(login: string): string {
    return totpCode(this.#keys.get(login) ?? '', totpStep() + 1);
  }
}

/** Sends a code at the page that asks for it. */
export async function sendCode(browser: FormBrowser, code: string, page = SECOND_FACTOR): Promise<RawResponse> {
  return browser.send(await browser.get(page), 'backup', { code }, page);
}

/** The 30-second step of an authenticator app that contains the present time (RFC 6238). */
export function totpStep(): number {
  return TOTP.counter();
}

/**
 * The code that an authenticator app shows.
 *
 * @param key as the set-up page shows it: base 32 with spaces in between
 * @param step the present one by default; guard accepts one step early or late, and each step once
 */
export function totpCode(key: string, step = totpStep()): string {
  return HOTP.generate({ secret: Secret.fromBase32(key), counter: step });
}

/** The mails that WordPress sends from now on. */
export interface Mailbox {
  /** Waits for the first mail to an address. @returns its text */
  to(address: string, seconds?: number): Promise<string>;
  /** Deletes all mails. */
  empty(): void;
}

export function mailbox(stack: Stack): Mailbox {
  const dir = join(stack.dir, 'mail');
  const files = (): string[] => (existsSync(dir) ? readdirSync(dir) : []);
  const before = new Set(files());
  const added = (): string[] => files().filter((name) => !before.has(name));
  return {
    to: (address, seconds) =>
      until(
        `a mail to ${address} is there`,
        () =>
          added()
            .map((name) => readFileSync(join(dir, name), 'latin1'))
            .find((text) => new RegExp(`^To: .*${address}`, 'im').test(text)),
        seconds,
      ),
    empty() {
      for (const name of added()) rmSync(join(dir, name));
    },
  };
}

/**
 * PHP for a must-use plugin: application passwords without HTTPS, and its own login form, as on shops and membership
 * sites. The response says whether the login worked.
 */
export const SHOP_PLUGIN = `add_filter( 'wp_is_application_passwords_available', '__return_true' );
add_action( 'wp_loaded', function () {
  if ( isset( $_POST['shop_login'], $_POST['shop_password'] ) ) {
    $user = wp_signon( array( 'user_login' => $_POST['shop_login'], 'user_password' => $_POST['shop_password'] ) );
    exit( is_wp_error( $user ) ? 'Not logged in' : 'Logged in' );
  }
} );
`;

/** PHP for a must-use plugin: basic authentication as by plugins, without application passwords. */
export const BASIC_AUTHENTICATION = `add_filter( 'determine_current_user', function ( $user ) {
  global $basic_fault;
  if ( $user || ! isset( $_SERVER['PHP_AUTH_USER'] ) || strlen( $_SERVER['PHP_AUTH_PW'] ) > 23 ) { return $user; }
  remove_filter( 'determine_current_user', __FUNCTION__ );
  $found = wp_authenticate( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] );
  $basic_fault = is_wp_error( $found ) ? $found : null;
  return is_wp_error( $found ) ? $user : $found->ID;
}, 15 );
add_filter( 'rest_authentication_errors', function ( $errors ) { global $basic_fault; return $basic_fault ?? $errors; }, 5 );
`;

/** That form, filled in. */
export function shopForm(login: string, password: string): TypedRequest {
  return form('/', new URLSearchParams({ shop_login: login, shop_password: password }).toString());
}
