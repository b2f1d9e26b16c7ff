import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { messages } from '@security-optimizer/contract/messages';
import { ApiError } from '../../lib/api-error.js';
import { english } from '../../texts/language.js';

/** RFC 5321 section 4.5.3.1. */
const LOCAL_MAX = 64;
const ADDRESS_MAX = 254;
/** The part before the at sign: a dot-atom of RFC 5322, the form that every mail server takes. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Labels of host names, the last one no number. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * An e-mail address as it is stored: lower-case, a domain with other letters in its ASCII form (RFC 5891).
 * @returns null when no mail can be sent to it
 */
export function normalEmail(text: string): string | null {
  const trimmed = text.trim().toLowerCase();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, Math.max(at, 0));
  const domain = domainToASCII(trimmed.slice(at + 1));
  const email = `${local}@${domain}`;
  const fits = local.length <= LOCAL_MAX && email.length <= ADDRESS_MAX;
  return fits && LOCAL.test(local) && DOMAIN.test(domain) ? email : null;
}

/**
 * A new list of recipients, all or nothing. Who is named twice is on it once.
 * @throws ApiError invalid_input with a text for each bad row, under its position from 0
 */
export function readRecipients(entries: readonly string[], most: number): string[] {
  const fields: Record<string, string> = {};
  const list: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const email = normalEmail(entry);
    if (entry.trim() === '') fields[index] = messages.required;
    else if (email === null) fields[index] = messages.invalidEmail;
    else if (!list.includes(email)) list.push(email);
  }
  if (list.length > most && Object.keys(fields).length === 0) {
    fields.entries = english.counted(
      'Enter at most {count} e-mail address.',
      'Enter at most {count} e-mail addresses.',
      most,
    );
  }
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  return list;
}

/** The id of a recipient: made of the address, so that it is the same in every list. A whole number below 2^48. */
export function recipientId(email: string): number {
  return createHash('sha256').update(email).digest().readUIntBE(0, 6);
}
