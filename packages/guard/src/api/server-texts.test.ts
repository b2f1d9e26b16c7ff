import { serverMessage } from '@security-optimizer/contract/server-messages';
import { expect, it } from 'vitest';
import { separateMessages } from './response.js';

const message = serverMessage('visitor_blocked', { name: '192.0.2.1' });
const { code, params } = message;

it('each message is replaced by English, with its position', () => {
  const body = { message, fields: { 'a/b~c': message }, data: { rows: [1, null, { reason: message }], name: 'x' } };
  expect(separateMessages(body)).toEqual({
    json: {
      message: '192.0.2.1 is blocked.',
      fields: { 'a/b~c': '192.0.2.1 is blocked.' },
      data: { rows: [1, null, { reason: '192.0.2.1 is blocked.' }], name: 'x' },
    },
    texts: ['/message', '/fields/a~1b~0c', '/data/rows/2/reason'].map((at) => ({ at, code, params })),
  });
});

it('a value without messages is unchanged', () => {
  const body = { data: [{ a: true }], message: 'Saved.', status: 200 };
  expect(separateMessages(body)).toEqual({ json: body, texts: [] });
});
