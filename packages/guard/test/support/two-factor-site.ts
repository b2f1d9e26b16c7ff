import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { english, type Language } from '../../src/i18n/language.js';
import { LoginAttempts } from '../../src/login/attempts.js';
import { createAuditStore } from '../../src/settings/audit-store.js';
import type { SiteConfig } from '../../src/site.js';
import { createChallengeStore } from '../../src/two-factor/challenges.js';
import { createFactorTriesStore } from '../../src/two-factor/check-code.js';
import { createFactorStore } from '../../src/two-factor/factor-store.js';
import { recordLogin } from '../../src/two-factor/handle-submit.js';
import type { TwoFactorRequirement } from '../../src/two-factor/steps.js';
import { hotp, toStep } from '../../src/two-factor/totp.js';
import { createTrustedDeviceStore, TrustedDevices } from '../../src/two-factor/trusted-devices.js';
import { createTwoFactorFlow } from '../../src/two-factor/two-factor-flow.js';
import type { SessionIssuer } from '../../src/wordpress/connector-client.js';
import { openTestDatabase, type TestDatabase } from './database.js';
import { recordedLog } from './logs.js';
import { scratchFolder } from './scratch.js';
import { siteConfig } from './site-config.js';

const config: SiteConfig = siteConfig();

/** State that a test may change while the site runs. */
export interface SecondFactorSite {
  readonly url: string;
  /** Address of the web server behind guard, as WordPress sees it. */
  readonly upstream: string;
  readonly dataDir: string;
  readonly keyFile: string;
  readonly db: TestDatabase;
  readonly twoFactor: ReturnType<typeof createTwoFactorFlow>;
  readonly factors: ReturnType<typeof createFactorStore>;
  /** Failures of addresses; the visitor's address is 192.0.2.7. */
  readonly attempts: LoginAttempts;
  readonly log: ReturnType<typeof recordedLog>;
  /** Milliseconds since the Unix epoch; changed only by the test. */
  now: number;
  /** The user whose password is correct when a form is posted to `/wp-login.php`. */
  needed: TwoFactorRequirement;
  /** A program posts the form, so the start of the challenge is JSON. */
  program: boolean;
  /** The redirect that WordPress sends the user. */
  redirect: string;
  wordpressResponds: boolean;
  /** WordPress can identify the signed-in user. */
  identifyResponds: boolean;
  /** Language of the pages. */
  language: Language;
  /** Users for whom WordPress created a session, in order. */
  readonly issued: Omit<Parameters<SessionIssuer['issueSession']>[1], 'sender'>[];
  /** Signed-in visitors, by the `wp` cookie in their Cookie header. */
  readonly signedIn: Map<string, { id: number; login: string; administrator: boolean }>;
}

/**
 * A site with the second factor's pages on a real socket, real storage and a fake WordPress that counts the sessions it
 * creates. Start it again on the same folder to test a restart.
 */
