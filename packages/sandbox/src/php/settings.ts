import { join } from 'node:path';
import { phpDir } from '../wordpress/install.js';

/** PHP settings of the sandbox: room for big uploads, errors to a file instead of into pages. */
export function phpSettings(dataDir: string): Readonly<Record<string, string>> {
  return {
    memory_limit: '512M',
    post_max_size: '1G',
    upload_max_filesize: '1G',
    max_execution_time: '300',
    max_input_time: '-1',
    display_errors: '0',
    log_errors: '1',
    error_log: join(dataDir, 'logs/php.log'),
    upload_tmp_dir: join(dataDir, 'tmp'),
    sys_temp_dir: join(dataDir, 'tmp'),
    'opcache.enable': '1',
    'opcache.enable_cli': '1',
    'opcache.revalidate_freq': '0',
    // Mail never leaves the machine: each message becomes a file that the owner can read.
    sendmail_path: `/bin/sh '${join(phpDir, 'keep-mail.sh')}' '${join(dataDir, 'mail')}'`,
  };
}

/** The settings as arguments for PHP's command line. Quoted, since bare values follow the grammar of php.ini. */
export function phpSettingArgs(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}="${value}"`]);
}

/** Arguments for a script that runs once: keeping what is compiled for a next time would double its work. */
export function phpScriptArgs(dataDir: string): string[] {
  return phpSettingArgs({ ...phpSettings(dataDir), 'opcache.enable_cli': '0', display_errors: 'stderr' });
}
