import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { watchPage } from '../../browser/page-errors.js';
import type { RawResponse } from '../../http/raw.js';
import { allOptions, logIn, type Session, setOptions } from '../../http/session.js';
import { guardLog } from '../../stacks/guard-process.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { change, createsSession, type FormBrowser, recover, totpCode } from '../login/helpers.js';
import { address, customerSteps } from './customer-steps.js';
import {
  field,
  json,
  logInAtMyAccount,
  mailedLink,
  overHttps,
  PASSWORD,
  parseResponse,
  post,
  programs,
  startVisit,
  toCustomerEmail,
  toPath,
  type Visit,
} from './helpers.js';
import { ownerSteps } from './owner-steps.js';
import { programSteps } from './program-steps.js';
import { onShop, type Shop, startShop } from './shop-site.js';

const STAFF_ENTRANCE = 'staff-only';
const LIMIT = 5;
const steps = [...customerSteps, ...programSteps, ...ownerSteps];

/** Pages whose scripts must work under the policies that guard adds. */
const SCREENS = [
  ['the cart', '/cart/'],
  ['the check-out made of blocks', '/checkout/'],
  ['the classic check-out', '/classic-check-out/'],
  ['analytics', '/wp-admin/admin.php?page=wc-admin&path=%2Fanalytics%2Foverview'],
  ['orders', '/wp-admin/admin.php?page=wc-orders'],
  ['a new product', '/wp-admin/post-new.php?post_type=product'],
] as const;

/**
 * The same steps in the same shop at the same address, first before guard is attached, then with all of its options on.
 * Each step must have the same result. Intended differences have their own tests below.
 */
