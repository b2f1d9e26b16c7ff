import { createSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Address } from '../lib/address.js';
import { plainText } from '../lib/plain-text.js';
import type { AlertSettings } from './alert-settings.js';
import { resolveTarget } from './safe-target.js';
import {
  type Connection,
  connectTo,
  type DeliveryOutcome,
  runDelivery,
  type SendDeps,
  type Sending,
  TimedOut,
  toReset,
} from './sending.js';
import type { AlertMessage } from './webhook.js';

export type SyslogTarget = NonNullable<AlertSettings['syslog']>;

/** Facility "security/authorization messages" (10), RFC 5424 section 6.2.1. */
const FACILITY = 10;
const SEVERITIES = { critical: 2, warning: 4, info: 6 } as const;
/** The enterprise number for examples (RFC 5612). The name of custom structured data must contain one. */
const DATA_ID = 'alert@32473';
/** A receiver must accept 480 bytes and should accept 2048 (RFC 5424 section 6.1). */
const MAX_BYTES = 2048;
/** Maximum length of a parameter, characters. URLs are the longest. */
const VALUE_MAX = 500;
const NIL = '-';

/**
 * Formats an alert as a message of RFC 5424, on one line. Text of visitors can neither begin another message nor end
 * its parameter.
 */
export function toSyslogMessage(
  { uid, kind, at, site, text, count }: AlertMessage,
  from: { readonly host: string; readonly pid: number },
): string {
  const priority = FACILITY * 8 + SEVERITIES[text.severity];
  const header = [
    `<${priority}>1`,
    new Date(at).toISOString(),
    toName(from.host, 255),
    'security-optimizer',
    String(from.pid),
    toName(kind, 32),
  ].join(' ');
  const parameters = {
    ...{ site: site.id, url: site.url, id: uid },
    ...(count === undefined ? {} : { count: String(count) }),
    ...(text.log === null ? {} : { log: text.log }),
  };
  const named = Object.entries(parameters).map(([name, value]) => `${name}="${toValue(value)}"`);
  const data = `[${[DATA_ID, ...named].join(' ')}]`;
  // The byte order mark says that the text is UTF-8.
  const facts = text.facts.map(({ name, value }) => `${name}: ${value}`).join('; ');
  const message = plainText(`${text.headline}. ${text.lead} ${facts}. ${text.task.text}`, MAX_BYTES);
  return cutBytes(`${header} ${data} \ufeff${message}`, MAX_BYTES);
}

/** Returns a header field: visible ASCII without spaces. */
function toName(text: string, maxLength: number): string {
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, maxLength) || NIL;
}

/** Returns the value of a parameter: `"`, `\` and `]` are escaped (RFC 5424 section 6.3.3). */
function toValue(text: string): string {
  return plainText(text, VALUE_MAX).replace(/["\\\]]/g, (character) => `\\${character}`);
}

function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // Does not split a character.
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/**
 * Frames a message for a stream: RFC 6587 section 3.4.1 (octet counting) or 3.4.2 (a line feed at the end). TLS has octet
 * counting only (RFC 5425 section 4.3).
 */
export function frameMessage(message: string, { protocol, framing }: Omit<SyslogTarget, 'host' | 'port'>): string {
  return protocol === 'tls' || framing === 'octets' ? `${Buffer.byteLength(message)} ${message}` : `${message}\n`;
}

/**
 * Sends an alert to a system log. By UDP, a message counts as sent once the system has accepted it. By TCP and TLS, it
 * counts as sent once the log server has closed the connection, or keeps it open without an error.
 * @throws only the error of `onSend`
 */
export function sendToSyslog(target: SyslogTarget, message: AlertMessage, deps: SendDeps): Promise<DeliveryOutcome> {
  const { host, port, protocol } = target;
  const text = toSyslogMessage(message, { host: hostname(), pid: process.pid });
  return runDelivery(deps, async (sending) => {
    const { policy, resolve, onSend, limits } = sending;
    const addresses = await resolveTarget(host, policy, resolve);
    if (protocol === 'udp') {
      await onSend();
      await sendDatagram(addresses[0] as Address, port, text);
      return { ok: true, answer: 'Sent. UDP has no answer.' };
    }
    const begin = performance.now();
    const tls = protocol === 'tls' ? { authorities: policy.authorities } : null;
    const connection = await connectTo({ host, port, addresses, tls }, limits.connectMs);
    const connectedMs = performance.now() - begin;
    try {
      await sendByStream(connection, frameMessage(text, target), sending, connectedMs);
      return { ok: true, answer: 'The log took it.' };
    } finally {
      connection.socket.destroy();
    }
  });
}

function sendDatagram({ text: address, family }: Address, port: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(family === 4 ? 'udp4' : 'udp6');
    let open = true;
    const end = (error: Error | null | undefined) => {
      if (open) socket.close();
      open = false;
      if (error) reject(error);
      else resolve();
    };
    socket.on('error', end);
    socket.send(text, port, address, (error) => end(error));
  });
}

/**
 * Sends a message and waits until the log server has it. Syslog has no answer, so the end of the connection is the only
 * sign, and it must belong to the message: a server that closes at once, before it reads, resets the connection when the
 * message arrives. A program that no longer reads from the socket learns that only by writing, and after its own end it
 * can't write. So guard ends the connection after the time that a reset takes, and writes nothing to it before: an empty
 * write sends no byte, but fails after a reset.
 * @param connectedMs how long connecting took, a round trip or more
 */
async function sendByStream(
  { socket, tcp }: Connection,
  text: string,
  { onSend, limits }: Pick<Sending, 'onSend' | 'limits'>,
  connectedMs: number,
): Promise<void> {
  const broken = new Promise<never>((_, reject) => {
    socket.once('error', reject);
    socket.once('close', () => reject(toReset()));
  });
  broken.catch(() => {});
  const ended = new Promise<void>((done) => void socket.once('end', done));
  // A log server sends nothing; data from it is discarded.
  socket.resume();
  await onSend();

  const resetMs = limits.resetMs + connectedMs;
  const accepted = await isDoneIn(limits.connectMs, Promise.race([broken, write(socket, text)]));
  if (!accepted) throw new TimedOut('connect');
  const hasEnded = await isDoneIn(resetMs, Promise.race([broken, ended]));
  if (hasEnded) await isDoneIn(resetMs, broken);
  await Promise.race([broken, write(tcp, '')]);
  socket.end();
  if (!hasEnded) await isDoneIn(limits.closeMs, Promise.race([broken, ended]));
}

function write(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Whether work is done within this time. Rejects with its error. */
async function isDoneIn(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((done) => {
    timer = setTimeout(() => done(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
