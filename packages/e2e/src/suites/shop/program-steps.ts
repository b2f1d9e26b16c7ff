import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../stacks/until.js';
import { json, overHttps, parseResponse, programs, type Step, toPath, type Visit } from './helpers.js';

const order = (visit: Visit, status: string) => ({
  ...{ payment_method: 'bacs', status, billing: { first_name: 'Till', email: 'till@example.com' } },
  line_items: [{ product_id: visit.shop.mug, quantity: 1 }],
});

/** Steps of programs: points of sale, warehouses and payment providers. */
export const programSteps: readonly Step[] = [
  ...(['basic', 'query', 'oauth'] as const).map(
    (way): Step => ({
      title: `a program with keys reads and writes by the REST API: ${way}`,
      async run(visit) {
        const sendRequest = programs[way];
        const products = await sendRequest(visit, { target: '/wp-json/wc/v3/products?search=mug&per_page=5' });
        const made = await sendRequest(visit, json('POST', '/wp-json/wc/v3/orders', order(visit, 'processing')));
        const path = `/wp-json/wc/v3/orders/${parseResponse(made).id}`;
        const done = await sendRequest(visit, json('PUT', path, { status: 'completed' }));
        const batch = await sendRequest(
          visit,
          json('POST', '/wp-json/wc/v3/products/batch', { update: [{ id: visit.shop.mug, description: 'Blue.' }] }),
        );
        const deleted = await sendRequest(visit, json('DELETE', `${path}?force=true`));
        const after = await sendRequest(visit, { target: path });
        return {
          products: [products.status, products.headers['x-wp-total'], parseResponse(products).length],
          made: [made.status, parseResponse(made).status],
          done: [done.status, parseResponse(done).status],
          batch: batch.status,
          deleted: deleted.status,
          after: [after.status, parseResponse(after).code],
        };
      },
      outcome: {
        products: [200, '1', 1],
        made: [201, 'processing'],
        done: [200, 'completed'],
        batch: 200,
        deleted: 200,
        after: [404, 'woocommerce_rest_shop_order_invalid_id'],
      },
    }),
  ),
  {
    title: 'the REST API of the shop refuses anonymous visitors and wrong secrets',
    async run(visit) {
      const target = '/wp-json/wc/v3/orders';
      const anonymous = await visit.browser().get(target);
      const wrong = await programs.oauth(visit, { target }, 'cs_wrong');
      const basic = await programs.basic(visit, { target }, 'cs_wrong');
      return [anonymous, wrong, basic].map((response) => [response.status, parseResponse(response).code]);
    },
    outcome: [
      [401, 'woocommerce_rest_cannot_view'],
      [401, 'woocommerce_rest_authentication_error'],
      [401, 'woocommerce_rest_authentication_error'],
    ],
  },
  {
    title: "a payment provider's call back marks the order as paid",
    async run(visit) {
      const made = parseResponse(
        await programs.basic(visit, json('POST', '/wp-json/wc/v3/orders', order(visit, 'pending'))),
      );
      const call = { order: made.id, transaction: `t-${made.id}` };
      const provider = { 'user-agent': 'PayBack-Webhook/1.0' };
      const paid = await overHttps(visit, json('POST', '/?wc-api=pay_back', call, provider), {});
      const pretty = await overHttps(visit, json('POST', '/wc-api/pay_back/', call, provider), {});
      const unknown = await overHttps(visit, json('POST', '/wc-api/nobody/', call, provider), {});
      const after = parseResponse(await programs.basic(visit, { target: `/wp-json/wc/v3/orders/${made.id}` }));
      return {
        paid: [paid.status, paid.body.trim()],
        pretty: [pretty.status, pretty.body.trim()],
        unknown: [unknown.status, unknown.body.trim()],
        after: [after.status, after.transaction_id === call.transaction],
      };
    },
    outcome: {
      paid: [200, 'paid processing'],
      pretty: [200, 'paid processing'],
      unknown: [400, '-1'],
      after: ['processing', true],
    },
  },
  {
    title: 'a webhook tells another program of an order',
    async run(visit) {
      const calls: { topic: unknown; agent: string }[] = [];
      const receiver = createServer((request, response) => {
        const { 'x-wc-webhook-topic': topic, 'user-agent': agent = '' } = request.headers;
        calls.push({ topic, agent });
        request.resume().on('end', () => response.end('ok'));
      });
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      try {
        const delivery_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/told`;
        const hook = { name: 'Told', topic: 'order.created', delivery_url, secret: 's', status: 'active' };
        const made = await programs.basic(visit, json('POST', '/wp-json/wc/v3/webhooks', hook));
        await until('WooCommerce has tried the webhook', () => calls.length > 0);
        const path = `/wp-json/wc/v3/webhooks/${parseResponse(made).id}?force=true`;
        const deleted = await programs.basic(visit, json('DELETE', path));
        return {
          made: [made.status, parseResponse(made).status],
          deleted: deleted.status,
          agent: calls[0]?.agent.split(' (')[0],
        };
      } finally {
        receiver.closeAllConnections();
        await new Promise((resolve) => receiver.close(resolve));
      }
    },
    outcome: { made: [201, 'active'], deleted: 200, agent: 'WooCommerce/11.0.1 Hookshot' },
  },
  {
    title: 'another program may ask for keys, and an anonymous visitor is shown the login of the shop first',
    async run(visit) {
      const query = new URLSearchParams({
        ...{ app_name: 'Till', scope: 'read_write', user_id: '7' },
        ...{ return_url: 'https://till.example/back', callback_url: 'https://till.example/keys' },
      });
      const target = `/wc-auth/v1/authorize/?${query}`;
      const anonymous = visit.browser();
      const sent = await anonymous.get(target);
      const page = await anonymous.get(toPath(sent.headers.location));
      const owner = await visit.browser().request({ target, headers: { cookie: visit.owner.cookie } });
      return {
        sent: [sent.status, toPath(sent.headers.location).split('?')[0]],
        page: [page.status, page.body.includes('wc-auth-login')],
        owner: [owner.status, /wc-auth-approve/.test(owner.body)],
      };
    },
    outcome: { sent: [302, '/wc-auth/v1/login/'], page: [200, true], owner: [200, true] },
  },
];