await onShop('a shop with every option of the product on', (parts) => {
  const dir = mkdtempSync(join(tmpdir(), 'so-shop-'));
  const before = new Map<string, unknown>();
  let shop: Shop;
  let visit: Visit;
  let browser: Browser;
  let enrolment: { readonly password: RawResponse; readonly code: RawResponse };

  beforeAll(async () => {
    browser = await openChromium();
    shop = await startShop(dir, parts);
    const close = await shop.openWithoutGuard();
    const without = startVisit(shop, 'before', await logIn(shop));
    for (const { title, run } of steps) {
      before.set(title, await run(without).catch((error: Error) => `failed: ${error.message}`));
    }
    before.set('screens', await checkScreens(without));
    await close();
    await shop.startGuardInFront();
    await switchEverythingOn(shop, await logIn(shop));
    const owner = startVisit(shop, 'owner', { login: shop.user, cookie: '', nonce: '' }).browser();
    const password = await logInAtMyAccount(owner, shop.user, shop.password);
    const form = await owner.get(toPath(password.headers.location));
    const key = /<code>([A-Z2-7 ]+)<\/code>/.exec(form.body)?.[1] ?? '';
    const shown = await owner.request(secondFactor(shop, form, { step: 'enrol', code: totpCode(key) }));
    const code = await owner.request(secondFactor(shop, shown, { step: 'continue', saved: '1' }));
    enrolment = { password, code };
    const nonce = await owner.get('/wp-admin/admin-ajax.php?action=rest-nonce');
    visit = startVisit(shop, 'with', { login: shop.user, cookie: owner.cookie, nonce: nonce.body.trim() });
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each(steps)('$title', async ({ title, run, outcome }) => {
    expect(before.get(title), 'without guard').toEqual(outcome);
    expect(await run(visit), 'with guard').toEqual(before.get(title));
  });

  it('its pages and admin screens have no errors in a browser that they do not have without guard', async () => {
    expect(await checkScreens(visit)).toEqual(before.get('screens'));
  }, 600_000);

  it('its owner who logs in at My account needs the second factor', () => {
    const { password, code } = enrolment;
    expect(createsSession(password)).toBe(false);
    expect([302, 303]).toContain(password.status);
    expect(password.headers.location).toContain('action=second-factor');
    expect([code.status, createsSession(code)]).toEqual([303, true]);
    expect(visit.owner.nonce).toMatch(/^[0-9a-f]{10}$/);
  });

  it('an address that guesses at My account is locked out there, and can still shop; others log in', async () => {
    const guesser = visit.browser();
    const login = toCustomerEmail(visit, 'blocks');
    for (let turn = 0; turn < LIMIT; turn++) {
      expect(createsSession(await logInAtMyAccount(guesser, login, `guess ${turn}`))).toBe(false);
    }
    expect(createsSession(await logInAtMyAccount(guesser, login, PASSWORD))).toBe(false);
    const added = await guesser.request(post('/?wc-ajax=add_to_cart', { product_id: String(shop.mug), quantity: '1' }));
    expect([added.status, JSON.parse(added.body).cart_hash.length]).toEqual([200, 32]);
    for (const page of ['/shop/', '/cart/', '/checkout/']) expect((await guesser.get(page)).status, page).toBe(200);
    expect(createsSession(await logInAtMyAccount(visit.browser(), login, PASSWORD))).toBe(true);
  });

  it('a locked customer reads at My account that the address is locked, and until when', async () => {
    const customer = visit.browser();
    const login = toCustomerEmail(visit, 'blocks');
    for (let turn = 0; turn < LIMIT; turn++) await logInAtMyAccount(customer, login, `guess ${turn}`);
    const right = await logInAtMyAccount(customer, login, PASSWORD);
    expect([createsSession(right), right.body.includes('Too many login attempts')]).toEqual([false, true]);
    expect(Number(right.headers['retry-after'])).toBeGreaterThan(3000);
    expect(right.body).not.toContain('is incorrect');
  });

  it('a point of sale with valid keys may send any number of requests, also from a locked address', async () => {
    const target = '/wp-json/wc/v3/products?per_page=1';
    const call = async () => (await programs.basic(visit, { target })).status;
    expect(new Set(await Promise.all(Array.from({ length: 20 }, call)))).toEqual(new Set([200]));
    const wrong = post(`/${STAFF_ENTRANCE}`, { log: shop.user, pwd: 'wrong', testcookie: '1' });
    for (let turn = 0; turn < LIMIT; turn++) await overHttps(visit, wrong, {});
    expect((await overHttps(visit, wrong, {})).status).toBe(429);
    expect(await call()).toBe(200);
  });

  it("the owner's application password is refused with a clear message, and locks nobody out", async () => {
    const made = await runInWordPress(
      shop,
      `echo WP_Application_Passwords::create_new_application_password( 1, array( 'name' => 'phone' ) )[0];`,
    );
    const authorization = `Basic ${btoa(`${shop.user}:${made.trim()}`)}`;
    const headers = { authorization, 'x-forwarded-for': '203.0.113.72' };
    for (let turn = 0; turn < LIMIT * 2; turn++) {
      const response = await overHttps(visit, { target: '/wp-json/wp/v2/users/me' }, headers);
      expect([response.status, parseResponse(response).code]).toEqual([403, 'application_passwords_need_permission']);
    }
    const form = post(`/${STAFF_ENTRANCE}`, { log: shop.user, pwd: 'wrong', testcookie: '1' });
    expect((await overHttps(visit, form, { 'x-forwarded-for': '203.0.113.72' })).status).toBe(200);
  });

  it('a customer whose e-mail address begins with a forbidden name gets an account with another name', async () => {
    const customer = visit.browser();
    const page = await customer.get('/my-account/');
    const nonce = { 'woocommerce-register-nonce': field(page, 'woocommerce-register-nonce') };
    const fields = { email: 'administrator@example.com', password: PASSWORD, register: 'Register' };
    expect(createsSession(await customer.request(post('/my-account/', { ...fields, ...nonce })))).toBe(true);
    const login = await runInWordPress(shop, `echo get_user_by( 'email', 'administrator@example.com' )->user_login;`);
    expect(login.trim()).not.toBe('administrator');
  });

  it('no page or mail for an anonymous client or a customer contains the login URL', async () => {
    const anonymous = visit.browser();
    const customer = visit.browser();
    await logInAtMyAccount(customer, toCustomerEmail(visit, 'blocks'), PASSWORD);
    const wcAuth =
      '/wc-auth/v1/login/?app_name=Till&user_id=7&return_url=https%3A%2F%2Ftill.example&callback_url=https%3A%2F%2Ftill.example&scope=read';
    const pages = [
      '/',
      '/shop/',
      '/my-account/',
      '/my-account/lost-password/',
      '/checkout/',
      '/classic-check-out/',
      wcAuth,
    ];
    for (const page of [...pages, '/wp-json/wc/store/v1/cart', '/wp-admin/', '/my-account/edit-account/']) {
      for (const browser of [anonymous, customer]) {
        const response = await browser.get(page);
        const given = /.{0,150}(?:staff-only|wp-login\.php).{0,80}/s.exec(response.head + response.body)?.[0] ?? '';
        expect(given, page).toBe('');
      }
    }
    const toOthers = shop.mails().filter((text) => !/^To: owner@example\.com\r?$/im.test(text));
    expect(toOthers.length).toBeGreaterThan(0);
    expect(toOthers.filter((text) => text.includes(STAFF_ENTRANCE))).toEqual([]);
  });

  it('the mail about a new order links the owner to it through the login URL', async () => {
    const link = new URL(await mailedLink(shop, 'owner@example.com', `/${STAFF_ENTRANCE}?redirect_to=`));
    const order = link.searchParams.get('redirect_to') ?? '';
    expect(order).toMatch(/\/wp-admin\/admin\.php\?page=wc-orders&action=edit&id=\d+$/);
    // A logged-in user gets there at once, others log in first.
    const target = link.pathname + link.search;
    const led = await visit.browser().request({ target, headers: { cookie: visit.owner.cookie } });
    expect([led.status, led.headers.location]).toEqual([302, order]);
    const form = await visit.browser().get(target);
    expect([form.status, field(form, 'redirect_to')]).toEqual([200, order]);
  });

  describe('Away Mode', () => {
    let customer: FormBrowser;
    let manager: FormBrowser;
    let owner: FormBrowser;

    beforeAll(async () => {
      const manages = { user_login: 'run-the-shop', user_pass: PASSWORD, user_email: 'run-the-shop@example.com' };
      const fields = Object.entries({ ...manages, role: 'shop_manager' }).map(
        ([name, value]) => `'${name}' => '${value}'`,
      );
      await runInWordPress(shop, `wp_insert_user( array( ${fields.join(', ')} ) );`);
      customer = visit.browser();
      manager = visit.browser();
      owner = visit.browser();
      await logInAtMyAccount(customer, toCustomerEmail(visit, 'blocks'), PASSWORD);
      await logInAtMyAccount(manager, 'run-the-shop@example.com', PASSWORD);
      for (const browser of [customer, manager]) expect(browser.cookie).toContain('wordpress_logged_in_');
      const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10);
      const schedule = { type: 'period', from_date: day(0), to_date: day(1), confirm: true };
      await change(shop, visit.owner, '/away-mode', schedule);
    });
    afterAll(async () => {
      await recover(shop, 'away-mode', 'off');
    });

    /** Adds products to the cart in every way that shops use, and buys them. */
    async function buy(buyer: FormBrowser, mail: string) {
      const nonce = (await buyer.get('/wp-json/wc/store/v1/cart')).headers.nonce ?? '';
      const item = { id: shop.mug, quantity: 1 };
      const store = (path: string, body: object) =>
        buyer.request(json('POST', `/wp-json/wc/store/v1${path}`, body, { nonce }));
      const product = { product_id: String(shop.mug), quantity: '1' };
      const added = await store('/cart/add-item', item);
      const batch = await store('/batch', {
        requests: [{ path: '/wc/store/v1/cart/add-item', method: 'POST', body: item, headers: { nonce } }],
      });
      const byShop = await buyer.request(post('/?wc-ajax=add_to_cart', product));
      const byAjax = await buyer.request(
        post('/wp-admin/admin-ajax.php', { action: 'woocommerce_add_to_cart', ...product }),
      );
      const byForm = await buyer.request(
        post('/product/blue-mug/', { 'add-to-cart': String(shop.mug), quantity: '1' }),
      );
      const cart = await buyer.get('/wp-json/wc/store/v1/cart');
      const order = await store('/checkout', {
        billing_address: { ...address, email: mail, phone: '030123456' },
        shipping_address: address,
        payment_method: 'cod',
      });
      return {
        added: added.status,
        batch: batch.status,
        byShop: [byShop.status, Object.keys(parseResponse(byShop)).sort()],
        byAjax: [byAjax.status, Object.keys(parseResponse(byAjax)).sort()],
        byForm: byForm.status,
        items: parseResponse(cart).items_count,
        order: [order.status, parseResponse(order).status, parseResponse(order).code],
      };
    }
    const bought = {
      added: 201,
      batch: 207,
      byShop: [200, ['cart_hash', 'fragments']],
      byAjax: [200, ['cart_hash', 'fragments']],
      byForm: 200,
      items: 5,
      order: [200, 'processing', undefined],
    };

    it('a logged-in customer fills the cart in each way, and buys', async () => {
      expect(await buy(customer, toCustomerEmail(visit, 'blocks'))).toEqual(bought);
      expect((await customer.get('/my-account/orders/')).status).toBe(200);
    });

    it('a guest can do that, too', async () => {
      expect(await buy(visit.browser(), 'guest-while-away@example.com')).toEqual(bought);
    });

    it('a payment provider can call back', async () => {
      const made = await runInWordPress(shop, 'echo wc_create_order()->get_id();');
      const paid = json('POST', '/?wc-api=pay_back', { order: Number(made), transaction: 'tx-away' });
      const response = await overHttps(visit, paid, {});
      expect([response.status, response.body]).toEqual([200, 'paid completed']);
    });

    it('shop managers can change nothing, by session or keys', async () => {
      const count = `echo json_encode( array( wp_count_posts( 'product' ), wc_orders_count( 'processing' ), wc_orders_count( 'pending' ) ) );`;
      const before = await runInWordPress(shop, count);
      const { cookie, nonce } = visit.owner;
      const bySession = { cookie, 'x-wp-nonce': nonce };
      const product = { name: 'Red mug', regular_price: '12' };
      const changes = [
        json('POST', '/wp-json/wc/v3/products', product, bySession),
        json('PUT', `/wp-json/wc/v3/products/${shop.mug}`, { regular_price: '1' }, bySession),
        json('POST', '/wp-json/wc/v3/orders/batch', { create: [{}] }, bySession),
        json('POST', '/?rest_route=/wc/v3/products', product, bySession),
        json('GET', `/wp-json/wc/v3/products/${shop.mug}?_method=DELETE&force=true`, undefined, bySession),
        { ...post('/wp-admin/admin-ajax.php', { action: 'woocommerce_feature_product' }), headers: bySession },
      ];
      for (const request of changes) expect((await owner.request(request)).status, request.target).toBe(403);
      const item = { id: shop.mug, quantity: 1 };
      const managers = [
        json('POST', '/wp-json/wc/store/v1/cart/add-item', item),
        json('POST', '/wp-json/wc/v3/products', product),
        post('/?wc-ajax=add_to_cart', { product_id: String(shop.mug) }),
        post('/wp-admin/admin-ajax.php', { action: 'woocommerce_add_to_cart', product_id: String(shop.mug) }),
        post('/my-account/edit-account/', { action: 'save_account_details' }),
      ];
      for (const request of managers) expect((await manager.request(request)).status, request.target).toBe(403);
      for (const call of [programs.basic, programs.query, programs.oauth]) {
        expect((await call(visit, json('POST', '/wp-json/wc/v3/products', product))).status).toBe(403);
      }
      expect((await programs.query(visit, { target: '/wp-json/wc/v3/products?per_page=1' })).status).toBe(200);
      expect(await runInWordPress(shop, count)).toBe(before);
    });
  });

  it('neither PHP nor guard logs an error', () => {
    expect(shop.complaints()).toEqual([]);
    const levels = ['warn', 'error', 'fatal', 40, 50, 60];
    expect(guardLog(shop).filter(({ level }) => levels.includes(level))).toEqual([]);
  });

  /** Errors on each screen, for a buyer with a full cart and for the owner. */
  async function checkScreens({ owner }: Visit): Promise<Record<string, string[]>> {
    const wrong: Record<string, string[]> = {};
    const buyer = await browser.newContext();
    const staff = await openWindow(browser, shop, owner);
    try {
      await buyer.request.post(`${shop.url}/?wc-ajax=add_to_cart`, { form: { product_id: shop.mug, quantity: 1 } });
      for (const [title, path] of SCREENS) {
        const page = await (path.startsWith('/wp-admin/') ? staff : buyer).newPage();
        const watched = watchPage(page, shop.url);
        await page.goto(shop.url + path, { waitUntil: 'load' });
        await page.waitForLoadState('networkidle');
        wrong[title] = watched.stop().map((text) => text.replaceAll(/\b(?:[0-9a-f]{8,}|\d+)\b/g, 'N'));
        await page.close();
      }
    } finally {
      await buyer.close();
      await staff.close();
    }
    return wrong;
  }
});

async function switchEverythingOn(shop: Shop, owner: Session): Promise<void> {
  await setOptions(shop, owner, allOptions(1));
  await change(shop, owner, '/limit-login-attempts', { login_attempts: LIMIT });
  await change(shop, owner, '/disable-admin-username', { disable_usernames: 1 });
  await change(shop, owner, '/2fa', { sg2fa: 1 });
  await change(shop, owner, '/custom-login-url', { type: 'custom', login: STAFF_ENTRANCE, signup: 'staff-sign-up' });
}

/** A form of the second factor, sent from the page of the login. */
function secondFactor(shop: Shop, page: RawResponse, fields: Readonly<Record<string, string>>) {
  const token = field(page, 'token');
  const request = post(`/${STAFF_ENTRANCE}?action=second-factor`, { token, ...fields });
  return { ...request, headers: { ...request.headers, origin: shop.url } };
}
