import type { RawResponse } from '../../http/raw.js';
import type { TypedRequest } from '../../http/request.js';
import {
  decode,
  field,
  json,
  logInAtMyAccount,
  PASSWORD,
  parseResponse,
  post,
  programs,
  readFormFields,
  type Step,
  toCustomerEmail,
  toPath,
  type Visit,
} from './helpers.js';

const SCREENS = [
  'admin.php?page=wc-admin',
  'admin.php?page=wc-admin&path=/analytics/overview',
  'admin.php?page=wc-admin&path=/customers',
  'admin.php?page=wc-orders',
  'admin.php?page=wc-orders&action=new',
  'admin.php?page=wc-settings',
  'admin.php?page=wc-settings&tab=checkout',
  'admin.php?page=wc-settings&tab=advanced&section=keys',
  'admin.php?page=wc-status',
  'admin.php?page=wc-reports',
  'edit.php?post_type=product',
  'edit.php?post_type=shop_coupon',
  'post-new.php?post_type=product',
  'edit-tags.php?taxonomy=product_cat&post_type=product',
  'plugins.php',
  'users.php',
] as const;

/** API calls of the shop's pages in wp-admin. */
const CALLS = [
  '/wp-json/wc-admin/onboarding/profile',
  '/wp-json/wc-admin/options?options=woocommerce_default_country',
  '/wp-json/wc-analytics/admin/notes?page=1&per_page=5',
  '/wp-json/wc-analytics/settings/wc_admin',
  '/wp-json/wc-analytics/reports/performance-indicators?after=2026-01-01T00:00:00&before=2026-12-31T00:00:00&stats=revenue/total_sales',
  '/wp-json/wc-analytics/reports/revenue/stats?interval=month&after=2026-01-01T00:00:00&before=2026-12-31T00:00:00',
  '/wp-json/wc-analytics/leaderboards?per_page=5',
  '/wp-json/wc-analytics/orders?status=processing&per_page=5',
  '/wp-json/wc-analytics/customers?per_page=5',
  '/wp-json/wc-analytics/products?per_page=5',
  '/wp-json/wc/v3/orders?per_page=5',
  '/wp-json/wc/v3/system_status',
] as const;

