import { expect } from 'vitest';
import { sendRequest } from '../../http/request.js';
import type { Session } from '../../http/session.js';
import type { Stack } from '../../stacks/stack.js';

/**
 * A client written from the specification alone, sections 3, 7 and 8: it knows neither the contract nor the dashboard,
 * and takes every address from the configuration of the page.
 */
export interface SpecificationClient {
  readonly config: Configuration;
  /** Identifier of the page. */
  readonly page: string;
  /** Calls the product's API; the body is JSON without a content type. Throws unless it succeeds. */
  call(suffix: string, body?: unknown, method?: string): Promise<Success>;
  /** Calls the provider's shared settings API. */
  saveConsent(flags: Readonly<Record<string, 0 | 1>>): Promise<Success>;
  /** Translates a text. */
  translate(text: string): string;
}

/** Section 3, Configuration. */
export interface Configuration {
  readonly rest_base: string;
  readonly home_url: string;
  readonly log_page_url: string;
  readonly assets_path: string;
  /** JSON. */
  readonly locale: string;
  readonly localeSlug: string;
  readonly wp_nonce: string;
  readonly data_consent_popup: { readonly show_data_field: 0 | 1; readonly show_email_field: 0 | 1 };
}

export interface Success {
  // biome-ignore lint/suspicious/noExplicitAny: the specification does not give the shapes of all responses
  readonly data: any;
  readonly message: string;
}

/** Opens a page of the product in wp-admin, such as `security-optimizer`. */
export async function openPage(stack: Stack, session: Session, slug: string): Promise<SpecificationClient> {
  const { cookie } = session;
  const { body: html } = await sendRequest(stack, {
    target: `/wp-admin/admin.php?page=${slug}`,
    headers: { cookie, accept: 'text/html' },
  });
  const container = /<div\b[^>]*\bid="security-optimizer-app"[^>]*>/.exec(html)?.[0] ?? '';
  const attribute = (name: string) => unescapeHtml(new RegExp(`\\b${name}="([^"]*)"`).exec(container)?.[1] ?? '');
  const config = JSON.parse(attribute('data-config')) as Configuration;
  const messages = JSON.parse(config.locale) as Record<string, readonly string[]>;
  const nonce = config.wp_nonce;

  async function send(method: string, address: string, body: unknown): Promise<Success> {
    const { pathname, search } = new URL(address);
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const response = await sendRequest(stack, {
      method,
      target: pathname + search,
      headers: { cookie, accept: 'application/json', 'x-wp-nonce': nonce },
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
    });
    const read = toJson(response.body);
    if (read.status !== 200) throw new Error(`${method} ${pathname}: ${read.status} ${read.message}`);
    return { data: read.data, message: read.message ?? '' };
  }

  return {
    config,
    page: attribute('data-page'),
    call: (suffix, body = {}, method = 'POST') =>
      send(method, `${config.rest_base}security-optimizer/v1${suffix}`, body),
    saveConsent: (flags) =>
      send('PUT', `${config.rest_base}provider-settings/v1/update-settings`, {
        siteground_settings_security: 1,
        ...flags,
      }),
    translate: (text) => messages[text]?.[0] ?? text,
  };
}

/** Section 8: a body that is not JSON has the status 555. */
function toJson(body: string): { readonly status?: unknown; readonly data?: unknown; readonly message?: string } {
  try {
    return JSON.parse(body) as object;
  } catch {
    return { status: 555, message: 'No JSON from WP api!' };
  }
}

function unescapeHtml(text: string): string {
  const characters: Readonly<Record<string, string>> = { quot: '"', '#039': "'", lt: '<', gt: '>', amp: '&' };
  return text.replace(/&(quot|#039|lt|gt|amp);/g, (_all, name: string) => characters[name] ?? '');
}

/** Expects the fields of an entity, each with its type. */
export function expectFields(entity: unknown, fields: Readonly<Record<string, 'string' | 'number' | 'flag' | 'list'>>) {
  const values = entity as Readonly<Record<string, unknown>>;
  for (const [name, type] of Object.entries(fields)) {
    if (type === 'flag') expect([0, 1], name).toContain(values[name]);
    else if (type === 'list') expect(Array.isArray(values[name]), name).toBe(true);
    else expect(typeof values[name], name).toBe(type);
  }
}
