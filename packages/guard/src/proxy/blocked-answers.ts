import type { Socket } from 'node:net';
import type { Address } from '../lib/address.js';
import type { Policy } from '../policy/compile-policy.js';
import type { RawHeaders } from '../protections/protection.js';
import { type Refused, refusal } from './refuse.js';
import { requestFacts } from './request-facts.js';
import { reference } from './request-id.js';

/** Who is refused, and by which snapshot. */
export interface Blocked {
  readonly policy: Policy;
  readonly address: Address;
  /** As the visitor named it, or ''. */
  readonly host: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  onFault(rule: string, cause: unknown): void;
}

/** Answers of one second and one snapshot. */
interface Made {
  readonly policy: Policy;
  readonly second: number;
  plain: Buffer | null;
  /** By address and host. */
  readonly pages: Map<string, BlockedPage>;
}

/** Head and page for a browser, with a gap for the reference: only that differs between two requests of a visitor. */
export class BlockedPage {
  #bytes: Buffer;
  readonly #gap: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#gap = bytes.indexOf(PLACE);
  }

  /**
   * Writes it to a visitor.
   * @returns false when nothing more should be written for now
   */
  send(socket: Socket, requestId: string): boolean {
    this.#bytes.write(reference(requestId), this.#gap, 'latin1');
    const taken = socket.write(this.#bytes);
    // The system has not taken all of it: what is still to be sent must not change with the next request.
    if (socket.writableLength > 0) this.#bytes = Buffer.from(this.#bytes);
    return taken;
  }
}

let made: Made | null = null;
/** Pages kept at a time: an attacker who changes the host name with each request must not fill the memory. */
const MOST_PAGES = 64;

function madeNow({ policy, now }: Blocked): Made {
  const second = Math.floor(now / 1000);
  if (made?.policy !== policy || made.second !== second) made = { policy, second, plain: null, pages: new Map() };
  return made;
}

/** The plain answer is the same for everyone within one second; most attackers get no other. */
export function plainBlocked(blocked: Blocked): Buffer {
  const answers = madeNow(blocked);
  if (answers.plain === null) {
    const refused = refusal(refusedPage(blocked, NO_ID), undefined);
    editBlocked(blocked, refused.headers);
    const head = Buffer.from(blockedHead(refused.headers, blocked.now, false), 'latin1');
    answers.plain = Buffer.concat([head, refused.body]);
  }
  return answers.plain;
}

/** For answers that are not one visitor's own. */
const NO_ID = '0'.repeat(16);

/** Stands where the reference will be: as long, and of a character that no host name or address has. */
const PLACE = '#'.repeat(reference(NO_ID).length);

/** What a visitor's browsers get within one second of one snapshot; made once. */
export function blockedPage(blocked: Blocked): BlockedPage {
  const { pages } = madeNow(blocked);
  const key = `${blocked.address.text} ${blocked.host}`;
  let page = pages.get(key);
  if (page === undefined) {
    const { headers, body } = refusal(refusedPage(blocked, NO_ID), 'text/html', PLACE);
    editBlocked(blocked, headers);
    page = new BlockedPage(Buffer.concat([Buffer.from(blockedHead(headers, blocked.now, false), 'latin1'), body]));
    if (pages.size < MOST_PAGES) pages.set(key, page);
  }
  return page;
}

export function refusedPage({ policy, host, address, now }: Blocked, requestId: string): Refused {
  return { page: 'blocked', language: policy.language, host, address: address.text, requestId, time: now };
}

/** Applies the rules' header edits, for a request that is not read any further. */
export function editBlocked({ policy, address, onFault }: Blocked, headers: RawHeaders): void {
  const facts = requestFacts({ method: 'GET', address, path: ROOT, query: '', paths: policy.paths });
  policy.editHeaders(facts, headers, onFault);
}

const ROOT = { path: '/', segments: [] } as const;

/** Status line and headers, ending with the empty line. */
export function blockedHead(headers: readonly string[], now: number, close: boolean): string {
  let head = 'HTTP/1.1 403 Forbidden\r\n';
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${head}Date: ${new Date(now).toUTCString()}\r\nConnection: ${close ? 'close' : 'keep-alive'}\r\n\r\n`;
}
