import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scratchFolder } from './scratch.js';

/** A certificate with its key, PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Whether this machine can create certificates. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/**
 * A new certificate authority, as a provider runs one of its own. Needs openssl.
 * @returns `issue` creates a certificate for names (`DNS:log.example.com`, `IP:127.0.0.1`)
 */
export async function certificateAuthority() {
  const folder = await scratchFolder();
  const at = (name: string) => join(folder, name);
  openssl([
    'req',
    '-x509',
    ...NEW_KEY,
    '-subj',
    '/CN=Test CA',
    '-days',
    '2',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca'),
  ]);
  return {
    cert: await readFile(at('ca'), 'utf8'),
    /** @param days validity; -1 for an expired one */
    async issue(names: readonly string[], days = 2): Promise<Certificate> {
      await writeFile(at('names'), `subjectAltName=${names.join(',')}\n`);
      openssl(['req', ...NEW_KEY, '-subj', '/CN=Test', '-keyout', at('key'), '-out', at('request')]);
      const signer = ['-CA', at('ca'), '-CAkey', at('ca.key'), '-CAcreateserial'];
      const made = ['x509', '-req', '-in', at('request'), ...signer, '-days', String(days)];
      openssl([...made, '-extfile', at('names'), '-out', at('cert')]);
      return { cert: await readFile(at('cert'), 'utf8'), key: await readFile(at('key'), 'utf8') };
    },
  };
}

/** A certificate for names that no authority has signed. Needs openssl. */
export async function selfSignedCertificate(names: readonly string[]): Promise<Certificate> {
  const folder = await scratchFolder();
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const made = ['req', '-x509', ...NEW_KEY, '-subj', '/CN=Test', '-days', '2', '-keyout', key, '-out', cert];
  openssl([...made, '-addext', `subjectAltName=${names.join(',')}`]);
  return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
}

function openssl(options: readonly string[]): void {
  const { status, stderr, error } = spawnSync('openssl', options, { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(stderr);
}