export async function secondFactorSite(dataDir?: string): Promise<SecondFactorSite> {
  const folder = dataDir ?? (await scratchFolder());
  const log = recordedLog();
  const db = await openTestDatabase(folder, { logger: log.logger });
  onTestFinished(() => db.destroy());
  const keyFile = join(folder, 'two-factor.key');
  const factors = createFactorStore(db);
  const attempts = new LoginAttempts();
  const twoFactor = createTwoFactorFlow({
    factors,
    challenges: createChallengeStore(db),
    tries: createFactorTriesStore(db),
    audit: createAuditStore(db),
    devices: new TrustedDevices(createTrustedDeviceStore(db)),
    issuer: {
      async issueSession(_site, { sender: _, ...request }) {
        if (!site.wordpressResponds) throw new Error('connection refused');
        site.issued.push(request);
        return {
          redirect: site.redirect,
          setCookies: [`wp=user-${request.user}; path=/; HttpOnly`, 'wp_sec=1; path=/wp-admin'],
        };
      },
    },
    users: {
      async identify(_site, { cookie }) {
        if (!site.identifyResponds) throw new Error('connection refused');
        const wp = cookie.split('; ').find((pair) => pair.startsWith('wp=')) ?? cookie;
        return site.signedIn.get(wp) ?? null;
      },
      user: async () => (site.needed.stamp === 'deleted' ? null : { stamp: site.needed.stamp }),
    },
    recordLogin: (visit, login) => recordLogin(attempts, '', visit, login),
    adminPath: () => '/wp-admin',
    keyFile,
    clock: () => site.now,
    logger: log.logger,
  });
  const server = createServer((request, response) => {
    // The proxy has set a header on the response before the second factor gets it.
    response.setHeader('Content-Security-Policy', "frame-ancestors 'self'");
    const visit = {
      site: config,
      address: '192.0.2.7',
      scheme: 'http' as const,
      host: request.headers.host ?? '',
      requestId: '00112233445566ff',
      loginPath: '/wp-login.php',
      language: site.language,
      mayBeSignedIn: /(?:^|; )wp=/.test(request.headers.cookie ?? ''),
    };
    if (request.url?.includes('action=second-factor')) return twoFactor.handle(request, response, visit);
    if (request.url?.startsWith('/trusted')) {
      response.end(JSON.stringify(twoFactor.trustedUsers(config, request.headers.cookie)));
      return;
    }
    request.resume().on('end', () => twoFactor.begin(request, response, visit, site.needed, site.program));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const site: SecondFactorSite = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upstream: config.upstream,
    ...{ dataDir: folder, keyFile, db, twoFactor, factors, attempts, log },
    now: Date.UTC(2026, 4, 4, 12, 0, 5),
    needed: {
      ...{ userId: 1, login: 'owner', remember: true, redirect: '/wp-admin/edit.php', interim: false, stamp: 'old' },
      ...{ decided: false, sitePath: '' },
    },
    program: false,
    redirect: '/wp-admin/edit.php',
    wordpressResponds: true,
    identifyResponds: true,
    language: english,
    issued: [],
    signedIn: new Map(),
  };
  await twoFactor.reload(config.id);
  return site;
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

/** A browser without JavaScript: it stores cookies, sends forms as they are in the page, and follows no redirect. */
export class PlainBrowser {
  readonly cookies = new Map<string, string>();
  readonly #headers: Record<string, string>;

  constructor(
    readonly site: { readonly url: string },
    headers: Record<string, string> = {},
  ) {
    this.#headers = { 'user-agent': 'Plain/1.0', ...headers };
  }

  async open(path: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.site.url), {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { ...this.#headers, ...(cookie === '' ? {} : { cookie }), ...headers },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, html: await response.text() };
  }

  /** Submits the correct password and opens the page to which that redirects. */
  async logIn(): Promise<Page> {
    const response = await this.open('/wp-login.php', { log: 'owner', pwd: 'right' });
    return this.open(response.headers.get('location') as string);
  }

  /** Sends the page's form for a step with the visitor's input. */
  send(page: Page, step: string, typed: Record<string, string>): Promise<Page> {
    const form = page.html.split('<form').find((text) => text.includes(`name="step" value="${step}"`)) ?? '';
    const action = /action="([^"]+)"/.exec(form)?.[1]?.replaceAll('&amp;', '&');
    const token = /name="token" value="([^"]+)"/.exec(form)?.[1];
    if (action === undefined || token === undefined) throw new Error(`The page has no form for ${step}.`);
    return this.open(action, { token, step, ...typed });
  }
}

/** The key on an enrolment page, as bytes. */
export function getShownSecret(page: Page): Buffer {
  const text = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.html)?.[1] ?? '').replaceAll(' ', '');
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of an authenticator app at a time. */
export function appCode(secret: Uint8Array, now: number): string {
  return hotp(secret, toStep(now));
}

/** A six-digit code that is wrong at every time near `now`. */
export function wrongCode(secret: Uint8Array, now: number): string {
  const near = [-2, -1, 0, 1, 2].map((step) => hotp(secret, toStep(now) + step));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code)) as string;
}

/** The back-up codes on a page. */
export function getShownCodes(page: Page): string[] {
  return [...page.html.matchAll(/<li>(\d{4} \d{4})<\/li>/g)].map((match) => match[1] as string);
}

/**
 * Sets up the site's current user in this browser. Afterwards the user is logged in and the clock is a minute ahead.
 *
 * @param typed the form in which the user types a code
 */
export async function enrol(
  site: SecondFactorSite,
  browser: PlainBrowser,
  typed = (code: string): string => code,
): Promise<{ secret: Buffer; codes: string[] }> {
  const page = await browser.logIn();
  const secret = getShownSecret(page);
  const codesPage = await browser.send(page, 'enrol', { code: typed(appCode(secret, site.now)) });
  const codes = getShownCodes(codesPage);
  await browser.send(codesPage, 'continue', { saved: '1' });
  site.now += 60_000;
  return { secret, codes };
}
