import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { link, readFile, rm, stat } from 'node:fs/promises';
import { writeFileAtomically } from '../lib/files.js';

/** The key file's content. */
export interface FactorKey {
  /** 32 bytes. */
  readonly bytes: Buffer;
  /** Identifies the key without revealing anything about it. */
  readonly id: string;
}

/** Codes can't be checked: the key file is missing, unusable, or not the one that encrypted the stored secrets. */
export class FactorKeyError extends Error {
  constructor(
    readonly problem: 'missing' | 'wrong' | 'unusable',
    detail: string,
  ) {
    super(detail);
    this.name = 'FactorKeyError';
  }
}

/** The keys of enabled factors, over all sites, with which the key file is compared. */
export interface KeysInUse {
  findKeysInUse(keyId: string | null): Promise<{ readonly any: boolean; readonly other: boolean }>;
}

/**
 * Reads the key file.
 * @returns null when there is no file
 * @throws FactorKeyError when the file can't be used as key
 */
export async function readFactorKey(file: string): Promise<FactorKey | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new FactorKeyError('unusable', `The key file can’t be read (${code}).`);
  }
  if (!/^[0-9a-f]{64}\n?$/.test(text)) throw new FactorKeyError('unusable', 'The key file doesn’t hold a key.');
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    throw new FactorKeyError('unusable', 'Others may read the key file; run chmod 600 on it.');
  }
  const bytes = Buffer.from(text.trim(), 'hex');
  return { bytes, id: createHash('sha256').update('second factor key id\n').update(bytes).digest('hex').slice(0, 16) };
}

/**
 * The key for a user who sets up a factor. It is created when there is none and no factor exists yet. A new key in
 * addition to factors of an old one would lock out its users permanently once the old key is restored.
 *
 * @param file path of the key file; read at every call, so that a restored key is used at once
 * @throws FactorKeyError
 */
export async function getKeyForSetup(file: string, store: KeysInUse, onCreated: () => void): Promise<FactorKey> {
  const key = await readFactorKey(file);
  const { any, other } = await store.findKeysInUse(key?.id ?? null);
  if (key !== null && !other) return key;
  if (key !== null) throw new FactorKeyError('wrong', 'The key file is not the one that is in use.');
  if (any) throw new FactorKeyError('missing', 'The key file is missing.');
  if (await createKeyFile(file)) onCreated();
  const created = await readFactorKey(file);
  if (created === null) throw new FactorKeyError('missing', 'The key file could not be made.');
  return created;
}

/**
 * The key of an enabled factor.
 * @throws FactorKeyError when the key file is missing or has another key
 */
export async function getKeyForCheck(file: string, keyId: string): Promise<FactorKey> {
  const key = await readFactorKey(file);
  if (key === null) throw new FactorKeyError('missing', 'The key file is missing.');
  if (key.id !== keyId) throw new FactorKeyError('wrong', 'The key file is not the one that is in use.');
  return key;
}

/** Creates the key file. The first of two concurrent writers wins: linking, unlike renaming, never replaces a file. */
async function createKeyFile(file: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeFileAtomically(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The owner of a secret. It is authenticated by the encryption, so that a row copied to another user can't be
 * decrypted.
 */
export interface SecretOwner {
  readonly site: string;
  readonly userId: number;
}

/**
 * Encrypts the shared key of a user for the database.
 * @param key content of the key file, 32 bytes
 * @param iv 12 random bytes, never used twice with the same key
 */
export function encryptSecret(key: Uint8Array, owner: SecretOwner, secret: Uint8Array, iv: Uint8Array): string {
  const cipher = createCipheriv(ALGORITHM, secretsKey(key), iv).setAAD(ownerBytes(owner));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  return `1.${Buffer.from(iv).toString('base64url')}.${sealed.toString('base64url')}`;
}

/**
 * Decrypts the shared key of a user. Null when it was encrypted with another key or for another user, or was changed.
 */
export function decryptSecret(key: Uint8Array, owner: SecretOwner, text: string): Buffer | null {
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

/** Derives one key per purpose, so that back-up codes and secrets never share one (RFC 5869). */
function secretsKey(key: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'second factor: secrets', 32));
}

function ownerBytes({ site, userId }: SecretOwner): Buffer {
  return Buffer.from(JSON.stringify([site, userId]));
}
