import { createsSession } from '../login/helpers.js';
import {
  decode,
  field,
  isLoggedIn,
  json,
  logInAtMyAccount,
  mailedLink,
  PASSWORD,
  parseResponse,
  post,
  type Step,
  toCustomerEmail,
  toPath,
} from './helpers.js';

/** The shipping address. */
export const address = {
  ...{ first_name: 'Ann', last_name: 'Buyer', address_1: 'Street 1', city: 'Berlin', postcode: '10115' },
  ...{ country: 'DE', state: 'DE-BE' },
};

/** Steps of anonymous visitors and customers, in order. */
export const customerSteps: readonly Step[] = [
  {
    title: 'the shop, a product, the cart and the check-out are shown',
    async run({ browser }) {
      const visitor = browser();
      const pages = ['/shop/', '/product/blue-mug/', '/cart/', '/my-account/', '/shop/?orderby=price'];
      const shown: Record<string, unknown> = {};
      for (const target of pages) {
        const { status, body } = await visitor.get(target);
        shown[target] = [status, /Blue mug|wp-block-woocommerce-cart|woocommerce-login-nonce/.test(body)];
      }
      return shown;
    },
    outcome: {
      '/shop/': [200, true],
      '/product/blue-mug/': [200, true],
      '/cart/': [200, true],
      '/my-account/': [200, true],
      '/shop/?orderby=price': [200, true],
    },
  },
  {
    title: "a product is put into the cart by the shop's AJAX calls",
    async run({ shop, browser }) {
      const visitor = browser();
      const added = await visitor.request(
        post('/?wc-ajax=add_to_cart', { product_id: String(shop.mug), quantity: '2' }),
      );
      const again = await visitor.request(post('/?wc-ajax=get_refreshed_fragments', {}));
      return {
        added: [added.status, Object.keys(parseResponse(added)).sort()],
        sameCart: parseResponse(again).cart_hash === parseResponse(added).cart_hash,
        coupon: (await visitor.request(post('/?wc-ajax=apply_coupon', { coupon_code: 'x' }))).status,
        unknown: (await visitor.request(post('/?wc-ajax=nothing_of_the_kind', {}))).status,
      };
    },
    outcome: { added: [200, ['cart_hash', 'fragments']], sameCart: true, coupon: 403, unknown: 200 },
  },
  {
    title: 'a guest buys at the check-out made of blocks, and gets an account',
    async run(visit) {
      const { shop, browser } = visit;
      const buyer = browser();
      const cart = await buyer.get('/wp-json/wc/store/v1/cart');
      const nonce = cart.headers.nonce ?? '';
      const item = { id: shop.mug, quantity: 1 };
      const unsigned = await buyer.request(json('POST', '/wp-json/wc/store/v1/cart/add-item', item));
      const added = await buyer.request(json('POST', '/wp-json/wc/store/v1/cart/add-item', item, { nonce }));
      const page = await buyer.get('/checkout/');
      const mail = toCustomerEmail(visit, 'blocks');
      const order = await buyer.request(
        json(
          'POST',
          '/wp-json/wc/store/v1/checkout',
          {
            billing_address: { ...address, email: mail, phone: '030123456' },
            shipping_address: address,
            ...{ payment_method: 'cod', create_account: true, customer_password: PASSWORD },
          },
          { nonce: added.headers.nonce ?? nonce },
        ),
      );
      const thanks = await buyer.get(toPath(parseResponse(order).payment_result?.redirect_url));
      const account = await buyer.get('/my-account/orders/');
      return {
        unsigned: [unsigned.status, parseResponse(unsigned).code],
        added: [added.status, parseResponse(added).items_count],
        page: [page.status, page.body.includes('wp-block-woocommerce-checkout')],
        order: [
          order.status,
          parseResponse(order).status,
          parseResponse(order).customer_id > 0,
          parseResponse(order).message,
        ],
        session: createsSession(order),
        thanks: [thanks.status, /order.received|thank you/i.test(thanks.body)],
        account: [account.status, account.body.includes(`#${parseResponse(order).order_id}`)],
      };
    },
    outcome: {
      unsigned: [401, 'woocommerce_rest_missing_nonce'],
      added: [201, 1],
      page: [200, true],
      order: [200, 'processing', true, undefined],
      session: true,
      thanks: [200, true],
      account: [200, true],
    },
  },
  {
    title: 'an app keeps its cart by a token, without cookies',
    async run({ shop, browser }) {
      const app = () => browser();
      const token = (await app().get('/wp-json/wc/store/v1/cart')).headers['cart-token'] ?? '';
      const headers = { 'cart-token': token };
      const item = { id: shop.handbook, quantity: 1 };
      const added = await app().request(json('POST', '/wp-json/wc/store/v1/cart/add-item', item, headers));
      const batch = await app().request(
        json(
          'POST',
          '/wp-json/wc/store/v1/batch',
          { requests: [{ path: '/wc/store/v1/cart/add-item', method: 'POST', body: item, headers }] },
          headers,
        ),
      );
      const cart = await app().get('/wp-json/wc/store/v1/cart');
      const same = await app().request({ target: '/wp-json/wc/store/v1/cart', headers });
      const products = await app().get('/wp-json/wc/store/v1/products?search=mug');
      return {
        added: added.status,
        batch: [batch.status, parseResponse(batch).responses?.map(({ status }: { status: number }) => status)],
        others: parseResponse(cart).items_count,
        own: parseResponse(same).items_count,
        products: [products.status, parseResponse(products).map(({ name }: { name: string }) => name)],
      };
    },
    outcome: { added: 201, batch: [207, [201]], others: 0, own: 2, products: [200, ['Blue mug']] },
  },
  {
    title: 'a guest buys at the classic check-out, and gets an account',
    async run(visit) {
      const { shop, browser } = visit;
      const buyer = browser();
      await buyer.get(`/?add-to-cart=${shop.mug}`);
      const page = await buyer.get('/classic-check-out/');
      const security = /"update_order_review_nonce":"([^"]+)"/.exec(page.body)?.[1] ?? '';
      const review = await buyer.request(
        post('/?wc-ajax=update_order_review', { security, payment_method: 'cod', country: 'DE', postcode: '10115' }),
      );
      const billing = Object.fromEntries(Object.entries(address).map(([name, value]) => [`billing_${name}`, value]));
      const fields = {
        ...{ ...billing, billing_email: toCustomerEmail(visit, 'classic'), billing_phone: '030123456' },
        ...{ payment_method: 'bacs', createaccount: '1', account_password: PASSWORD },
        'shipping_method[0]': 'free_shipping:1',
        'woocommerce-process-checkout-nonce': field(page, 'woocommerce-process-checkout-nonce'),
        _wp_http_referer: '/?wc-ajax=update_order_review',
      };
      const order = await buyer.request(post('/?wc-ajax=checkout', fields));
      const thanks = await buyer.get(toPath(parseResponse(order).redirect));
      return {
        page: page.status,
        review: [review.status, parseResponse(review).result],
        order: [order.status, parseResponse(order).result, parseResponse(order).messages],
        session: createsSession(order),
        thanks: [thanks.status, /order.received|thank you/i.test(thanks.body)],
        account: isLoggedIn((await buyer.get('/my-account/')).body),
      };
    },
    outcome: {
      page: 200,
      review: [200, 'success'],
      order: [200, 'success', undefined],
      session: true,
      thanks: [200, true],
      account: true,
    },
  },
  {
    title: 'somebody registers at My account',
    async run(visit) {
      const visitor = visit.browser();
      const page = await visitor.get('/my-account/');
      const fields = { email: toCustomerEmail(visit, 'register'), password: PASSWORD, register: 'Register' };
      const nonce = { 'woocommerce-register-nonce': field(page, 'woocommerce-register-nonce') };
      const response = await visitor.request(post('/my-account/', { ...fields, ...nonce }));
      const account = await visitor.get('/my-account/');
      return { answer: response.status, session: createsSession(response), account: isLoggedIn(account.body) };
    },
    outcome: { answer: 302, session: true, account: true },
  },
  {
    title: 'a customer logs in at My account, and a wrong password is refused',
    async run(visit) {
      const customer = visit.browser();
      const wrong = await logInAtMyAccount(customer, toCustomerEmail(visit, 'blocks'), 'wrong');
      const right = await logInAtMyAccount(customer, toCustomerEmail(visit, 'blocks'), PASSWORD);
      const pages = ['', 'orders/', 'downloads/', 'edit-address/', 'edit-account/', 'payment-methods/'];
      const shown: number[] = [];
      for (const page of pages) shown.push((await customer.get(`/my-account/${page}`)).status);
      const admin = await customer.get('/wp-admin/');
      return {
        wrong: [
          wrong.status,
          createsSession(wrong),
          /is-error|woocommerce-error/.test(wrong.body),
          /incorrect/.test(wrong.body),
        ],
        right: [right.status, createsSession(right), toPath(right.headers.location)],
        shown,
        admin: [admin.status, toPath(admin.headers.location)],
      };
    },
    outcome: {
      wrong: [200, false, true, true],
      right: [302, true, '/my-account/'],
      shown: [200, 200, 200, 200, 200, 200],
      admin: [302, '/my-account/'],
    },
  },
  {
    title: 'a customer changes address and password, logs out and in again',
    async run(visit) {
      const customer = visit.browser();
      const login = toCustomerEmail(visit, 'register');
      await logInAtMyAccount(customer, login, PASSWORD);
      const form = await customer.get('/my-account/edit-address/billing/');
      const billing = Object.fromEntries(Object.entries(address).map(([name, value]) => [`billing_${name}`, value]));
      const addressSaved = await customer.request(
        post('/my-account/edit-address/billing/', {
          ...{ ...billing, billing_email: login, billing_phone: '030123456', action: 'edit_address' },
          'woocommerce-edit-address-nonce': field(form, 'woocommerce-edit-address-nonce'),
        }),
      );
      const account = await customer.get('/my-account/edit-account/');
      const names = { account_first_name: 'Ann', account_last_name: 'Buyer', account_display_name: 'Ann' };
      const change = async (current: string) => {
        const response = await customer.request(
          post('/my-account/edit-account/', {
            ...{ ...names, account_email: login, action: 'save_account_details' },
            ...{ password_current: current, password_1: `${PASSWORD} new`, password_2: `${PASSWORD} new` },
            'save-account-details-nonce': field(account, 'save-account-details-nonce'),
          }),
        );
        return [response.status, response.body.includes('Your current password is incorrect')];
      };
      const changed = [await change('not this one'), await change(PASSWORD)];
      const link = decode(/href="([^"]*customer-logout[^"]*)"/.exec(account.body)?.[1] ?? '');
      const out = await customer.get(toPath(link));
      const after = await customer.get('/my-account/');
      const again = await logInAtMyAccount(visit.browser(), login, `${PASSWORD} new`);
      return {
        addressSaved: addressSaved.status,
        changed,
        out: out.status,
        after: isLoggedIn(after.body),
        again: createsSession(again),
      };
    },
    outcome: {
      addressSaved: 302,
      changed: [
        [200, true],
        [302, false],
      ],
      out: 302,
      after: false,
      again: true,
    },
  },
  {
    title: "a customer chooses a new password by the shop's form and the link in its mail",
    async run(visit) {
      const { shop, browser } = visit;
      const login = toCustomerEmail(visit, 'classic');
      const customer = browser();
      const page = await customer.get('/my-account/lost-password/');
      const sent = await customer.request(
        post('/my-account/lost-password/', {
          ...{ user_login: login, wc_reset_password: 'true' },
          'woocommerce-lost-password-nonce': field(page, 'woocommerce-lost-password-nonce'),
        }),
      );
      const link = await mailedLink(shop, login, 'lost-password');
      const opened = await customer.get(toPath(link));
      const choose = await customer.get(toPath(opened.headers.location));
      const hidden = ['reset_key', 'reset_login', 'woocommerce-reset-password-nonce'];
      const chosen = await customer.request(
        post('/my-account/lost-password/', {
          ...Object.fromEntries(hidden.map((name) => [name, field(choose, name)])),
          ...{ password_1: `${PASSWORD} reset`, password_2: `${PASSWORD} reset`, wc_reset_password: 'true' },
        }),
      );
      const old = await logInAtMyAccount(browser(), login, PASSWORD);
      const right = await logInAtMyAccount(browser(), login, `${PASSWORD} reset`);
      return {
        sent: [sent.status, toPath(sent.headers.location)],
        opened: [opened.status, toPath(opened.headers.location)],
        choose: choose.status,
        chosen: [chosen.status, toPath(chosen.headers.location)],
        old: createsSession(old),
        right: createsSession(right),
      };
    },
    outcome: {
      sent: [302, '/my-account/lost-password/?reset-link-sent=true'],
      opened: [302, '/my-account/lost-password/?show-reset-form=true&action'],
      choose: 200,
      chosen: [302, '/my-account/?password-reset=true'],
      old: false,
      right: true,
    },
  },
];