/** Steps of the owner in wp-admin. */
export const ownerSteps: readonly Step[] = [
  {
    title: 'the screens of the shop in wp-admin come whole',
    async run(visit) {
      const shown: Record<string, unknown> = {};
      for (const screen of SCREENS) {
        const { status, body } = await requestAsOwner(visit, { target: `/wp-admin/${screen}` });
        shown[screen] = [status, body.includes('wpbody') && !/critical error|Fatal error/.test(body)];
      }
      return shown;
    },
    outcome: Object.fromEntries(SCREENS.map((screen) => [screen, [200, true]])),
  },
  {
    title: 'the calls of these screens are answered',
    async run(visit) {
      const answers: Record<string, number> = {};
      for (const target of CALLS) answers[target] = (await requestAsOwner(visit, { target })).status;
      const options = { woocommerce_task_list_hidden: 'yes' };
      const written = await requestAsOwner(visit, json('POST', '/wp-json/wc-admin/options', options));
      return { ...answers, written: written.status };
    },
    outcome: { ...Object.fromEntries(CALLS.map((target) => [target, 200])), written: 200 },
  },
  {
    title: 'a product is written, changed in its form and by its quick calls, and taken away',
    async run(visit) {
      const draft = await requestAsOwner(visit, { target: '/wp-admin/post-new.php?post_type=product' });
      const id = field(draft, 'post_ID');
      const save = async (page: RawResponse, price: string, button: Record<string, string>) => {
        const written = { post_title: `Tea pot ${visit.name}`, content: 'Holds a litre.', _regular_price: price };
        return requestAsOwner(
          visit,
          post('/wp-admin/post.php', { ...readFormFields(page, 'post'), ...written, ...button }),
        );
      };
      const made = await save(draft, '30', { publish: 'Publish' });
      const page = await requestAsOwner(visit, { target: `/wp-admin/post.php?post=${id}&action=edit` });
      const changed = await save(page, '35', { save: 'Update' });
      const seen = parseResponse(await requestAsOwner(visit, { target: `/wp-json/wc/v3/products/${id}` }));
      const list = await requestAsOwner(visit, { target: '/wp-admin/edit.php?post_type=product' });
      const star = new RegExp(`admin-ajax\\.php\\?action=woocommerce_feature_product[^"']*product_id=${id}[^"']*`);
      const starred = await requestAsOwner(visit, { target: `/wp-admin/${decode(star.exec(list.body)?.[0] ?? '')}` });
      const featured = parseResponse(await requestAsOwner(visit, { target: `/wp-json/wc/v3/products/${id}` })).featured;
      const deleted = await requestAsOwner(visit, json('DELETE', `/wp-json/wc/v3/products/${id}?force=true`));
      return {
        made: [made.status, /message=6/.test(made.headers.location ?? '')],
        changed: [changed.status, /message=1/.test(changed.headers.location ?? '')],
        seen: [seen.status, seen.regular_price, seen.name === `Tea pot ${visit.name}`],
        starred: [starred.status, featured],
        deleted: deleted.status,
      };
    },
    outcome: {
      made: [302, true],
      changed: [302, true],
      seen: ['publish', '35', true],
      starred: [302, true],
      deleted: 200,
    },
  },
  {
    title: "an order's status is changed in the list and in the order, and the customer gets the download",
    async run(visit) {
      const { shop } = visit;
      const customer = visit.browser();
      const mail = toCustomerEmail(visit, 'blocks');
      await logInAtMyAccount(customer, mail, PASSWORD);
      const [buyer] = parseResponse(
        await requestAsOwner(visit, { target: `/wp-json/wc/v3/customers?email=${encodeURIComponent(mail)}` }),
      );
      const items = {
        customer_id: buyer?.id,
        billing: { email: mail },
        line_items: [{ product_id: shop.handbook, quantity: 1 }],
      };
      const made = parseResponse(
        await programs.basic(visit, json('POST', '/wp-json/wc/v3/orders', { ...items, status: 'on-hold' })),
      );
      const link = new RegExp(
        `admin-ajax\\.php\\?action=woocommerce_mark_order_status&(?:amp;|#038;)?status=processing[^"']*order_id=${made.id}[^"']*`,
      );
      const list = await requestAsOwner(visit, { target: '/wp-admin/admin.php?page=wc-orders' });
      const marked = await requestAsOwner(visit, { target: `/wp-admin/${decode(link.exec(list.body)?.[0] ?? '')}` });
      const target = `/wp-admin/admin.php?page=wc-orders&action=edit&id=${made.id}`;
      const page = await requestAsOwner(visit, { target });
      const state = async () =>
        parseResponse(await requestAsOwner(visit, { target: `/wp-json/wc/v3/orders/${made.id}` })).status;
      const inList = await state();
      const changed = { order_status: 'wc-completed', save: 'Update' };
      const saved = await requestAsOwner(visit, post(target, { ...readFormFields(page, 'order'), ...changed }));
      const noted = await requestAsOwner(
        visit,
        json('POST', `/wp-json/wc/v3/orders/${made.id}/notes`, { note: 'Sent.', customer_note: true }),
      );
      const inOrder = await state();
      const downloads = await customer.get('/my-account/downloads/');
      const download = decode(/href="([^"]*download_file=[^"]*)"/.exec(downloads.body)?.[1] ?? '');
      const file = await customer.get(toPath(download));
      return {
        marked: [marked.status, inList],
        saved: [saved.status, inOrder],
        noted: noted.status,
        file: [file.status, file.headers['content-disposition'], file.body],
      };
    },
    outcome: {
      marked: [302, 'processing'],
      saved: [302, 'completed'],
      noted: 201,
      file: [200, 'attachment; filename="handbook.txt";', 'How to make tea.'],
    },
  },
  {
    title: 'settings of the shop are saved',
    async run(visit) {
      const target = '/wp-admin/admin.php?page=wc-settings&tab=products&section=inventory';
      const page = await requestAsOwner(visit, { target });
      const fields = { _wpnonce: field(page, '_wpnonce'), save: 'Save changes', woocommerce_manage_stock: '1' };
      const saved = await requestAsOwner(visit, post(target, { ...fields, woocommerce_hold_stock_minutes: '90' }));
      const setting = await requestAsOwner(visit, {
        target: '/wp-json/wc/v3/settings/products/woocommerce_hold_stock_minutes',
      });
      return { saved: [200, 302].includes(saved.status), setting: parseResponse(setting).value };
    },
    outcome: { saved: true, setting: '90' },
  },
];

/** A request with the owner's session; calls of the REST API carry its nonce. */
function requestAsOwner({ owner, browser }: Visit, request: TypedRequest): Promise<RawResponse> {
  const nonce = request.target.startsWith('/wp-json/') ? { 'x-wp-nonce': owner.nonce } : {};
  return browser().request({ ...request, headers: { ...request.headers, cookie: owner.cookie, ...nonce } });
}
