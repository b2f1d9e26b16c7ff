import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { dataFolderFor, runningGuard } from '../../test/support/running-guard.js';

it('a client that stops sending its form of the second factor is disconnected, as with any other request', async () => {
  const dataDir = await dataFolderFor(await fakeConnector(), {}, { limits: { idleSeconds: 1 } });
  const guard = await runningGuard(dataDir);
  const socket = connect(Number(new URL(guard.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {}).resume();
  const closed = once(socket, 'close');
  const began = performance.now();
  socket.write(
    'POST /wp-login.php?action=second-factor HTTP/1.1\r\nhost: example.com\r\ncontent-length: 100\r\n' +
      'content-type: application/x-www-form-urlencoded\r\n\r\nstep=code',
  );
  await closed;
  expect(performance.now() - began).toBeGreaterThan(900);
});
