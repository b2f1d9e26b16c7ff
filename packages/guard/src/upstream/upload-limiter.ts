import { networkKey } from '../lib/address.js';
import { Limiter } from '../lib/limiter.js';
import { Shares } from '../lib/shares.js';

/** A request whose body is too long or too slow to be buffered before it acquires a connection. */
export interface UploadWaiter {
  /** Key of the client's address. */
  readonly from: string;
  /** The request may acquire a connection to WordPress. */
  granted(): void;
  /** Too many requests are queued already, or this one has stalled and others are queued. */
  refused(): void;
  /** Bytes of the body that have arrived; null while the body is not being read, so that no more can arrive. */
  received(): number | null;
}

/** Interval between two checks for stalled bodies while others wait, milliseconds. */
const STALL_CHECK_MS = 1000;
/** A body that receives fewer bytes between two checks has stalled. */
const STALLED_BYTES = 1024;

/**
 * Permits to hold a connection to WordPress while a body arrives. Clients may send slowly, so uploads get at most half
 * of the connections, and those of one address an eighth; the other connections stay free for other requests. Some
 * permits are reserved for addresses that hold none. When such an address is queued nevertheless, a stalled body is
 * cut: the newest one of the address that holds most permits in the network that holds most.
 */
export class UploadLimiter {
  readonly #perAddress: number;
  /**
   * The bytes that had arrived at the last check; null before the first. In the order in which permits were granted.
   */
  readonly #granted = new Map<UploadWaiter, number | null>();
  readonly #limiter: Limiter<UploadWaiter>;
  #checks: NodeJS.Timeout | undefined;

  /** @param connections maximum of connections to one web server */
  constructor(connections: number) {
    const permits = Math.max(1, Math.floor(connections / 2));
    this.#perAddress = Math.max(1, Math.floor(connections / 8));
    this.#limiter = new Limiter({
      permits,
      reserve: Math.floor(permits / 8),
      waiting: permits * 8,
      toGroup: networkKey,
      grant: (upload) => this.#grant(upload),
      refuse: (upload) => upload.refused(),
    });
  }

  acquire(upload: UploadWaiter): void {
    if (this.#limiter.tryAcquire(upload.from, this.#perAddress)) this.#grant(upload);
    else if (!this.#limiter.enqueue(upload.from, upload)) upload.refused();
    else this.#checks ??= setInterval(() => this.#checkOnceRead(), STALL_CHECK_MS).unref();
  }

  /**
   * Called when the body has arrived or the request has ended. Does nothing for a request without a permit that is not
   * queued.
   */
  release(upload: UploadWaiter): void {
    if (this.#granted.delete(upload)) {
      this.#limiter.release(upload.from);
      this.#limiter.serveAll(this.#perAddress);
    } else this.#limiter.cancel(upload.from, upload);
  }

  #grant(upload: UploadWaiter): void {
    this.#granted.set(upload, null);
    upload.granted();
  }

  /** Checks after the event loop has read what has arrived: it runs timers first, on a busy machine late ones. */
  #checkOnceRead(): void {
    setImmediate(() => this.#check());
  }

  #check(): void {
    if (this.#limiter.waiting === 0) {
      clearInterval(this.#checks);
      this.#checks = undefined;
      for (const upload of this.#granted.keys()) this.#granted.set(upload, null);
      return;
    }
    const stalled: UploadWaiter[] = [];
    for (const [upload, before] of this.#granted) {
      const now = upload.received();
      if (before !== null && now !== null && now - before < STALLED_BYTES) stalled.push(upload);
      this.#granted.set(upload, now);
    }
    for (let wanted = this.#limiter.withoutPermit; wanted > 0; wanted--) {
      const upload = takeNewestOfLargest(stalled);
      if (upload === null) return;
      this.release(upload);
      upload.refused();
    }
  }
}

/** Removes one upload from a list: the newest one of the address that has most of them in the network that has most. */
function takeNewestOfLargest(uploads: UploadWaiter[]): UploadWaiter | null {
  const shares = new Shares(networkKey);
  for (const { from } of uploads) shares.add(from);
  const largest = shares.largest('') ?? uploads.at(-1)?.from;
  const at = uploads.findLastIndex(({ from }) => from === largest);
  return uploads.splice(at, 1)[0] ?? null;
}
