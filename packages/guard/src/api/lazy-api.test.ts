import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import type { Api } from './api-app.js';
import { createLazyApi } from './lazy-api.js';

async function serve(make: () => Promise<Api>) {
  const log = recordedLog();
  const api = createLazyApi(make, log.logger);
  const call = { site: { id: 'site' }, requestId: '0'.repeat(16) } as never;
  const server = createServer((request, response) => api.handle(request, response, call));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const send = () => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return { api, send: send, log };
}

const createRespondingApi = (): Api => ({
  handle: (_request, response: ServerResponse) => void response.end('answered'),
  close: async () => undefined,
});

it('the API is created once, for all requests that wait for it', async () => {
  let count = 0;
  const { api, send } = await serve(async () => {
    count++;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return createRespondingApi();
  });
  const responses = await Promise.all([send(), send()]);
  expect(await Promise.all(responses.map((response) => response.text()))).toEqual(['answered', 'answered']);
  expect(await (await send()).text()).toBe('answered');
  expect(count).toBe(1);
  await api.close();
});

it('requests get an error when the API can’t be created, and the next request tries again', async () => {
  const outcomes = [Promise.reject(new Error('a file is missing')), Promise.resolve(createRespondingApi())];
  outcomes[0]?.catch(() => undefined);
  const { send, log } = await serve(() => outcomes.shift() as Promise<Api>);
  const refused = await send();
  expect(refused.status).toBe(500);
  expect(await refused.json()).toMatchObject({ data: null, code: 'internal' });
  expect(log.events()).toEqual(['api-init-failed']);
  expect(await (await send()).text()).toBe('answered');
});
