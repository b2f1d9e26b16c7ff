import { SCRIPT_ENDINGS } from '../http/request-facts.js';
import type { SitePaths } from '../site.js';
import { FORBIDDEN, type Protection } from './protection.js';

/** A script ending anywhere in a name, also in front of another one: some servers run `x.php.jpg`. */
const SCRIPT = new RegExp(`\\.(?:${SCRIPT_ENDINGS})(?:/|$)|\\.(?:php\\d*|phtml|phar)\\.`);

/** Scripts below wp-includes that WordPress itself serves: the editor's compressed scripts and multisite's old files. */
const SERVED_BY_WORDPRESS = new Set(['js/tinymce/wp-tinymce.php', 'ms-files.php']);

/** A copy of WordPress's configuration under any name; a picture of its text is none. */
const CONFIGURATION = /^wp-config[^/]*[.~]|wp-config\.(?!(?:png|jpe?g|gif|webp|avif|svg)$)/;

/** What rotation, packing and databases put behind a name. */
const AND_MORE = '(?:[.-](?:gz|tgz|zip|bz2|xz|zst|lzma|lz4|br|7z|rar|tar|wal|shm|journal|\\d+))*';

/** Dumps, logs, server settings, left-overs of editors and package managers. */
const SENSITIVE_FILE = new RegExp(
  `^(?:error_log|php_errorlog|php\\.ini|web\\.config|composer\\.(?:json|lock)|auth\\.json)$|(?:~|^#.*#)$|\\.(?:sql|sqlite3?|dump|bak|backup|old|orig|save|sav|swp|swo|swn|tmp|log|inc|conf|ini|pem)${AND_MORE}$|\\.(?:sql|dump)${AND_MORE}\\.txt$`,
);

function isSensitive(name: string): boolean {
  return CONFIGURATION.test(name) || SENSITIVE_FILE.test(name);
}

/**
 * No script runs where only files belong, and files that should never be public are not served. Works on the canonical
 * path, so it holds for every web server behind guard.
 */
export const systemFolders: Protection = {
  name: 'system-folders',
  onError: 'refuse',
  compile({ options, paths }) {
    if (options.lock_system_folders === 0) return null;
    const folders = fileFolders(paths);
    const includes = `${belowHome(paths.includes, paths.home)}/`;
    return {
      check({ path, segments }) {
        if (segments.length === 0) return null;
        if (segments.some(isHidden)) return FORBIDDEN;
        if (isSensitive(segments[segments.length - 1] as string)) return FORBIDDEN;
        // A script of a sensitive name may carry path info: /wp-config.php/x
        if (segments.some((segment) => CONFIGURATION.test(segment))) return FORBIDDEN;
        for (const folder of folders) {
          const at = path.indexOf(folder);
          if (at !== -1 && SCRIPT.test(path.slice(at + folder.length - 1))) return FORBIDDEN;
        }
        const at = path.indexOf(includes);
        if (at === -1) return null;
        const inside = path.slice(at + includes.length);
        return SCRIPT.test(`/${inside}`) && !SERVED_BY_WORDPRESS.has(inside) ? FORBIDDEN : null;
      },
    };
  },
};

/** Dot files and folders (`.git`, `.env`, `.htaccess`, `.ht.sqlite`); `.well-known` is public by RFC 8615. */
function isHidden(segment: string): boolean {
  return segment.charCodeAt(0) === 46 && segment !== '.well-known';
}

/** Folders that only hold files, as `/…/` so that they match below every site of a multisite. */
function fileFolders({ home, content, uploads, admin }: SitePaths): readonly string[] {
  const contents = [
    'cache',
    'upgrade',
    'upgrade-temp-backup',
    'languages',
    'blogs.dir',
    'fonts',
    'backups',
    'database',
  ];
  const folders = [
    uploads,
    ...contents.map((name) => `${content}/${name}`),
    `${admin}/includes`,
    `${admin}/css`,
    `${admin}/images`,
    `${admin}/js`,
  ];
  return [...new Set(folders.map((folder) => `${belowHome(folder, home)}/`))];
}

function belowHome(path: string, home: string): string {
  return home !== '' && path.startsWith(`${home}/`) ? path.slice(home.length) : path;
}
