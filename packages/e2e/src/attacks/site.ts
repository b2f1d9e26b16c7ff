import { randomInt } from 'node:crypto';
import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { type RawResponse, sendRaw } from '../http/raw.js';
import { form, type TypedRequest, toBytes } from '../http/request.js';
import { getCookies } from '../http/session.js';
import { LIMITED_STATUS } from './requests.js';

/**
 * A precondition of an attack: a protection that is on, a known custom login URL, the credentials of the owner, the web
 * server behind guard, a limit of failed logins, or a second client address.
 */
export type Requirement =
  | SecurityField
  | 'hidden login'
  | 'login address'
  | 'login limit'
  | 'second factor'
  | 'no second factor'
  | 'owner'
  | 'owner session'
  | 'origin'
  | 'more addresses'
  | 'XML-RPC open';

export interface SiteOptions {
  /** URL of the site, through guard. */
  readonly url: string;
  /** URL of WordPress's own web server, without guard. */
  readonly origin?: string;
  /** Path of the login, where it is not WordPress's own. */
  readonly loginUrl?: string;
  readonly owner?: { readonly login: string; readonly password: string };
  /** States that the caller knows, so that they are not detected. */
  readonly expect?: Readonly<Partial<Record<SecurityField, boolean>>>;
  /** Failed logins that the site permits. */
  readonly limit?: number;
  /** Whether this machine has several client addresses, as on loopback. */
  readonly manyAddresses: boolean;
  /** Sends requests in another way than by HTTP/1.1 to the host of the URL. Attacks in bytes can't use it. */
  readonly transport?: Transport;
}

/** @param from the client address; undefined for the usual one */
export type Transport = (request: TypedRequest, from: string | undefined) => Promise<RawResponse>;

/** The owner's login. */
interface OwnerSession {
  readonly login: string;
  readonly password: string;
  readonly cookie: string;
  readonly nonce: string;
}

/** A site under attack: sends requests to it and knows its settings. */
export class AttackedSite {
  readonly url: URL;
  readonly loginPath: string;
  owner: OwnerSession | null = null;
  limit: number | null;
  #have = new Map<Requirement, string | true>();
  #addresses = 0;
  /** Address that requests come from unless another one is named; the machine chooses when there is none. */
  #usualAddress: string | undefined;
  /** A new network each time: the addresses of an earlier run may still be locked out. */
  readonly #network = `127.${randomInt(64, 250)}`;

  private constructor(readonly options: SiteOptions) {
    this.url = new URL(options.url);
    this.loginPath = options.loginUrl ?? '/wp-login.php';
    this.limit = options.limit ?? null;
  }

  /** Detects the settings of a site. Throws if it does not answer, or if the owner can't log in. */
  static async meet(options: SiteOptions): Promise<AttackedSite> {
    const site = new AttackedSite(options);
    await site.#look();
    return site;
  }

  get host(): string {
    return this.url.host;
  }

  /** Sends a request, from the usual address unless another one is named. */
  request(request: TypedRequest, from = this.#usualAddress): Promise<RawResponse> {
    if (this.options.transport !== undefined) return this.options.transport(request, from);
    return this.send(toBytes(this.options, request), from);
  }

  /** Sends bytes as they are. */
  send(bytes: string, from = this.#usualAddress): Promise<RawResponse> {
    return sendTo(this.url, bytes, from);
  }

  /** Sends a request to the web server behind guard. */
  requestOrigin(request: TypedRequest): Promise<RawResponse> {
    return sendTo(new URL(this.options.origin ?? ''), toBytes(this.options, request));
  }

  /** Whether the site answers. */
  isAvailable(): Promise<boolean> {
    return this.request({ target: '/' }).then(
      () => true,
      () => false,
    );
  }

  /** An address without earlier requests if there are several; else the usual one. */
  newAddress(): string | undefined {
    if (!this.options.manyAddresses) return undefined;
    this.#addresses += 1;
    return `${this.#network}.${Math.floor(this.#addresses / 250)}.${1 + (this.#addresses % 250)}`;
  }

  /** The reason why an attack does not apply to this site; null if it applies. */
  lacks(needs: readonly Requirement[] = []): string | null {
    for (const requirement of needs) {
      const state = this.#have.get(requirement);
      if (state !== true) return state ?? `nothing is known of: ${requirement}`;
    }
    return null;
  }

