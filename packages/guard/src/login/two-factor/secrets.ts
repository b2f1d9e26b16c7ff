import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Whose secret it is. Bound into the encryption, so that a row copied to another user can't be read. */
export interface SecretOwner {
  readonly site: string;
  readonly userId: number;
}

/**
 * Encrypts the shared key of a user for the database.
 * @param key content of the key file, 32 bytes
 * @param iv 12 random bytes, never used twice with the same key
 */
export function sealSecret(key: Uint8Array, owner: SecretOwner, secret: Uint8Array, iv: Uint8Array): string {
  const cipher = createCipheriv(ALGORITHM, secretsKey(key), iv).setAAD(ownerBytes(owner));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  return `1.${Buffer.from(iv).toString('base64url')}.${sealed.toString('base64url')}`;
}

/** The shared key of a user, or null when it was encrypted with another key, for another user, or was changed. */
export function openSecret(key: Uint8Array, owner: SecretOwner, text: string): Buffer | null {
  const [version, ivText = '', sealedText = ''] = text.split('.');
  const iv = Buffer.from(ivText, 'base64url');
  const sealed = Buffer.from(sealedText, 'base64url');
  if (version !== '1' || iv.length !== IV_BYTES || sealed.length <= TAG_BYTES) return null;
  const decipher = createDecipheriv(ALGORITHM, secretsKey(key), iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(ownerBytes(owner)).setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

/** One key per use, so that back-up codes and secrets never share one (RFC 5869). */
function secretsKey(key: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'second factor: secrets', 32));
}

function ownerBytes({ site, userId }: SecretOwner): Buffer {
  return Buffer.from(JSON.stringify([site, userId]));
}
