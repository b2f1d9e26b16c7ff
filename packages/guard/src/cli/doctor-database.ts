import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../config/config.js';
import {
  describeDatabase,
  hasPassword,
  isLocalServer,
  isPostgresUrl,
  parsePostgresUrl,
} from '../config/database-url.js';
import { CONFIG_FILE } from '../config/load-config.js';
import { toShortList } from '../lib/short-list.js';
import { readExistingConfig } from './config-store.js';
import { type Finding, type Judgement, toFinding } from './doctor-findings.js';

/** The conclusions of `doctor` about the database of the settings. */

export interface DatabaseFacts {
  /** `Config.database`. */
  readonly url: string;
  /** Why it can't be used; null when it can, or when guard has not created it yet. */
  readonly fault: string | null;
  /** That the running guard has another one, as a sentence; null when it has not. */
  readonly other: string | null;
  /** Files with its password, or with the key to it, that others may read. */
  readonly readableSecrets: readonly string[];
}

/** Whether guard can use the database, and nobody else can read what is sent to it, or its password. */
export function checkDatabase(facts: DatabaseFacts): readonly Finding[] {
  const findings = judge(facts);
  if (findings.length === 0) findings.push(['ok', describeUsable(facts.url)]);
  return findings.map((each) => toFinding('database', each));
}

function describeUsable(url: string): string {
  return isPostgresUrl(url) ? `The database ${describeDatabase(url)} can be used.` : 'The database can be used.';
}

function judge({ url, fault, other, readableSecrets }: DatabaseFacts): Judgement[] {
  const found: Judgement[] = [];
  if (other !== null)
    found.push(['problem', 'database-other', other, 'Without it all checks of settings are of no use.']);
  const address = isPostgresUrl(url) ? parsePostgresUrl(url) : null;
  if (fault !== null) {
    const advice =
      address === null
        ? 'Run `doctor` as root, or see what the reason says about the file.'
        : 'Check that the server runs, that this machine may connect to it, and `database` in guard.json.';
    found.push(['problem', 'database-unusable', `The database can’t be used (${fault}).`, advice]);
  }
  if (address !== null && !('mistake' in address) && !isLocalServer(address.host)) {
    if (address.sslMode === 'disable') {
      const message = `The connection to ${describeDatabase(url)} is not encrypted: who can read it learns the settings.`;
      found.push(['warning', 'database-not-encrypted', message, 'Use sslmode=verify-full in `database`.']);
    }
    if (address.sslMode === 'require') {
      const message = `The certificate of ${describeDatabase(url)} is not verified, so another server can pose as the database.`;
      const advice = 'Use sslmode=verify-full in `database`, with sslrootcert=FILE for an authority of your own.';
      found.push(['warning', 'database-not-verified', message, advice]);
    }
  }
  if (readableSecrets.length > 0) {
    const list = toShortList(readableSecrets);
    const message = `Others may read the password of the database, or a key to it, in ${list}.`;
    const advice = `Run chmod 600 on ${list}, and then change the password.`;
    found.push(['problem', 'database-password-readable', message, advice]);
  }
  return found;
}

/** Finds the files with secrets of the database that others may read. */
export async function listReadableSecrets({ dataDir, database }: Config): Promise<readonly string[]> {
  if (process.platform === 'win32') return [];
  // A variable may name another database than the file, which nevertheless holds a password.
  const file = await readExistingConfig(dataDir).catch(() => null);
  const address = isPostgresUrl(database) ? parsePostgresUrl(database) : null;
  const named = address === null || 'mistake' in address ? [] : [address.passwordFile, address.key];
  const files = [
    ...(file !== null && hasPassword(file.database) ? [join(dataDir, CONFIG_FILE)] : []),
    ...named.flatMap((path) => (path === null ? [] : [resolve(dataDir, path)])),
  ];
  const modes = await Promise.all(files.map((path) => stat(path).catch(() => null)));
  return files.filter((_, at) => ((modes[at]?.mode ?? 0) & 0o077) !== 0);
}