  /** The detected settings, one line each. */
  states(): string[] {
    return [...this.#have].map(([requirement, state]) => `${requirement}: ${state === true ? 'yes' : `no (${state})`}`);
  }

  /** Headers with which the owner calls the API. */
  get ownerHeaders(): Readonly<Record<string, string>> {
    const { cookie = '', nonce = '' } = this.owner ?? {};
    return { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json', accept: 'application/json' };
  }

  async #look(): Promise<void> {
    const have = this.#have;
    const set = (requirement: Requirement, there: boolean, why: string) => void have.set(requirement, there || why);
    const { options } = this;
    const { location } = (await this.request({ target: '/' })).headers;
    const home = location === undefined ? this.url : new URL(location, this.url);
    if (home.origin !== this.url.origin) throw new Error(`The site sends on to ${home.origin}; give that as --url.`);
    const login = await this.#findOpenLogin();
    const wpLogin = await this.request({ target: '/wp-login.php' });
    const shown = whyNotHidden(wpLogin, options.loginUrl !== undefined);
    set('hidden login', shown === null, shown ?? '');
    if (login.status === LIMITED_STATUS) set('login address', false, lockedOut(this.loginPath));
    else
      set('login address', shown !== null || options.loginUrl !== undefined, 'the login is hidden; give --login-url');
    set('origin', options.origin !== undefined, 'give --origin');
    set('more addresses', options.manyAddresses, 'only on loopback there are more addresses to come from');
    set('owner', options.owner !== undefined, 'give --owner and a password');
    const needsSecondFactor = options.owner !== undefined && (await this.#logIn()) === 'second factor';
    const known = this.owner !== null;
    set('owner session', known, needsSecondFactor ? 'the owner has a second factor' : 'give --owner and a password');
    set('second factor', needsSecondFactor, known ? 'the owner has none' : 'only told to the owner');
    set('no second factor', !needsSecondFactor, 'the owner has a second factor');
    const security = known ? await this.#fetchOptions<Record<SecurityField, 0 | 1>>('security') : null;
    for (const { field, title } of siteSecurityToggles) {
      const on = options.expect?.[field] ?? (security === null ? await this.#looksOn(field) : security[field] === 1);
      set(
        field,
        on === true,
        on === null ? `whether “${title}” is on does not show; say it with --expect` : `“${title}” is off`,
      );
    }
    set('XML-RPC open', have.get('disable_xml_rpc') !== true, 'XML-RPC is off');
    const settings = known ? await this.#fetchOptions<LoginFacts>('login') : null;
    this.limit ??= settings?.login_attempts.find(({ selected }) => selected === 1)?.value ?? 5;
    set('login limit', this.limit > 0, '“Limit Login Attempts” is off');
  }

  /**
   * Requests the login. If the usual address is locked out, by an earlier run for example, another address is used when
   * the machine has several, because a lockout hides the normal responses.
   */
  async #findOpenLogin(): Promise<RawResponse> {
    const response = await this.request({ target: this.loginPath });
    if (response.status !== LIMITED_STATUS || !this.options.manyAddresses) return response;
    this.#usualAddress = this.newAddress();
    return this.request({ target: this.loginPath });
  }

  /** Requests the simplest resource that the protection refuses. Null if the file is missing, which proves nothing. */
  async #looksOn(field: SecurityField): Promise<boolean | null> {
    const status = async (target: string) => (await this.request({ target })).status;
    const page = () => this.request({ target: '/' });
    const shows = (status: number) => (status === 404 || status === LIMITED_STATUS ? null : status === 403);
    switch (field) {
      case 'disable_xml_rpc':
        return shows(await status('/xmlrpc.php'));
      case 'disable_feed':
        return [403, 404].includes(await status('/?feed=rss2'));
      case 'lock_system_folders':
        return shows(await status('/wp-includes/load.php'));
      case 'delete_readme':
        return shows(await status('/readme.html'));
      case 'wp_remove_version':
        return !/<meta name=["']generator["']/i.test((await page()).body);
      case 'xss_protection':
        return (await page()).headers['content-security-policy'] !== undefined;
      case 'disable_file_edit':
        // This is only visible to a logged-in user.
        return null;
    }
  }

  async #logIn(): Promise<'session' | 'second factor'> {
    const { login, password } = this.options.owner ?? { login: '', password: '' };
    const fields = new URLSearchParams({ log: login, pwd: password, 'wp-submit': 'Log In', testcookie: '1' });
    const cookie = 'wordpress_test_cookie=WP%20Cookie%20check';
    const response = await this.request(form(this.loginPath, fields.toString(), { cookie }));
    const own = getCookies(response);
    if (/action=second-factor/.test(response.headers.location ?? '')) return 'second factor';
    if (!own.includes('wordpress_logged_in_')) {
      const why = response.status === LIMITED_STATUS ? lockedOut(this.loginPath) : `status ${response.status}`;
      throw new Error(`${login} can’t log in at ${this.loginPath} (${why}).`);
    }
    const nonce = await this.request({
      target: '/wp-admin/admin-ajax.php?action=rest-nonce',
      headers: { cookie: own },
    });
    this.owner = { login, password, cookie: own, nonce: nonce.body.trim() };
    return 'session';
  }

  async #fetchOptions<T>(page: string): Promise<T> {
    const response = await this.request({
      method: 'POST',
      target: '/wp-json/security-optimizer/v1/fetch-options',
      headers: this.ownerHeaders,
      body: JSON.stringify({ page }),
    });
    const body = JSON.parse(response.body) as { status: number; data: T; message?: string };
    if (body.status !== 200) throw new Error(`The settings can’t be read: ${body.message}`);
    return body.data;
  }
}

const lockedOut = (path: string) => `limited, not judged: ${path} tells this address to wait (${LIMITED_STATUS})`;

/**
 * Why a site's login does not count as hidden; null if it does.
 *
 * @param response the response to `/wp-login.php`
 * @param isMoved whether the caller says that the login has a custom URL
 */
function whyNotHidden(response: Pick<RawResponse, 'status' | 'body'>, isMoved: boolean): string | null {
  if (response.status === 200 || /id=["']loginform["']/.test(response.body)) return '/wp-login.php shows the login';
  if (response.status === LIMITED_STATUS) return lockedOut('/wp-login.php');
  // The login may be closed to this address or at this time. If the caller knows that it is hidden, 403 reveals it.
  if (response.status === 403 && !isMoved) return 'limited, not judged: /wp-login.php is closed to this address (403)';
  return null;
}

interface LoginFacts {
  readonly login_attempts: readonly { readonly value: number; readonly selected: 0 | 1 }[];
}

function sendTo(url: URL, bytes: string, from?: string): Promise<RawResponse> {
  const tls = url.protocol === 'https:';
  const port = Number(url.port || (tls ? 443 : 80));
  const to = url.hostname.replace(/^\[|\]$/g, '');
  return sendRaw(port, bytes, { to, ...(from === undefined ? {} : { from }), ...(tls ? { tls: to } : {}) });
}
