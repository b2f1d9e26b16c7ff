/** What the operator is told about a PostgreSQL database: its back-ups, and what remains of removed rows. */
import { isAbsolute } from 'node:path';
import { describeDatabase, type PostgresAddress, parsePostgresUrl } from '../config/database-url.js';
import { lineText } from '../lib/plain-text.js';

/** A text for people about what PostgreSQL keeps of removed rows. @param url valid */
export function describeRemains(url: string): string {
  return `${lineText(describeDatabase(url))} may keep copies of removed rows: in the write-ahead log and the back-ups of the PostgreSQL server, and in the free space of its files until it stores other rows there.\n`;
}

/** A word of a shell's command line. */
export function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text for people after a back-up: its settings are missing, and how they are backed up. @param url valid */
export function describeDump(url: string): string {
  return `The settings are in ${lineText(describeDatabase(url))}, and not in this back-up. Back the database up, too, as its provider does it, or with:\n  ${toCommand('pg_dump', ['--format=custom', '--file=guard.dump'], url)}\n`;
}

/** A text for people after a restore: how the settings are restored. @param url valid */
export function describeRestore(url: string): string {
  const options = ['--clean', '--if-exists', '--no-owner', '--single-transaction'];
  return `The settings are in ${lineText(describeDatabase(url))}, and were not restored. Restore the database, too, from its own back-up of the same time; one of pg_dump with:\n  ${toCommand('pg_restore', options, url, ['guard.dump'])}\n`;
}

/** A command line without the password, for which the program asks. */
function toCommand(program: string, options: readonly string[], url: string, files: readonly string[] = []): string {
  const address = parsePostgresUrl(url) as PostgresAddress;
  const { host, port, user, database, sslMode } = address;
  const words = [
    program,
    ...options,
    `--host=${quote(host)}`,
    ...(isAbsolute(host) && port === 5432 ? [] : [`--port=${port}`]),
    ...(user === null ? [] : [`--username=${quote(user)}`]),
    `--dbname=${quote(database)}`,
    ...files,
  ];
  return lineText([...(sslMode === 'disable' ? [] : ['PGSSLMODE=require']), ...words].join(' '));
}
