import { describe, expect, it } from 'vitest';
import { rawSocket, startLoginGateway } from '../../test/support/login-gateway.js';

const hiddenGate = async () => {
  const login_url = { type: 'custom', login: 'my-door', signup: 'join/us' } as const;
  const gateway = await startLoginGateway({ login_url });
  gateway.wordpress.custom = true;
  return gateway;
};

/** The complete response to a WebSocket handshake, except the time. */
function handshake(port: number, path: string, version: string): Promise<string> {
  const socket = rawSocket(port);
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    socket.on('close', () => resolve(withoutSizes(text)));
    const more = 'Connection: Upgrade\r\nUpgrade: websocket\r\nX-Forwarded-For: 192.0.2.1\r\n';
    socket.write(`GET ${path} HTTP/${version}\r\nHost: example.com\r\n${more}\r\n`);
  });
}

/** The response without the time, and without the sizes of chunks, which depend on the length of the address. */
function withoutSizes(text: string): string {
  return text.replace(/^date: .*\r\n/im, '').replace(/\r\n[0-9a-f]+\r\n/g, '\r\n');
}

describe('with a custom login address', () => {
  it('a WebSocket handshake does not reveal the hidden login', async () => {
    const gateway = await hiddenGate();
    const socket = rawSocket(gateway.port);
    const head = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (data) => {
        text += String(data);
      });
      socket.on('close', () => resolve(text));
    });
    socket.write(
      'GET /wp-login.php HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    const response = await head;
    expect(response).toMatch(/^HTTP\/1\.1 404 /);
    expect(response).toContain('nothing at');
    expect(response).toContain('/wp-login.php');
    expect(gateway.wordpress.reached[0]?.url).not.toContain('login');
  });

  for (const [path, missingPath] of [
    ['/wp-login.php', '/xy-abcde.php'],
    ['/wp-admin/', '/xy-abcde/'],
    ['/members', '/xyzabcd'],
  ] as const) {
    it(`a WebSocket handshake at ${path} gets byte for byte the response of a missing path`, async () => {
      const gateway = await hiddenGate();
      for (const version of ['1.1', '1.0']) {
        const at = await handshake(gateway.port, path, version);
        const expected = await handshake(gateway.port, missingPath, version);
        // The missing page shows the requested address; a decoy for a page that leads to a login shows the decoy's
        // address.
        const named = (text: string): string => text.replace(/(nothing at (?:\r\n)?)\S+/, '$1<path>');
        expect(named(at)).toBe(named(expected));
        expect(at).toMatch(/^HTTP\/1\.1 404 /);
      }
    });
  }
});
