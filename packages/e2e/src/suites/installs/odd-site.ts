import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import type { RawResponse } from '../../http/raw.js';
import { form, sendRequest, type TypedRequest } from '../../http/request.js';
import { type ApiResponse, authorised, callApi, getCookies, type Session } from '../../http/session.js';
import type { OddSite } from '../../stacks/odd-install.js';

/** Sends a request as it arrives at guard: through the TLS proxy in front of it if there is one. */
export function visit(site: OddSite, request: TypedRequest, address = '203.0.113.9'): Promise<RawResponse> {
  return sendRequest(site, { ...request, headers: { ...request.headers, ...proxied(site, address) } });
}

/** Headers that a TLS proxy adds. */
function proxied(site: OddSite, address = '203.0.113.9'): Record<string, string> {
  return site.layout.origin === undefined ? {} : { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' };
}

/** Logs a user in as a browser without JavaScript would. All users have the owner's password. */
export async function logInToSite(
  site: OddSite,
  loginPath = `${site.corePath}/wp-login.php`,
  login = site.user,
): Promise<Session> {
  const fields = new URLSearchParams({ log: login, pwd: site.password, 'wp-submit': 'Log In', testcookie: '1' });
  const response = await visit(
    site,
    form(loginPath, fields.toString(), { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' }),
  );
  const cookie = getCookies(response);
  const target = `${site.corePath}/wp-admin/admin-ajax.php?action=rest-nonce`;
  const nonce = await visit(site, { target, headers: { cookie } });
  if (!/^[0-9a-f]{10}$/.test(nonce.body.trim())) throw new Error(`${login} could not log in: ${response.head}`);
  return { login, cookie, nonce: nonce.body.trim() };
}

/** Opens a page of the product in wp-admin. @returns the response, and the configuration of the dashboard */
export async function openPage(
  site: OddSite,
  owner: Session,
  page = 'site-security',
): Promise<{ readonly answer: RawResponse; readonly config: Record<string, string> }> {
  const target = `${site.corePath}/wp-admin/admin.php?page=${page}`;
  const answer = await visit(site, { target, headers: { cookie: owner.cookie } });
  const text = /id="security-optimizer-app"[^>]* data-config="([^"]*)"/.exec(answer.body)?.[1];
  if (text === undefined) throw new Error(`${target} shows no dashboard: ${answer.head}`);
  return { answer, config: JSON.parse(unescaped(text)) as Record<string, string> };
}

/** Base URLs of the API from the configuration of the dashboard. */
const bases = new WeakMap<OddSite, URL>();

/** The base URL of the API from the configuration of the dashboard. Read once, since a page is slower than a call. */
async function getApiBase(site: OddSite, owner: Session): Promise<URL> {
  const known = bases.get(site);
  if (known !== undefined) return known;
  const { config } = await openPage(site, owner);
  const base = new URL(config.rest_base as string);
  if (base.origin !== new URL(site.url).origin) throw new Error(`The dashboard would call ${base.href}`);
  bases.set(site, base);
  return base;
}

/** Calls the API at the base URL from the configuration of the dashboard. */
export async function call(site: OddSite, owner: Session, suffix: string, body: object): Promise<ApiResponse> {
  const base = await getApiBase(site, owner);
  return callApi(site, {
    path: `${base.pathname}${base.search}security-optimizer/v1${suffix}`,
    body: JSON.stringify(body),
    headers: { ...authorised(owner), ...proxied(site) },
  });
}

/** Sets every option of Site Security, one call each. */
export async function setAll(site: OddSite, owner: Session, value: 0 | 1): Promise<Record<SecurityField, number>> {
  for (const { field, suffix } of siteSecurityToggles) {
    const response = await call(site, owner, suffix, { [field]: value });
    if (response.body.status !== 200) throw new Error(`${field} can't be set: ${JSON.stringify(response.body)}`);
  }
  return (await call(site, owner, '/fetch-options', { page: 'security' })).body.data as Record<SecurityField, number>;
}

/** The visible parts of a response. One name is replaced by another, so that two pages can be compared. */
export function toComparable({ status, headers, body }: RawResponse, name = 'none', as = name): object {
  const compared = Object.entries(headers).filter(([header]) => !['date', 'content-length'].includes(header));
  const read = (text: string) => text.split(name).join(as);
  return {
    status,
    headers: Object.fromEntries(compared.map(([header, value]) => [header, read(value)])),
    body: read(body)
      .replace(/\b[0-9a-f]{10}\b/g, 'NONCE')
      .split('\n'),
  };
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#039;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
