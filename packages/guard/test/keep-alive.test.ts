import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient, statusOf } from './raw-client.js';
import { rawServer, runningGate, scriptedServer, webServer } from './running-gate.js';

describe('several requests on one connection', () => {
  it('use one connection to WordPress', async () => {
    let connections = 0;
    const port = await rawServer((socket) => {
      connections++;
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    });
    const gate = await runningGate(port);
    const client = new RawClient(gate.port);
    for (let i = 1; i <= 5; i++) {
      await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').until((text) => text.split('\r\n\r\nok').length === i + 1);
    }
    expect(connections).toBe(1);
  });

  it('are answered in order, however long each takes', async () => {
    const port = await webServer((request, response) => {
      setTimeout(() => response.end(`<${request.url}>`), request.url === '/1' ? 120 : 5);
    });
    const gate = await runningGate(port);
    const client = new RawClient(gate.port).send(
      ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''),
    );
    const received = await client.until((text) => text.includes('</3>'));
    expect(received.match(/<\/\d>/g)).toEqual(['</1>', '</2>', '</3>']);
  });

  it('end when a later one is broken, and its refusal never takes the place of an earlier answer', async () => {
    const port = await webServer((_request, response) => void setTimeout(() => response.end('first'), 100));
    const gate = await runningGate(port);
    const received = await new RawClient(gate.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\nBROKEN\r\n\r\n').end();
    expect(received).not.toContain('400');
  });

  it('survive that WordPress closed the idle connection', async () => {
    let connections = 0;
    const port = await rawServer((socket) => {
      connections++;
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        setTimeout(() => socket.end(), 20);
      });
    });
    const gate = await runningGate(port);
    for (let i = 0; i < 3; i++) {
      expect(statusOf(await exchange(gate.port, closing('GET / HTTP/1.1')))).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(connections).toBe(3);
  });

  it('go on after an answer that came in many small chunks while the visitor was slow', async () => {
    const chunks = `10000\r\n${'x'.repeat(65536)}\r\n`.repeat(40);
    const { port } = await scriptedServer(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    const gate = await runningGate(port, { limits: { upstreamConnections: 1 } });
    for (let i = 0; i < 3; i++) {
      const client = new RawClient(gate.port);
      client.socket.pause();
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await new Promise((resolve) => setTimeout(resolve, 100));
      client.socket.resume();
      await client.until((text) => text.endsWith('0\r\n\r\n'));
      client.socket.destroy();
    }
  });
});
