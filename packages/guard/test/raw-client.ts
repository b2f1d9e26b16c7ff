import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { TIMEOUT_MS } from './support/scratch.js';

/** A client that writes and reads raw bytes. */
export class RawClient {
  received = '';
  closed = false;
  readonly socket: Socket;
  #changed: () => void = () => {};

  /** @param port a port, or the path of a Unix socket */
  constructor(port: number | string, host = '127.0.0.1') {
    this.socket = typeof port === 'string' ? connect({ path: port }) : connect({ port, host });
    this.socket.on('data', (data) => {
      this.received += data.toString('latin1');
      this.#changed();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
      this.#changed();
    });
    onTestFinished(() => void this.socket.destroy());
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /**
   * Pauses for `ms` after the first piece, and keeps no received data.
   * @returns a function that returns the number of received bytes
   */
  readSlowly(ms: number): () => number {
    let receivedBytes = 0;
    this.socket.removeAllListeners('data');
    this.socket.on('data', (data) => {
      if (receivedBytes === 0) {
        this.socket.pause();
        setTimeout(() => this.socket.resume(), ms);
      }
      receivedBytes += data.length;
    });
    return () => receivedBytes;
  }

  /**
   * Pauses after the first piece of data until `resume` is called, and stores no received data. `getReceivedBytes`
   * returns the number of bytes.
   */
  pauseAfterFirst(): { readonly getReceivedBytes: () => number; readonly resume: () => void } {
    let receivedBytes = 0;
    this.socket.removeAllListeners('data');
    this.socket.on('data', (data) => {
      if (receivedBytes === 0) this.socket.pause();
      receivedBytes += data.length;
    });
    return { getReceivedBytes: () => receivedBytes, resume: () => void this.socket.resume() };
  }

  /** Waits until the received text matches, and returns it. Fails when the connection ends before, or after `ms`. */
  async until(test: (received: string) => boolean, ms = TIMEOUT_MS): Promise<string> {
    const end = Date.now() + ms;
    while (!test(this.received)) {
      if (this.closed) throw new Error(`closed after: ${this.received.slice(0, 400)}`);
      await this.#change(end);
    }
    return this.received;
  }

  /** Waits for the end of the connection and returns all that was received. */
  async end(ms = TIMEOUT_MS): Promise<string> {
    const end = Date.now() + ms;
    while (!this.closed) await this.#change(end);
    return this.received;
  }

  async #change(end: number): Promise<void> {
    const left = end - Date.now();
    if (left <= 0) throw new Error(`still waiting after: ${this.received.slice(0, 400)}`);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left);
      this.#changed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Sends raw bytes and returns everything that is received. Ends its side of the connection after a quarter of a second
 * of silence, or two seconds when nothing arrives at all. Silence is counted in turns of the event loop: guard runs in
 * the same process, and a pause of the whole machine must not end a request that guard has not read.
 */
export async function exchange(port: number | string, bytes: string): Promise<string> {
  const client = new RawClient(port).send(bytes);
  let length = 0;
  let idleRounds = 0;
  const round = setInterval(() => {
    idleRounds = client.received.length === length ? idleRounds + 1 : 0;
    length = client.received.length;
    if (idleRounds === (length === 0 ? 200 : 25)) client.socket.end();
  }, 10);
  return client.end().finally(() => clearInterval(round));
}

/** An HTTP/1.1 request that ends the connection after its response. */
export function closing(head: string, body = ''): string {
  return `${head}\r\nHost: example.com\r\nConnection: close\r\n\r\n${body}`;
}

export function toStatus(received: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
}

export function toBody(received: string): string {
  return received.slice(received.indexOf('\r\n\r\n') + 4);
}

/** Number of responses in the received text. */
export function countResponses(received: string): number {
  return received.split(/HTTP\/1\.1 \d{3} /).length - 1;
}
