import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sendTogether } from './send-together.js';

test('nothing is sent before the turn ends, and everything when it does, in order', async () => {
  const sent: number[] = [];
  for (const item of [1, 2, 3]) sendTogether({ sendNow: () => void sent.push(item) });
  await Promise.resolve();
  expect(sent).toEqual([]);
  await nextTurn();
  expect(sent).toEqual([1, 2, 3]);
});

test('each item is sent once, and what becomes ready while others are sent goes with the next turn', async () => {
  const sent: string[] = [];
  sendTogether({
    sendNow() {
      sent.push('first');
      sendTogether({ sendNow: () => void sent.push('second') });
    },
  });
  await nextTurn();
  expect(sent).toEqual(['first']);
  await nextTurn();
  expect(sent).toEqual(['first', 'second']);
  await nextTurn();
  expect(sent).toEqual(['first', 'second']);
});

test('a corked socket that is gone by the end of the turn harms nobody', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  const [socket] = await accepted;
  let sent = false;
  socket.on('error', () => undefined);
  socket.cork();
  socket.write('lost');
  sendTogether({ sendNow: () => socket.uncork() });
  sendTogether({
    sendNow() {
      sent = true;
    },
  });
  socket.destroy();
  await nextTurn();
  expect(sent).toBe(true);
  client.destroy();
  server.close();
});
