import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { plainText } from '../lib/plain-text.js';
import type { AlertSettings } from './alert-settings.js';
import { type Resolve, resolveTarget, type TargetPolicy, TargetRefused } from './safe-target.js';
import { type AlertMessage, type DeliveryOutcome, toReason } from './webhook.js';

export type SyslogTarget = NonNullable<AlertSettings['syslog']>;

/** Facility "security/authorization messages" (10), RFC 5424 section 6.2.1. */
const FACILITY = 10;
const SEVERITIES = { critical: 2, warning: 4, info: 6 } as const;
/** The enterprise number for examples (RFC 5612). The name of custom structured data must contain one. */
const DATA_ID = 'alert@32473';
/** A receiver must accept 480 bytes and should accept 2048 (RFC 5424 section 6.1). */
const MAX_BYTES = 2048;
const TIMEOUT_MS = 10_000;
const NIL = '-';

/**
 * Formats an alert as a message of RFC 5424, on one line. Text of visitors can neither begin another message nor end
 * its parameter.
 */
export function toSyslogMessage(
  { uid, kind, at, site, text }: AlertMessage,
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
  const data = `[${DATA_ID} site="${toValue(site.id)}" url="${toValue(site.url)}" id="${toValue(uid)}"]`;
  // The byte order mark says that the text is UTF-8.
  const facts = text.facts.map(({ name, value }) => `${name}: ${value}`).join('; ');
  const message = plainText(`${text.headline}. ${text.lead} ${facts}`, MAX_BYTES);
  return cutBytes(`${header} ${data} \ufeff${message}`, MAX_BYTES);
}

/** Returns a header field: visible ASCII without spaces. */
function toName(text: string, maxLength: number): string {
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, maxLength) || NIL;
}

/** Returns the value of a parameter: `"`, `\` and `]` are escaped (RFC 5424 section 6.3.3). */
function toValue(text: string): string {
  return plainText(text, 200).replace(/["\\\]]/g, (character) => `\\${character}`);
}

function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // Does not split a character.
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/** Frames a message for TCP: RFC 6587 section 3.4.1 (octet counting) or 3.4.2 (a line feed at the end). */
export function frameMessage(message: string, framing: SyslogTarget['framing']): string {
  return framing === 'octets' ? `${Buffer.byteLength(message)} ${message}` : `${message}\n`;
}

/** Sends an alert to a system log. Never throws. By UDP, a message counts as sent once the system has accepted it. */
export async function sendToSyslog(
  target: SyslogTarget,
  message: AlertMessage,
  { policy, resolve }: { readonly policy: TargetPolicy; readonly resolve: Resolve },
): Promise<DeliveryOutcome> {
  const { host, port, protocol, framing } = target;
  const text = toSyslogMessage(message, { host: hostname(), pid: process.pid });
  try {
    const [address] = await resolveTarget(host, policy, resolve);
    if (address === undefined) throw new Error('No address.');
    if (protocol === 'udp') await sendDatagram({ address: address.text, family: address.family, port }, text);
    else await sendByTcp({ address: address.text, port }, frameMessage(text, framing));
    return { ok: true, answer: protocol === 'udp' ? 'Sent. UDP has no answer.' : 'The log took it.' };
  } catch (error) {
    return { ok: false, answer: error instanceof TargetRefused ? error.text : toReason(error) };
  }
}

function sendDatagram(
  { address, family, port }: { readonly address: string; readonly family: 4 | 6; readonly port: number },
  text: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(family === 4 ? 'udp4' : 'udp6');
    const end = (error: Error | null | undefined) => {
      socket.close();
      if (error) reject(error);
      else resolve();
    };
    socket.once('error', end);
    socket.send(text, port, address, (error) => end(error));
  });
}

function sendByTcp(
  { address, port }: { readonly address: string; readonly port: number },
  text: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(Object.assign(new Error('Timed out.'), { code: 'ETIMEDOUT' })));
    socket.once('error', reject);
    // The callback runs once all data and the end of the stream were passed to the system.
    socket.once('connect', () => socket.end(text, () => resolve()));
    socket.once('close', () => resolve());
    // A syslog server sends nothing; data from it is discarded.
    socket.resume();
  });
}
