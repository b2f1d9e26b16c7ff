import type { Server, Socket } from 'node:net';
import type { Peer, TrustedProxies } from './peer.js';
import { parseProxyHeader } from './proxy-header.js';

/** Why a connection without a valid PROXY header was closed. */
export type ProxyHeaderFault = 'untrusted' | 'malformed' | 'timeout';

export interface ProxyProtocolOptions {
  readonly trusted: TrustedProxies;
  /** How long a proxy may take to send the header, milliseconds. */
  readonly timeoutMs: number;
  /** The peer of the connection itself, or null when it must not be served. */
  readPeer(socket: Socket): Peer | null;
  /** Called when the header was read and the connection has been passed to the server. */
  onAccepted(socket: Socket, peer: Peer): void;
  onRefused(fault: ProxyHeaderFault, peer: Peer): void;
}

/**
 * Reads the PROXY header of each connection before the server receives it. Only trusted proxies may send one; all other
 * connections are closed without a response.
 */
export class ProxyProtocol {
  /** Connections whose header is not complete. */
  readonly #waiting = new Set<Socket>();

  constructor(private readonly options: ProxyProtocolOptions) {}

  /** Takes over the connections of a server. The server's own listeners must already be registered. */
  attach(server: Server): void {
    const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#read(socket, (peer) => {
        for (const listener of listeners) listener.call(server, socket);
        this.options.onAccepted(socket, peer);
      });
    });
  }

  /** Ends the connections whose header is not complete. */
  destroy(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  #read(socket: Socket, accept: (peer: Peer) => void): void {
    const { trusted, timeoutMs, readPeer, onRefused } = this.options;
    const proxy = readPeer(socket);
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    if (proxy === null) {
      socket.destroy();
      return;
    }
    if (!proxy.isTrusted) {
      onRefused('untrusted', proxy);
      socket.destroy();
      return;
    }
    let received: Buffer | null = null;
    const stop = (): void => {
      clearTimeout(timeout);
      this.#waiting.delete(socket);
      socket.off('data', onData);
      socket.off('end', onError);
      socket.off('close', stop);
    };
    const refuse = (fault: ProxyHeaderFault): void => {
      stop();
      onRefused(fault, proxy);
      socket.destroy();
    };
    const timeout = setTimeout(refuse, timeoutMs, 'timeout');
    const onData = (chunk: Buffer): void => {
      received = received === null ? chunk : Buffer.concat([received, chunk]);
      const header = parseProxyHeader(received);
      if (header === 'incomplete') return;
      if (header === 'malformed') {
        refuse('malformed');
        return;
      }
      stop();
      socket.off('error', onError);
      // The data after the header stay in the stream's buffer until the server listens.
      socket.pause();
      if (received.length > header.length) socket.unshift(received.subarray(header.length));
      const { source, isEncrypted, length } = header;
      const peer = source === null ? proxy : trusted.toPeer(source);
      accept({
        ...peer,
        scheme: isEncrypted ? 'https' : 'http',
        headerBytes: length,
        headerFrom: proxy.address,
      });
      socket.resume();
    };
    this.#waiting.add(socket);
    socket.on('data', onData);
    socket.on('end', onError);
    socket.on('close', stop);
  }
}
