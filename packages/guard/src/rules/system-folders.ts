import { SCRIPT_ENDINGS } from '../http/path-segments.js';
import type { RequestFacts } from '../http/request-facts.js';
import { listFolderAddresses, type SitePaths } from '../site.js';
import { FORBIDDEN, FORBIDDEN_FILE, type Rule } from './rule.js';
import { compileTextPaths } from './text-paths.js';

/** A script ending anywhere in a name, also in front of another ending: some servers run `x.php.jpg`. */
const SCRIPT = new RegExp(`\\.(?:${SCRIPT_ENDINGS})(?:/|$)|\\.(?:php\\d*|phtml|phar)\\.`);

/**
 * Scripts below wp-includes that WordPress itself serves: the editor's compressed scripts and multisite's old files.
 */
const SERVED_BY_WORDPRESS = new Set(['js/tinymce/wp-tinymce.php', 'ms-files.php']);

/** A copy of WordPress's configuration under any name. */
const CONFIGURATION = /^wp-config[^/]*[.~]|wp-config\./;
/** An image. A script ending in front of the image's ending may run, or be a hidden copy of a script. */
const PICTURE = /^(?!.*\.(?:php|phtml|phar)).*\.(?:png|jpe?g|gif|webp|avif|svg)$/;

/** Endings that rotation, compression and databases append to a name. */
const AND_MORE = '(?:[.-](?:gz|tgz|zip|bz2|xz|zst|lzma|lz4|br|7z|rar|tar|wal|shm|journal|\\d+))*';

/** Dumps, logs, server settings, leftovers of editors and package managers. */
const SENSITIVE_FILE = new RegExp(
  `^(?:error_log|php_errorlog|php\\.ini|web\\.config|composer\\.(?:json|lock)|auth\\.json)$|(?:~|^#.*#)$|\\.(?:sql|sqlite3?|dump|bak|backup|old|orig|save|sav|swp|swo|swn|tmp|log|inc|conf|ini|pem)${AND_MORE}$|\\.(?:sql|dump)${AND_MORE}\\.txt$`,
);

function isSensitive(name: string): boolean {
  return isConfiguration(name) || SENSITIVE_FILE.test(name);
}

function isConfiguration(name: string): boolean {
  return CONFIGURATION.test(name) && !PICTURE.test(name);
}

/**
 * No script runs in folders for files, and files that should never be public are not served. The rule uses the
 * canonical path, so it is valid for every web server behind guard. A search, an argument of the REST API or a page may
 * have the name of such a file: where it can't be a script, WordPress's response is allowed, and that of the web server
 * alone is not.
 */
export const systemFolders: Rule = {
  name: 'system-folders',
  onError: 'refuse',
  compile({ options, paths, multisite = false }) {
    if (options.lock_system_folders === 0) return null;
    const folders = fileFolders(paths);
    const includes = listFolderAddresses(paths, 'includes').flatMap((path) => toServedFolders(path, paths));
    const isText = compileTextPaths(paths, multisite);
    const isMedia = compileMediaFolders(paths);
    return {
      check(facts) {
        const { path, segments, scriptAt } = facts;
        const last = segments[segments.length - 1];
        if (last === undefined) return null;
        if (isText(facts)) return segments.some(isHidden) || segments.some(isSensitive) ? FORBIDDEN_FILE : null;
        const hiddenAt = segments.findIndex(isHidden);
        // Web servers open no file for an address that ends with a slash.
        const isPage = path.endsWith('/') && scriptAt === -1;
        if (hiddenAt !== -1 && !isMedia(facts, hiddenAt)) return FORBIDDEN;
        if (isSensitive(last)) return isPage || !last.includes('.') ? FORBIDDEN_FILE : FORBIDDEN;
        // A script with a sensitive name may have path info: /wp-config.php/x
        if (segments.some(isConfiguration)) return FORBIDDEN;
        for (const folder of folders) {
          const at = path.indexOf(folder);
          if (at !== -1 && SCRIPT.test(path.slice(at + folder.length - 1))) return FORBIDDEN;
        }
        for (const folder of includes) {
          const at = path.indexOf(folder);
          if (at === -1) continue;
          const inside = path.slice(at + folder.length);
          if (SCRIPT.test(`/${inside}`) && !SERVED_BY_WORDPRESS.has(inside)) return FORBIDDEN;
        }
        return null;
      },
    };
  },
};

