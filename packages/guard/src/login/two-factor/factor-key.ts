import { createHash, randomBytes } from 'node:crypto';
import { link, readFile, rm, stat } from 'node:fs/promises';
import { writeFileAtomically } from '../../lib/write-file-atomically.js';

/** The key file's content. */
export interface FactorKey {
  /** 32 bytes. */
  readonly bytes: Buffer;
  /** Says which key it is without saying anything about it. */
  readonly id: string;
}

/** Codes can't be checked: the key file is not the one that the stored secrets were encrypted with. */
export class FactorKeyProblem extends Error {
  constructor(
    readonly problem: 'missing' | 'wrong' | 'unusable',
    detail: string,
  ) {
    super(detail);
    this.name = 'FactorKeyProblem';
  }
}

/** What the key file is asked against: the keys of factors that are on, over all sites. */
export interface KeysInUse {
  keysInUse(keyId: string | null): Promise<{ readonly any: boolean; readonly other: boolean }>;
}

/** @throws FactorKeyProblem when there is a file that can't serve as key; null when there is none */
export async function readFactorKey(file: string): Promise<FactorKey | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new FactorKeyProblem('unusable', `The key file can’t be read (${code}).`);
  }
  if (!/^[0-9a-f]{64}\n?$/.test(text)) throw new FactorKeyProblem('unusable', 'The key file doesn’t hold a key.');
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    throw new FactorKeyProblem('unusable', 'Others may read the key file; run chmod 600 on it.');
  }
  const bytes = Buffer.from(text.trim(), 'hex');
  return { bytes, id: createHash('sha256').update('second factor key id\n').update(bytes).digest('hex').slice(0, 16) };
}

/**
 * The key for a user who sets up a factor. Made when there is none and nobody has a factor yet; a new key beside
 * factors of an old one would shut their users out for good once the old one is put back.
 *
 * @param file path of the key file; read at every call, so that a key put back counts at once
 * @throws FactorKeyProblem
 */
export async function keyForSetup(file: string, store: KeysInUse, onMade: () => void): Promise<FactorKey> {
  const key = await readFactorKey(file);
  const { any, other } = await store.keysInUse(key?.id ?? null);
  if (key !== null && !other) return key;
  if (key !== null) throw new FactorKeyProblem('wrong', 'The key file is not the one that is in use.');
  if (any) throw new FactorKeyProblem('missing', 'The key file is missing.');
  if (await makeKeyFile(file)) onMade();
  const made = await readFactorKey(file);
  if (made === null) throw new FactorKeyProblem('missing', 'The key file could not be made.');
  return made;
}

/** The key of a factor that is on. @throws FactorKeyProblem when the key file is missing or another one */
export async function keyForCheck(file: string, keyId: string): Promise<FactorKey> {
  const key = await readFactorKey(file);
  if (key === null) throw new FactorKeyProblem('missing', 'The key file is missing.');
  if (key.id !== keyId) throw new FactorKeyProblem('wrong', 'The key file is not the one that is in use.');
  return key;
}

/** Of two makers at once the first wins: linking, unlike renaming, never replaces a file. */
async function makeKeyFile(file: string): Promise<boolean> {
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