/**
 * Dot files and folders (`.git`, `.env`, `.htaccess`, `.ht.sqlite`). `.well-known` is public by RFC 8615, and an
 * ellipsis is a word.
 */
function isHidden(segment: string): boolean {
  return segment.charCodeAt(0) === 46 && segment !== '.well-known' && !/^\.{3,}$/.test(segment);
}

/** Hidden folders of version control, shells and development tools, which may contain media too. */
const TOOL_FOLDERS = /^\.(?:git|svn|hg|bzr|cvs|env|ht|ssh|aws|azure|gnupg|docker|kube|config|npm|composer|idea|vscode)/;

/** Endings of media that browsers show or play, and of fonts. */
const MEDIA = /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|woff2?|ttf|otf|mp[34]|m4[av]|webm|og[gv]|wav|pdf)$/;

/** Compiles the check whether a path is an image in a hidden folder of thumbnails (`uploads/.thumbs/x.jpg`). */
function compileMediaFolders(
  paths: SitePaths,
): (facts: Pick<RequestFacts, 'path' | 'segments'>, hiddenAt: number) => boolean {
  const folders = [...listFolderAddresses(paths, 'content'), ...listFolderAddresses(paths, 'uploads')].map(
    (path) => `${path}/`,
  );
  return ({ path, segments }, hiddenAt) => {
    const name = segments[segments.length - 1] as string;
    if (isHidden(name) || !MEDIA.test(name) || !folders.some((folder) => path.startsWith(folder))) return false;
    return !segments.slice(hiddenAt).some((segment) => TOOL_FOLDERS.test(segment));
  };
}

/**
 * Folders that only contain files, as `/…/` so that they match below every site of a multisite. A folder that contains
 * WordPress, its admin area or its plugins is excluded, whatever its name: a site whose uploads are in `wp-content`
 * itself must keep working.
 */
function fileFolders(paths: SitePaths): readonly string[] {
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
  const contentAddresses = listFolderAddresses(paths, 'content');
  const adminAddresses = listFolderAddresses(paths, 'admin');
  const folders = [
    ...listFolderAddresses(paths, 'uploads'),
    ...(paths.files ?? []),
    ...contentAddresses.flatMap((content) => contents.map((name) => `${content}/${name}`)),
    ...adminAddresses.flatMap((admin) => ['includes', 'css', 'images', 'js'].map((name) => `${admin}/${name}`)),
  ];
  const running = [...adminAddresses, ...contentAddresses.map((content) => `${content}/plugins`)];
  const containsScripts = (folder: string): boolean => running.some((path) => `${path}/`.startsWith(`${folder}/`));
  return [
    ...new Set(
      folders.filter((folder) => !containsScripts(folder)).flatMap((folder) => toServedFolders(folder, paths)),
    ),
  ];
}

/**
 * A folder as `/…/`, so that it matches below every site of a multisite: below home, and without the folder of
 * WordPress itself. Servers of networks insert that folder (`rewrite ^(/[^/]+)?/(wp-.*) /wp/$2`), so they serve files
 * at addresses that WordPress never names.
 */
function toServedFolders(path: string, paths: SitePaths): readonly string[] {
  const below = `${toPathBelowHome(path, paths.home)}/`;
  const cores = listFolderAddresses(paths, 'includes').map((includes) => {
    const address = toPathBelowHome(includes, paths.home);
    return address.slice(0, address.lastIndexOf('/'));
  });
  const core = cores.find((folder) => folder !== '' && below.startsWith(`${folder}/`));
  return core === undefined ? [below] : [below, below.slice(core.length)];
}

function toPathBelowHome(path: string, home: string): string {
  return home !== '' && path.startsWith(`${home}/`) ? path.slice(home.length) : path;
}
